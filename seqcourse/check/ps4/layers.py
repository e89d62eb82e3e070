"""Exercises 3 and 4: queries, keys and values; self-attention as a module."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.modules import module_arguments, record_module
from seqcourse.check.exercise import Exercise, Kind, standard_cases
from seqcourse.check.ps4.products import LAYERS, reference_attention


def cross_arguments(
    batch: int,
    n_q: int,
    n_x: int,
    d_z: int,
    d_x: int,
    d_q: int,
    d_v: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `cross_attention`: what asks, what answers, three matrices.

    Where several vectors answer, the last one of the first sequence is 0; it is no padding.
    scale: of the similarities.
    """
    sizes = {
        "z": (batch, n_q, d_z),
        "x": (batch, n_x, d_x),
        "w_q": (d_z, d_q),
        "w_k": (d_x, d_q),
        "w_v": (d_x, d_v),
    }
    given = normal(sizes, seed)
    for name in ("w_q", "w_k", "w_v"):  # so that no weight is near 1 and all others near 0
        given[name] = given[name] / math.sqrt(given[name].shape[0])
    given["w_q"] *= scale
    if n_x > 1:
        given["x"][0, -1] = 0.0
    return {name: value.to(dtype) for name, value in given.items()}


def reference_cross_attention(z, x, w_q, w_k, w_v) -> tuple[Tensor, Tensor]:
    """Outputs (B, N_Q, D_V) and weights (B, N_Q, N_X)."""
    return reference_attention(z @ w_q, x @ w_k, x @ w_v)


_SIZES = dict(batch=2, n_q=3, n_x=4, d_z=7, d_x=5, d_q=6, d_v=8)
cross_attention = Exercise(
    "cross_attention",
    make=cross_arguments,
    reference=reference_cross_attention,
    cases={
        **standard_cases(_SIZES, dict(batch=3, n_q=4, n_x=4, d_z=4, d_x=4, d_q=4, d_v=4)),
        "one query, and similarities in the thousands": {**_SIZES, "n_q": 1, "scale": 2000.0},
    },
    forbid=LAYERS,
)


def self_arguments(
    batch: int, n: int, d_x: int, d_q: int, d_v: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """What `SelfAttention` is tested with: sizes to build it, weights, two calls."""
    given = module_arguments(
        {"d_x": d_x, "d_q": d_q, "d_v": d_v},
        {"w_q.weight": (d_q, d_x), "w_k.weight": (d_q, d_x), "w_v.weight": (d_v, d_x)},
        {"x": (batch, n, d_x)},
        seed=seed,
    )
    given["calls"][0]["x"] = given["calls"][0]["x"][:, 1:]  # the second sequence is longer
    given["weights"] = {key: value.to(dtype) for key, value in given["weights"].items()}
    given["calls"] = [{"x": call["x"].to(dtype)} for call in given["calls"]]
    return given


class ReferenceSelfAttention(nn.Module):
    """Three layers, and attention of their results."""

    def __init__(self, d_x: int, d_q: int, d_v: int) -> None:
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_x, d, bias=False) for d in (d_q, d_q, d_v))

    def forward(self, x: Tensor) -> Tensor:
        return functional.attention(self.w_q(x), self.w_k(x), self.w_v(x))[0]


SelfAttention = Exercise(
    "SelfAttention",
    make=self_arguments,
    reference=ReferenceSelfAttention,
    record=record_module,
    cases={
        "the first example": dict(batch=2, n=4, d_x=5, d_q=3, d_v=6),
        "other sizes": dict(batch=3, n=6, d_x=4, d_q=4, d_v=4),
        "a batch of 1": Kind(
            dict(batch=1, n=4, d_x=5, d_q=3, d_v=6), "Does a squeeze() or [0] drop the batch?"
        ),
        "float32": Kind(
            dict(batch=2, n=4, d_x=5, d_q=3, d_v=6, dtype=torch.float32),
            "Create new tensors like the old ones: torch.zeros_like(x).",
        ),
    },
    forbid=LAYERS,
)
