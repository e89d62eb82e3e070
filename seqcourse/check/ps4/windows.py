"""Exercise 8: self-attention that looks no further than a few places."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.ps4.products import LAYERS


def local_arguments(
    batch: int,
    n: int,
    d: int,
    d_v: int,
    width: int,
    hidden: bool = False,
    low: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `local_attention`.

    hidden: the last key is far above the others, also for queries that may not see it. low: all
    similarities are far below 0.
    """
    sizes = {"q": (batch, n, d), "k": (batch, n, d), "v": (batch, n, d_v)}
    given = normal(sizes, seed)
    if hidden:
        given["q"][..., 0] = 2000.0 * math.sqrt(d)
        given["k"][..., 0] = (torch.arange(n) == n - 1).double()
    if low:
        masked.set_far_apart(given["q"], given["k"])
    return {name: value.to(dtype) for name, value in given.items()} | {"width": width}


def _distance(q: Tensor) -> Tensor:
    """j - i, (N, N): how far behind query i key j stands."""
    places = torch.arange(q.shape[-2])
    return places[None] - places[:, None]


def reference_local_attention(q: Tensor, k: Tensor, v: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Outputs (B, N, D_V) and weights (B, N, N)."""
    return functional.attention(q, k, v, _distance(q).abs() <= width, need_weights=True)


local_attention = Exercise(
    "local_attention",
    make=local_arguments,
    reference=reference_local_attention,
    cases={
        **standard_cases(
            dict(batch=2, n=8, d=3, d_v=4, width=3), dict(batch=5, n=5, d=5, d_v=5, width=1)
        ),
        "a width of 0": dict(batch=2, n=4, d=3, d_v=2, width=0),
        "a window wider than the sequence": dict(batch=2, n=4, d=3, d_v=2, width=7),
        "a long sequence": dict(batch=1, n=20, d=3, d_v=2, width=2),
        "similarities far below 0": dict(batch=2, n=5, d=3, d_v=2, width=0, low=True),
        "keys outside that are far above the others": dict(
            batch=2, n=9, d=3, d_v=2, width=2, hidden=True
        ),
    },
    forbid=("window_mask", "LocalAttention", *LAYERS),
)
