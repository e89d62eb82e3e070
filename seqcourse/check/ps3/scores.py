"""Exercises 3 and 4: the four scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal

_SOFTMAX = "Did you apply a softmax? Raw scores are asked for; the softmax comes later."
_PAIRS = (
    "Does every decoder state meet the encoder states of every sequence? Each sequence of the batch "
    "has its own."
)
_AXIS = "s needs an axis for the positions before it can meet h: s[:, None]."


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


def _bridged(s: Tensor, w: Tensor | None) -> Tensor:
    return s if w is None else s @ w.T


def _dots(s: Tensor, h: Tensor, w: Tensor | None) -> Tensor:
    return reference_general_score(s, h, w)


_GENERAL_LIKELY = {
    "Does your code use w at all? When it is given, the score is h_i . W s.": (
        (lambda s, h, w: (h * s[:, None]).sum(dim=-1)),
        (lambda s, h, w: (h @ s[:, :, None])[:, :, 0]),
        (lambda s, h, w: torch.einsum("bd,btd->bt", s, h)),
    ),
    "Did you apply a tanh? The score is the product as it is.": (lambda s, h, w: _dots(s, h, w).tanh()),
    "Is W s added to h? The two are multiplied, entry by entry, and summed.": (
        lambda s, h, w: (_bridged(s, w)[:, None] + h).sum(dim=-1)
    ),
    _SOFTMAX: (lambda s, h, w: _dots(s, h, w).softmax(dim=-1)),
    _PAIRS: (lambda s, h, w: h @ _bridged(s, w).T),
    _AXIS: (lambda s, h, w: (h * _bridged(s, w)).sum(dim=-1)),
    _AXIS + " As a matrix product: h @ s[:, :, None].": (lambda s, h, w: h @ _bridged(s, w)),
}


general_score = Exercise(
    "general_score",
    make=general_arguments,
    reference=reference_general_score,
    likely=_GENERAL_LIKELY,
    cases=[
        *standard_cases(general_arguments, dict(batch=2, time=4, d_s=3), dict(batch=3, time=3, d_s=3)),
        *cases_of(
            general_arguments,
            {
                "a matrix w": dict(batch=2, time=4, d_s=3, d_h=3, matrix=True),
                "a matrix w between two widths": dict(batch=3, time=5, d_s=2, d_h=4, matrix=True),
                "a matrix w and a batch of 1": dict(batch=1, time=4, d_s=4, d_h=2, matrix=True),
            },
        ),
    ],
    forbid=("dot_score", "general_score", "DotScore", "GeneralScore"),
    idea="Two states are compared by a product, with a matrix between them if their widths differ.",
    see=("05", "Four ways to compare two states"),
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


def _hidden(s: Tensor, h: Tensor, w_s: Tensor, w_h: Tensor) -> Tensor:
    """W_s s + W_h h, (B, T, D_A)."""
    return (s @ w_s.T)[:, None] + h @ w_h.T


_ADDITIVE_LIKELY = {
    "Are the encoder states h missing in the sum? Every position gets the same score.": (
        lambda s, h, w_s, w_h, v: _hidden(s, 0 * h, w_s, w_h).tanh() @ v
    ),
    _SOFTMAX: (lambda s, h, w_s, w_h, v: (_hidden(s, h, w_s, w_h).tanh() @ v).softmax(dim=-1)),
}


additive_score = Exercise(
    "additive_score",
    make=additive_arguments,
    reference=functional.additive_score,
    likely=_ADDITIVE_LIKELY,
    cases=standard_cases(
        additive_arguments,
        dict(batch=2, time=4, d_s=3, d_h=5, d_a=6),
        dict(batch=3, time=3, d_s=3, d_h=3, d_a=3, scale=1000.0),
    ),
    forbid=("additive_score", "additive_score_from_keys", "AdditiveScore"),
    idea="A small network with a tanh compares two states of any widths.",
    see=("05", "Four ways to compare two states"),
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
    return drawn | {"b2": drawn["b2"] - _mlp(**drawn).mean()}


def _side_by_side(s: Tensor, h: Tensor) -> Tensor:
    """[h; s] at every position, (B, T, D_H + D_S)."""
    return torch.cat([h, s[:, None].expand(-1, h.shape[1], -1)], dim=-1)


def _mlp(s, h, w1, b1, w2, b2, squash=torch.relu):
    return squash(_side_by_side(s, h) @ w1.T + b1) @ w2 + b2


_MLP_LIKELY = {
    _SOFTMAX: (lambda *a: _mlp(*a).softmax(dim=-1)),
}


mlp_score = Exercise(
    "mlp_score",
    make=mlp_arguments,
    reference=functional.mlp_score,
    likely=_MLP_LIKELY,
    cases=standard_cases(
        mlp_arguments,
        dict(batch=2, time=4, d_s=3, d_h=5, d_a=2),
        dict(batch=4, time=4, d_s=4, d_h=4, d_a=4),
    ),
    forbid=("mlp_score", "MLPScore"),
    idea="Both states go side by side into a network with a hidden layer, which gives one number.",
    see=("05", "Four ways to compare two states"),
)
