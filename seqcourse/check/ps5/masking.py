"""Exercises 1 and 2: who may attend to whom. True means may attend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise

_BOOLEAN = "A mask is boolean: a comparison gives one, or .bool()."


# --- exercise 1 -------------------------------------------------------------------------------------


def causal_arguments(size: int, past: int | None = None, seed: int = 0) -> dict[str, int]:
    """Arguments of `causal_mask`; the seed makes all but a 1 larger. A past of None is left out."""
    sizes = {"size": size} if past is None else {"size": size, "past": past}
    return {name: n if n == 1 else n + seed % (7 if name == "past" else 19) for name, n in sizes.items()}


def reference_causal_mask(size: int, past: int = 0) -> Tensor:
    """(size, past + size), True where column j <= past + i."""
    return functional.causal_mask(size, past)


causal_mask = Exercise(
    "causal_mask",
    make=causal_arguments,
    reference=reference_causal_mask,
    cases={
        "the first example": dict(size=3),
        "another size": dict(size=6, past=0),
        "one position": dict(size=1, past=0),
        "a past": dict(size=3, past=2),
        "one new position after a past": dict(size=1, past=5),
        "a past longer than what is new": dict(size=2, past=7),
    },
    forbid=("causal_mask", "generate_square_subsequent_mask"),
    hint=_BOOLEAN,
)


# --- exercise 2 -------------------------------------------------------------------------------------


def padding_arguments(lengths: Sequence[int], size: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `padding_mask`; the seed puts the lengths into another order, and pads further."""
    turned, size = _turned(lengths, size, seed)
    return {"lengths": turned, "size": size}


def _turned(lengths: Sequence[int], size: int, seed: int) -> tuple[Tensor, int]:
    """The lengths in another order, and a size up to 6 larger.

    A size that equals the number of sentences stays: that is what its case is about.
    """
    count = len(lengths)
    more = 0 if size == count else seed // count % 7
    return torch.tensor(list(lengths)).roll(seed % count), size + more


def _real(lengths: Tensor, size: int) -> Tensor:
    """`functional.length_mask`, but a sentence may have no word, and any length be tried."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def reference_padding_mask(lengths: Tensor, size: int) -> Tensor:
    """(B, size), True at the first lengths[b] places of row b."""
    return _real(lengths, size)


padding_mask = Exercise(
    "padding_mask",
    make=padding_arguments,
    reference=reference_padding_mask,
    cases={
        "the first example": dict(lengths=[3, 2], size=4),
        "as many sentences as places": dict(lengths=[1, 4, 2, 3], size=4),
        "a batch of 1": dict(lengths=[2], size=5),
        "padding behind the longest sentence": dict(lengths=[2, 1, 3], size=6),
        "a sentence without words": dict(lengths=[2, 0, 3], size=3),
    },
    forbid=("length_mask",),
    hint=_BOOLEAN,
)


def combine_arguments(
    lengths: Sequence[int], size: int, past: int = 0, left: bool = False, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `combine`: padding (B, past + size) and causal (size, past + size).

    left: the padding stands in front, as where several texts of unequal length are continued.
    """
    turned, size = _turned(lengths, size, seed)
    padding = _real(turned, past + size)
    return {
        "padding": padding.flip(1) if left else padding,
        "causal": functional.causal_mask(size, past),
    }


def reference_combine(padding: Tensor, causal: Tensor) -> Tensor:
    """(B, 1, N, M): both must allow it."""
    return padding[:, None, None, :] & causal


combine = Exercise(
    "combine",
    make=combine_arguments,
    reference=reference_combine,
    cases={
        "the first example": dict(lengths=[2, 3], size=4),
        "other sizes": dict(lengths=[5, 1, 2, 4], size=5),
        "a batch of 1": dict(lengths=[2], size=4),
        "a past": dict(lengths=[6, 4, 5], size=2, past=4),
        "as many sentences as places": dict(lengths=[1, 3, 2], size=3),
        "padding in front": dict(lengths=[4, 2], size=4, left=True),
    },
    hint=_BOOLEAN,
)
