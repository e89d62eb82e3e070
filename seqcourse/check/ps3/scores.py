"""Exercises 3 and 4: the four scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


def general_arguments(
    batch: int,
    time: int,
    d_s: int,
    d_h: int | None = None,
    matrix: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `general_score`; without a matrix both states have the width d_s."""
    d_h = d_s if d_h is None else d_h
    drawn = normal({"s": (batch, d_s), "h": (batch, time, d_h), "w": (d_h, d_s)}, seed, dtype)
    return drawn if matrix else {**drawn, "w": None}


def reference_general_score(s: Tensor, h: Tensor, w: Tensor | None = None) -> Tensor:
    """Raw scores h_i . W s, (B, T); without w the dot product."""
    return functional.dot_score(s, h) if w is None else functional.general_score(s, h, w)


general_score = Exercise(
    "general_score",
    make=general_arguments,
    reference=reference_general_score,
    cases={
        **standard_cases(dict(batch=2, time=4, d_s=3), dict(batch=3, time=3, d_s=3)),
        "a matrix w": dict(batch=2, time=4, d_s=3, d_h=3, matrix=True),
        "a matrix w between two widths": dict(batch=3, time=5, d_s=2, d_h=4, matrix=True),
        "a matrix w and a batch of 1": dict(batch=1, time=4, d_s=4, d_h=2, matrix=True),
    },
    forbid=("dot_score", "general_score", "DotScore", "GeneralScore"),
)


def additive_arguments(
    batch: int,
    time: int,
    d_s: int,
    d_h: int,
    d_a: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `additive_score`; the states are `scale` times as large as usual."""
    sizes = {
        "s": (batch, d_s),
        "h": (batch, time, d_h),
        "w_s": (d_a, d_s),
        "w_h": (d_a, d_h),
        "v": (d_a,),
    }
    drawn = normal(sizes, seed, dtype)
    return drawn | {name: scale * drawn[name] for name in ("s", "h")}


additive_score = Exercise(
    "additive_score",
    make=additive_arguments,
    reference=functional.additive_score,
    cases=standard_cases(
        dict(batch=2, time=4, d_s=3, d_h=5, d_a=6),
        dict(batch=3, time=3, d_s=3, d_h=3, d_a=3, scale=1000.0),
    ),
    forbid=("additive_score", "additive_score_from_keys", "AdditiveScore"),
)


def mlp_arguments(
    batch: int,
    time: int,
    d_s: int,
    d_h: int,
    d_a: int,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `mlp_score`, under which some scores are negative and some are not."""
    sizes = {
        "s": (batch, d_s),
        "h": (batch, time, d_h),
        "w1": (d_a, d_h + d_s),
        "b1": (d_a,),
        "w2": (d_a,),
        "b2": (1,),
    }
    drawn = normal(sizes, seed, dtype)
    return drawn | {"b2": drawn["b2"] - functional.mlp_score(**drawn).mean()}


mlp_score = Exercise(
    "mlp_score",
    make=mlp_arguments,
    reference=functional.mlp_score,
    cases=standard_cases(
        dict(batch=2, time=4, d_s=3, d_h=5, d_a=2), dict(batch=4, time=4, d_s=4, d_h=4, d_a=4)
    ),
    forbid=("mlp_score", "MLPScore"),
)
