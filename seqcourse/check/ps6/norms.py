"""Exercise 1: layer normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind, standard_cases


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


_AXES = "Write dim=-1, not dim=2."
layer_norm = Exercise(
    "layer_norm",
    make=norm_arguments,
    reference=functional.layer_norm,
    cases={
        **standard_cases(
            dict(shape=(2, 3, 4)), dict(shape=(5, 5, 5), seed=3), alone=dict(shape=(1, 3, 4))
        ),
        "one vector alone": Kind(dict(shape=(6,), seed=4), _AXES),
        "a matrix of vectors": Kind(dict(shape=(3, 4), seed=5), _AXES),
        "a small eps": dict(shape=(2, 3, 4), eps=1e-5, seed=6),
        "vectors whose entries are all equal": Kind(
            dict(shape=(2, 3, 4), spread=0.0, seed=7),
            "The variance is 0 there: eps keeps you from 0 / 0.",
        ),
    },
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
)
