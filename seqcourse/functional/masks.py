"""Boolean masks. Everywhere in this course True means *may attend*."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse.functional.precision import widened


def boolean_mask(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as a tensor beside another one.

    Args:
        mask: boolean; NumPy's arrays and lists of bools are taken, too.
        like: a tensor on the device where the mask should be, if it is not a tensor yet.

    Raises:
        ValueError: if it is not boolean.
    """
    mask = mask if isinstance(mask, Tensor) else torch.as_tensor(mask, device=like.device)
    if mask.dtype != torch.bool:
        raise ValueError(
            f"A mask should be boolean, True = may attend, but its type is {mask.dtype}. "
            f"Where 1 means may attend, mask.bool() makes it so."
        )
    return mask


def looks_at_values(x: Tensor) -> bool:
    """Whether a check may look at a tensor's numbers: on the CPU, while nothing traces the code.

    A look makes a GPU wait, and a program that is compiled or exported has no numbers to look at yet.
    """
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def length_mask(lengths: Tensor, size: int) -> Tensor:
    """True at the positions of a padded batch that hold a real token.

    Args:
        lengths: number of real tokens of each sequence, (B,).
        size: padded length T.

    Returns:
        (B, T), entry (b, t) is True where t < lengths[b].

    Raises:
        ValueError: if the lengths are no tensor of whole numbers, or one is not between 1 and T (looked
            for by :func:`looks_at_values` only).
    """
    _check_numbers(lengths)
    _check_range(lengths, size)
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def check_lengths(lengths: Tensor, batch: int, size: int) -> None:
    """Refuse lengths that no padded batch has.

    Args:
        lengths: number of real tokens of each sequence.
        batch: number of sequences B.
        size: padded length T.

    Raises:
        ValueError: if the lengths are no tensor of whole numbers, there is not one for each sequence, or
            one is not between 1 and T (looked for by :func:`looks_at_values` only).
    """
    _check_numbers(lengths)
    if lengths.shape != (batch,):
        raise ValueError(
            f"There should be one length for each of the {batch} sequences, "
            f"but lengths is {tuple(lengths.shape)}."
        )
    _check_range(lengths, size)


def _check_numbers(lengths: Tensor) -> None:
    if not isinstance(lengths, Tensor):
        raise ValueError(
            f"Lengths should be a tensor of whole numbers, one for each sequence, but they are a "
            f"{type(lengths).__name__}. torch.tensor(lengths) makes one of a list."
        )
    if lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"Lengths should be whole numbers, but their type is {lengths.dtype}. "
            f"A mask (B, T) becomes lengths with mask.sum(1)."
        )


def _check_range(lengths: Tensor, size: int) -> None:
    if not looks_at_values(lengths) or len(lengths) == 0:
        return
    shortest, longest = (number.item() for number in lengths.aminmax())
    if shortest < 1 or longest > size:
        raise ValueError(
            f"Lengths should be between 1 and the padded length {size}, "
            f"but they go from {shortest} to {longest}."
        )


def check_hidden(y: Tensor, mask: Tensor | None, **vectors: Tensor) -> None:
    """Refuse NaN that only a mask hides: 0 times NaN is NaN, so it would reach every output.

    Looks at the outputs only, and no further unless one is NaN. A GPU is not asked: it would have to be
    waited for.

    Args:
        y: what attention gave.
        mask: boolean, (..., N_Q, N_X) or None.
        vectors: by their names in the plural, (..., N_X, D) each.

    Raises:
        ValueError: if vectors are NaN where the mask hides them from every query, and nowhere else.
    """
    if mask is None or not looks_at_values(y) or not y.sum().isnan():
        return
    seen = mask.any(-2)  # (..., N_X)
    wrong = {name: x.isnan().any(-1) for name, x in vectors.items()}
    if any((where & seen).any() for where in wrong.values()):
        return
    for name, where in wrong.items():
        if (where & ~seen).any():
            raise ValueError(
                f"The mask hides {name} that are NaN, but 0 times NaN is NaN: they would reach the "
                f"output all the same. Fill padding with numbers, such as 0."
            )


def window_mask(centre: Tensor, width: int, size: int) -> Tensor:
    """True within ``width`` positions of a centre: the window of local attention (Luong et al. 2015).

    Args:
        centre: position the window is centred on, real-valued, (B,).
        width: half-width D; the window is [centre - D, centre + D].
        size: padded length T.

    Returns:
        (B, T), entry (b, t) is True where |t - centre[b]| <= width.
    """
    positions = torch.arange(size, device=centre.device)[None, :]
    return (positions - widened(centre)[:, None]).abs() <= width


def causal_mask(
    size: int, past: int = 0, device: torch.device | None = None, window: int | None = None
) -> Tensor:
    """True where a query may look: at itself and at what stands before it, never ahead.

    Args:
        size: number of queries.
        past: positions before the first query, whose keys are known already (a key-value cache).
        device: where the mask should be.
        window: at so many positions at most, its own among them (Beltagy et al. 2020); None for all.

    Returns:
        (size, past + size), entry (i, j) is True where past + i - window < j <= past + i.
    """
    mask = torch.ones(size, past + size, dtype=torch.bool, device=device).tril(diagonal=past)
    return mask if window is None else mask.triu(diagonal=past - window + 1)
