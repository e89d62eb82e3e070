"""Exercise 9: attention with a learned number for each bucket of distances (Raffel et al. 2020)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked as masking
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise


def biased_arguments(
    batch: int,
    heads: int,
    n: int,
    m: int,
    d: int,
    rows: int = 8,
    far: int = 11,
    d_v: int = 3,
    masked: bool = False,
    low: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `biased_attention`; with `masked` no query looks ahead.

    low: every query looks at one key only, and no key is similar to it.
    """
    sizes = {"q": (batch, heads, n, d), "k": (batch, heads, m, d), "v": (batch, heads, m, d_v)}
    mask = functional.causal_mask(n, m - n) if masked else None
    drawn = normal({**sizes, "table": (rows, heads)}, seed, dtype)
    if low:
        mask = torch.arange(n)[:, None] % m == torch.arange(m)
        masking.set_far_apart(drawn["q"], drawn["k"])
    return {**drawn, "far": far, "mask": mask}


def reference_biased_attention(q, k, v, table, far, mask) -> Tensor:
    """(B, H, N, D_V), every similarity with its head's number for the distance."""
    n, m, half = q.shape[-2], k.shape[-2], len(table) // 2
    exact = half // 2
    apart = torch.arange(m) - torch.arange(m - n, m)[:, None]  # (N, M)
    size = apart.abs()
    steps = (size.clamp(min=1) / exact).log() / math.log(far / exact) * (half - exact)
    coarse = (exact + steps.long()).clamp(max=half - 1)
    bucket = torch.where(size < exact, size, coarse) + half * (apart > 0)
    scores = q @ k.mT / q.shape[-1] ** 0.5 + table[bucket].permute(2, 0, 1)
    return functional.softmax(scores, mask=mask) @ v


biased_attention = Exercise(
    "biased_attention",
    make=biased_arguments,
    reference=reference_biased_attention,
    cases={
        "the first example": dict(batch=2, heads=2, n=5, m=5, d=4, rows=12, far=20),
        "far keys": dict(batch=1, heads=2, n=9, m=9, d=3, seed=10),
        "a mask": dict(batch=2, heads=1, n=8, m=8, d=3, masked=True, seed=20),
        "a mask, and similarities far below 0": dict(batch=1, heads=2, n=4, m=4, d=3, low=True),
        "fewer queries than keys": dict(batch=1, heads=2, n=2, m=9, d=3, seed=30),
        "keys further away than far": dict(batch=1, heads=2, n=16, m=16, d=3, far=7, seed=40),
        "float32": dict(batch=2, heads=3, n=7, m=7, d=4, dtype=torch.float32, seed=50),
    },
)
