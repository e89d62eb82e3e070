"""Exercise 1: layer normalisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal


def norm_arguments(
    shape: Sequence[int],
    eps: float = 0.5,
    spread: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `layer_norm`: vectors of any number of axes, scales, shifts, epsilon.

    spread: how far the entries of a vector lie apart; 0 makes every vector constant.
    """
    d = shape[-1]
    drawn = normal({"x": shape, "gamma": (d,), "beta": (d,)}, seed, dtype)
    middle = normal({"m": (*shape[:-1], 1)}, seed + 1, dtype)["m"]
    return drawn | {"x": spread * drawn["x"] + 2 * middle, "eps": eps}


def _normalise(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    eps: float,
    *,
    dim: int | tuple[int, ...] = -1,
    keepdim: bool = True,
    correction: int = 0,
    inside: bool = True,
    root: bool = True,
    centre: bool = True,
) -> Tensor:
    """Layer normalisation; the options make the mistakes of _LAYER_NORM."""
    dims = tuple(k for k in (dim if isinstance(dim, tuple) else (dim,)) if -x.ndim <= k < x.ndim)
    mean = x.mean(dims, keepdim=keepdim)
    variance = x.var(dims, correction=correction, keepdim=keepdim)
    below = variance + eps if inside else variance
    below = below.sqrt() if root else below
    return gamma * ((x - mean if centre else x) / (below if inside else below + eps)) + beta


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _normalise(*arguments, **mistake)


def _whole(x, gamma, beta, eps):
    return gamma * (x - x.mean()) / (x.var(correction=0) + eps).sqrt() + beta


_LAYER_NORM = {
    "Are mean and variance taken over positions and entries together? Every vector has its own: "
    "dim=-1 alone.": _with(dim=(-2, -1)),
    "Is that batch normalisation, over the first axes? Mean and variance run over the entries of "
    "each vector, the last axis: dim=-1.": _with(dim=(-3, -2)),
    "Are mean and variance taken over the first axis? They run over the entries of each vector, "
    "the last axis: dim=-1.": _with(dim=-3),
}


_AXES = "Write dim=-1, not dim=2."
layer_norm = Exercise(
    "layer_norm",
    make=norm_arguments,
    reference=functional.layer_norm,
    likely=_LAYER_NORM,
    cases=[
        *standard_cases(
            lambda batch, n, d, **options: norm_arguments((batch, n, d), **options),
            dict(batch=2, n=3, d=4),
            dict(batch=5, n=5, d=5, seed=3),
        ),
        Case("one vector alone", lambda: norm_arguments((6,), seed=4), _AXES),
        Case("a matrix of vectors", lambda: norm_arguments((3, 4), seed=5), _AXES),
        Case("a small eps", lambda: norm_arguments((2, 3, 4), eps=1e-5, seed=6)),
        Case(
            "vectors whose entries are all equal",
            lambda: norm_arguments((2, 3, 4), spread=0.0, seed=7),
            "The variance is 0 there: eps keeps you from 0 / 0.",
        ),
    ],
    forbid=(
        "layer_norm",
        "LayerNorm",
        "native_layer_norm",
        "group_norm",
        "GroupNorm",
        "batch_norm",
        "BatchNorm1d",
        "instance_norm",
    ),
    idea="Every vector is shifted and scaled by its own mean and variance, then by learned numbers.",
    see=("10", "Layer normalisation"),
)
