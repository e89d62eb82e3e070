"""Exercise 4: one vector cut into pieces for the heads, and put together again."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases

_LIBRARY = ("MultiHeadAttention", "MultiheadAttention")
_FIRST = dict(batch=2, time=5, heads=3, d=4)
_OTHER = dict(batch=3, time=2, heads=2, d=2)

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


def _one_axis(x: Tensor, heads: int) -> Tensor | None:
    """Batch and heads in one axis; with a batch of 1 it is rather a squeeze."""
    return reference_split_heads(x, heads).flatten(0, 1) if len(x) > 1 else None


split_heads = Exercise(
    "split_heads",
    make=split_arguments,
    reference=reference_split_heads,
    likely={
        "Are batch and heads one axis? They should be two: (B, H, N, D / H).": _one_axis,
        _VIEW: stopping("view size is not compatible"),
    },
    cases={
        **standard_cases(_FIRST, _OTHER),
        "one head": dict(batch=2, time=3, heads=1, d=4),
        "one position": dict(batch=2, time=1, heads=3, d=2),
    },
    forbid=_LIBRARY,
)


def merge_arguments(
    batch: int, time: int, heads: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `merge_heads`; d is the width of one head."""
    return normal({"y": (batch, heads, time, d)}, seed, dtype)


def reference_merge_heads(y: Tensor) -> Tensor:
    """(B, H, N, D / H) to (B, N, D)."""
    return y.transpose(1, 2).flatten(2)


merge_heads = Exercise(
    "merge_heads",
    make=merge_arguments,
    reference=reference_merge_heads,
    likely={_VIEW: stopping("view size is not compatible")},
    cases={
        **standard_cases(_FIRST, _OTHER),
        "one head": dict(batch=2, time=3, heads=1, d=4),
        "as many positions as heads": dict(batch=2, time=3, heads=3, d=2),
    },
    forbid=_LIBRARY,
)
