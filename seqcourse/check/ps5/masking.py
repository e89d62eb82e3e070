"""Exercises 1 and 2: who may attend to whom. True means may attend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of

_BOOLEAN = "A mask is boolean: a comparison gives one, or .bool()."
_ROUND = "Is the mask the wrong way round? True means may attend."


# --- exercise 1 -------------------------------------------------------------------------------------


def causal_arguments(size: int, past: int | None = None, seed: int = 0) -> dict[str, int]:
    """Arguments of `causal_mask`; the seed makes all but a 1 larger. A past of None is left out."""
    sizes = {"size": size} if past is None else {"size": size, "past": past}
    return {name: n if n == 1 else n + seed % (7 if name == "past" else 19) for name, n in sizes.items()}


def reference_causal_mask(size: int, past: int = 0) -> Tensor:
    """(size, past + size), True where column j <= past + i."""
    return functional.causal_mask(size, past)


def _ones(size: int, past: int) -> Tensor:
    return torch.ones(size, past + size, dtype=torch.bool)


def _beside(known: bool) -> Callable[..., Tensor]:
    """The square mask with `known` in the columns of the past."""
    return lambda size, past=0: torch.cat(
        [torch.full((size, past), known), functional.causal_mask(size)], dim=1
    )


_CAUSAL_MASK = {
    "Is the mask the wrong way round? True means may attend: itself and what stands before it.": (
        lambda size, past=0: ~functional.causal_mask(size, past)
    ),
    "May a position not look at itself? It may: its own vector is known.": (
        lambda size, past=0: _ones(size, past).tril(past - 1)
    ),
    "Does a query see only the last few of the past? It may look at all of it.": (
        lambda size, past=0: _ones(size, past).tril(past).triu()
    ),
    "Are `past` and `size` exchanged? Query i may look at columns 0 to past + i.": (
        lambda size, past=0: _ones(size, past).tril(size)
    ),
    "Does every position see the one behind it? That is the one it should predict.": (
        lambda size, past=0: _ones(size, past).tril(past + 1)
    ),
    "Are rows and columns swapped? A row is a query, a column is a key.": (
        (lambda size, past=0: functional.causal_mask(size, past).T),
        (lambda size, past=0: _ones(size, past).triu(past)),
    ),
    "Are the columns of the past missing? The shape is (size, past + size).": (
        lambda size, past=0: functional.causal_mask(size)
    ),
    "Are there rows for the past? Queries are the new positions only: (size, past + size).": (
        lambda size, past=0: functional.causal_mask(past + size)
    ),
    "Do you count the queries from the beginning of the text? Query i stands at place past + i.": (
        lambda size, past=0: _ones(size, past).tril()
    ),
    "Do the columns of the past stand at the end? The past comes first.": (
        lambda size, past=0: torch.cat(
            [functional.causal_mask(size), torch.ones(size, past, dtype=torch.bool)], dim=1
        )
    ),
    "Is the past hidden? Every query may look at all of it.": _beside(False),
    "Are these numbers to be added to the scores? Here a mask is boolean: True means may attend.": (
        lambda size, past=0: torch.zeros(size, past + size).masked_fill(
            ~functional.causal_mask(size, past), float("-inf")
        )
    ),
    "Does every query see everything? Query i may look at columns 0 to past + i.": (
        _ones,
        (lambda size, past=0: _ones(size, past)),
    ),
}


causal_mask = Exercise(
    "causal_mask",
    make=causal_arguments,
    reference=reference_causal_mask,
    likely=_CAUSAL_MASK,
    cases=cases_of(
        causal_arguments,
        {
            "the first example": dict(size=3),
            "another size": dict(size=6, past=0),
            "one position": dict(size=1, past=0),
            "a past": dict(size=3, past=2),
            "one new position after a past": dict(size=1, past=5),
            "a past longer than what is new": dict(size=2, past=7),
        },
    ),
    forbid=("causal_mask", "generate_square_subsequent_mask"),
    hint=_BOOLEAN,
    idea="A query may look at itself and at what stands before it.",
    see=("08", "Do not look ahead"),
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


_PADDING_MASK = {
    "Is the mask the wrong way round? True means may attend: a real word.": (
        lambda lengths, size: ~_real(lengths, size)
    ),
    "Is there one place too many? A sentence of 2 words has them at places 0 and 1.": (
        lambda lengths, size: _real(lengths + 1, size)
    ),
    "Is there one place too few? Places are counted from 0.": (
        lambda lengths, size: _real(lengths - 1, size)
    ),
    "Is the mask as wide as the longest sentence? It should have `size` columns.": (
        lambda lengths, size: _real(lengths, int(lengths.max()))
    ),
    "lengths needs a second axis, so that each row has its own: lengths[:, None].": (
        lambda lengths, size: torch.arange(size) < lengths
    ),
    "Are rows and columns swapped? The batch comes first.": (
        lambda lengths, size: _real(lengths, size).T
    ),
    "Do the real words stand at the end of each row? Padding stands behind them.": (
        lambda lengths, size: _real(lengths, size).flip(1)
    ),
    "Is it the length of the padding? lengths are those of the real words.": (
        lambda lengths, size: _real(size - lengths, size)
    ),
    "Does every sentence get the length of the first? Each has its own.": (
        lambda lengths, size: _real(lengths[:1].expand_as(lengths), size)
    ),
    "Is only the last real word marked? Every place before it is a real word too.": (
        lambda lengths, size: torch.arange(size) == lengths[:, None] - 1
    ),
    "torch.arange(n) has the entries 0 to n - 1. How many columns does the mask have?": (
        lambda lengths, size: torch.arange(size + 1) < lengths[:, None]
    ),
}


padding_mask = Exercise(
    "padding_mask",
    make=padding_arguments,
    reference=reference_padding_mask,
    likely=_PADDING_MASK,
    cases=cases_of(
        padding_arguments,
        {
            "the first example": dict(lengths=[3, 2], size=4),
            "as many sentences as places": dict(lengths=[1, 4, 2, 3], size=4),
            "a batch of 1": dict(lengths=[2], size=5),
            "padding behind the longest sentence": dict(lengths=[2, 1, 3], size=6),
            "a sentence without words": dict(lengths=[2, 0, 3], size=3),
        },
    ),
    forbid=("length_mask",),
    hint=_BOOLEAN,
    idea="Only the real words of a padded batch may be attended to.",
    see=("08", "Padding, and both at once"),
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


_COMBINE = {
    "Did you join the two with `or`? A look needs the leave of both: &.": (
        lambda padding, causal: padding[:, None, None, :] | causal
    ),
    "Is the axis for the heads missing? The shape is (B, 1, N, M).": (
        lambda padding, causal: padding[:, None, :] & causal
    ),
    "Is the axis for the heads in front of the batch? padding needs two new axes in the middle: "
    "padding[:, None, None, :].": (lambda padding, causal: (padding[:, None, :] & causal)[None]),
    "Is the axis for the heads in the wrong place? The shape is (B, 1, N, M).": (
        (lambda padding, causal: (padding[:, None, :] & causal)[:, :, None]),
        (lambda padding, causal: (padding[:, None, :] & causal)[..., None]),
    ),
    "Does padding hide queries (rows)? It is keys that must not be looked at: columns, the last axis.": (
        lambda padding, causal: padding[:, None, :, None] & causal
    ),
    "Does padding hide queries (rows) as well as keys? A query at a padded place is computed for "
    "nothing, but hiding it from everything makes a row with nothing to attend to.": (
        lambda padding, causal: (
            padding[:, None, None, :] & padding[:, None, -len(causal) :, None] & causal
        )
    ),
    "Padding, (B, M), needs axes for the heads and the queries before it can meet the causal mask: "
    "padding[:, None, None, :].": (lambda padding, causal: padding & causal),
    _ROUND: (lambda padding, causal: ~(padding[:, None, None, :] & causal)),
    "Did you compare the two? A look needs both to be True: &.": (
        lambda padding, causal: padding[:, None, None] == causal
    ),
    "Is the causal mask turned upside down? Its rows stay in their order.": (
        lambda padding, causal: reference_combine(padding, causal.flip(0, 1))
    ),
    "Does your result look at padding at all?": (
        lambda padding, causal: causal.expand(len(padding), 1, *causal.shape)
    ),
    "Does your result look at the causal mask at all?": (
        lambda padding, causal: padding[:, None, None, :].expand(-1, 1, len(causal), -1)
    ),
    "Is the axis of the queries missing? The shape is (B, 1, N, M).": (
        lambda padding, causal: padding[:, None, None, :]
    ),
    "Is the batch missing in front? The shape is (B, 1, N, M).": (
        lambda padding, causal: causal[None, None]
    ),
    "Does every sentence get the padding of the first?": (
        lambda padding, causal: (padding[:1, None, None, :] & causal).expand(len(padding), -1, -1, -1)
    ),
}


combine = Exercise(
    "combine",
    make=combine_arguments,
    reference=reference_combine,
    likely=_COMBINE,
    cases=cases_of(
        combine_arguments,
        {
            "the first example": dict(lengths=[2, 3], size=4),
            "other sizes": dict(lengths=[5, 1, 2, 4], size=5),
            "a batch of 1": dict(lengths=[2], size=4),
            "a past": dict(lengths=[6, 4, 5], size=2, past=4),
            "as many sentences as places": dict(lengths=[1, 3, 2], size=3),
            "padding in front": dict(lengths=[4, 2], size=4, left=True),
        },
    ),
    hint=_BOOLEAN,
    idea="Both masks apply: a query may look at a key only if each of them allows it.",
    see=("08", "Padding, and both at once"),
)
