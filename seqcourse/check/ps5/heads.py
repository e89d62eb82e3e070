"""Exercise 4: one vector cut into pieces for the heads, and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal

_LIBRARY = ("MultiHeadAttention", "MultiheadAttention")
_FIRST = dict(batch=2, time=5, heads=3, d=4)
_OTHER = dict(batch=3, time=2, heads=2, d=2)

_RESHAPED = (
    "Did you reshape without a transpose? The shape is right, but the {what}: reshape never swaps "
    "axes. {how}"
)
_VIEW = "view cannot see a transposed tensor as one piece: use reshape, or contiguous() before it."


def split_arguments(
    batch: int, time: int, heads: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `split_heads`; d is the width of one head."""
    return {**normal({"x": (batch, time, heads * d)}, seed, dtype), "heads": heads}


def reference_split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, N, D) to (B, H, N, D / H)."""
    batch, time, width = x.shape
    return x.reshape(batch, time, heads, width // heads).transpose(1, 2)


def _pieces(x: Tensor, heads: int) -> tuple[int, int, int, int]:
    return x.shape[0], x.shape[1], heads, x.shape[2] // heads


def _shaped(*axes: int) -> Callable[[Tensor, int], Tensor]:
    """x reshaped to some order of (batch, time, heads, width of a head), and left so."""
    return lambda x, heads: x.reshape([_pieces(x, heads)[axis] for axis in axes])


_SPLIT_HEADS = {
    _RESHAPED.format(
        what="pieces are mixed up, and each head gets all of a few words in place of a piece of "
        "every word",
        how="First (B, N, H, D / H), then swap axes 1 and 2.",
    ): _shaped(0, 2, 1, 3),
    # With a batch of 1 it is rather a squeeze.
    "Are batch and heads one axis? They should be two: (B, H, N, D / H).": (
        lambda x, heads: reference_split_heads(x, heads).flatten(0, 1) if len(x) > 1 else None
    ),
    _VIEW: (lambda x, heads: _raise_view()),
}


def _raise_view() -> None:
    raise AnyError(r"view size is not compatible")


split_heads = Exercise(
    "split_heads",
    make=split_arguments,
    reference=reference_split_heads,
    likely=_SPLIT_HEADS,
    cases=[
        *standard_cases(split_arguments, _FIRST, _OTHER),
        *cases_of(
            split_arguments,
            {
                "one head": dict(batch=2, time=3, heads=1, d=4),
                "one position": dict(batch=2, time=1, heads=3, d=2),
            },
        ),
    ],
    forbid=_LIBRARY,
    idea="Each head gets a piece of every vector, and no entry of another head.",
    see=("09", "One projection, reshaped"),
)


def merge_arguments(
    batch: int, time: int, heads: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `merge_heads`; d is the width of one head."""
    return normal({"y": (batch, heads, time, d)}, seed, dtype)


def reference_merge_heads(y: Tensor) -> Tensor:
    """(B, H, N, D / H) to (B, N, D)."""
    return y.transpose(1, 2).flatten(2)


_MERGE_HEADS = {
    _RESHAPED.format(what="words are mixed up", how="First swap axes 1 and 2 back, then reshape."): (
        lambda y: y.reshape(y.shape[0], y.shape[2], -1)
    ),
    _VIEW: (lambda y: _raise_view()),
}


merge_heads = Exercise(
    "merge_heads",
    make=merge_arguments,
    reference=reference_merge_heads,
    likely=_MERGE_HEADS,
    cases=[
        *standard_cases(merge_arguments, _FIRST, _OTHER),
        *cases_of(
            merge_arguments,
            {
                "one head": dict(batch=2, time=3, heads=1, d=4),
                "as many positions as heads": dict(batch=2, time=3, heads=3, d=2),
            },
        ),
    ],
    forbid=_LIBRARY,
    idea="The pieces of all heads stand side by side again, in the order in which they were cut.",
    see=("09", "One projection, reshaped"),
)
