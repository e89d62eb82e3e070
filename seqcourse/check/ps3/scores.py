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


def _cosine(s, h, w):
    s = _bridged(s, w)
    return _dots(s, h, None) / (s.norm(dim=-1, keepdim=True) * h.norm(dim=-1))


_GENERAL_LIKELY = {
    "Is W the wrong way round? It is (D_H, D_S) and turns s into something as wide as h: s @ w.T.": (
        lambda s, h, w: _dots(s if w is None else s @ w, h, None)
    ),
    "Does your code use w at all? When it is given, the score is h_i . W s.": (
        (lambda s, h, w: (h * s[:, None]).sum(dim=-1)),
        (lambda s, h, w: (h @ s[:, :, None])[:, :, 0]),
        (lambda s, h, w: torch.einsum("bd,btd->bt", s, h)),
    ),
    "Without w (None) the score is the plain dot product: ask `if w is None` first.": (
        lambda s, h, w: ((s @ w.T)[:, None] * h).sum(dim=-1)
    ),
    "Did you divide by the root of the width? That belongs to the next chapter.": (
        lambda s, h, w: _dots(s, h, w) / h.shape[-1] ** 0.5
    ),
    "Did you apply a tanh? The score is the product as it is.": (lambda s, h, w: _dots(s, h, w).tanh()),
    "Is W s added to h? The two are multiplied, entry by entry, and summed.": (
        lambda s, h, w: (_bridged(s, w)[:, None] + h).sum(dim=-1)
    ),
    "Is it the mean of the products? The dot product is their sum.": (
        lambda s, h, w: _dots(s, h, w) / h.shape[-1]
    ),
    "Did you divide by the lengths of the vectors? The dot product is left as it is.": _cosine,
    _SOFTMAX: (lambda s, h, w: _dots(s, h, w).softmax(dim=-1)),
    "Is the sum over the entries missing? A score is one number per position.": (
        lambda s, h, w: h * _bridged(s, w)[:, None]
    ),
    "Did you sum over the positions? Sum over the entries of the states, dim=-1.": (
        lambda s, h, w: (h * _bridged(s, w)[:, None]).sum(dim=1)
    ),
    _PAIRS: (lambda s, h, w: h @ _bridged(s, w).T),
    _AXIS: (lambda s, h, w: (h * _bridged(s, w)).sum(dim=-1)),
    _AXIS + " As a matrix product: h @ s[:, :, None].": (lambda s, h, w: h @ _bridged(s, w)),
    "Does every sequence get the scores of the first decoder state?": (
        lambda s, h, w: h @ _bridged(s, w)[0]
    ),
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


def _tanh_overflows(x: Tensor) -> Tensor:
    return ((2 * x).exp() - 1) / ((2 * x).exp() + 1)


_ADDITIVE_LIKELY = {
    "Is the tanh missing? Without it W_s s adds the same number to every position.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h) @ v
    ),
    "Is the tanh outside? It comes before the product with v.": (
        lambda s, h, w_s, w_h, v: torch.tanh(_hidden(s, h, w_s, w_h) @ v)
    ),
    "Did you take a tanh of each part? The tanh is of the sum.": (
        lambda s, h, w_s, w_h, v: ((s @ w_s.T).tanh()[:, None] + (h @ w_h.T).tanh()) @ v
    ),
    "Did you use a sigmoid in place of the tanh?": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h).sigmoid() @ v
    ),
    "Did you use relu in place of the tanh? relu belongs to the other half of the exercise.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h).relu() @ v
    ),
    "Did you forget v? It weighs the D_A entries before they are summed.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h).tanh().sum(dim=-1)
    ),
    "Is it the mean over the D_A entries? The product with v is a sum.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h).tanh() @ v / len(v)
    ),
    "Are the two parts multiplied? They are added before the tanh.": (
        lambda s, h, w_s, w_h, v: torch.tanh((s @ w_s.T)[:, None] * (h @ w_h.T)) @ v
    ),
    "Did you write the tanh with exp()? Of a large sum it is infinite, and infinity by infinity is NaN: "
    "use torch.tanh.": (lambda s, h, w_s, w_h, v: _tanh_overflows(_hidden(s, h, w_s, w_h)) @ v),
    "Is the sum over the D_A entries missing? The product with v is a dot product.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s, w_h).tanh() * v
    ),
    "Did you swap the matrices? w_s belongs to s, w_h to h.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_h, w_s).tanh() @ v
    ),
    "Did you forget to transpose the matrices? One row per entry of the result: s @ w_s.T.": (
        lambda s, h, w_s, w_h, v: _hidden(s, h, w_s.T, w_h.T).tanh() @ v
    ),
    "W_s s is (B, D_A) and W_h h is (B, T, D_A): the first needs an axis for the positions, "
    "[:, None].": (lambda s, h, w_s, w_h, v: torch.tanh(s @ w_s.T + h @ w_h.T) @ v),
    "Is the decoder state s missing in the sum?": (lambda s, h, w_s, w_h, v: torch.tanh(h @ w_h.T) @ v),
    "Are the encoder states h missing in the sum? Every position gets the same score.": (
        lambda s, h, w_s, w_h, v: _hidden(s, 0 * h, w_s, w_h).tanh() @ v
    ),
    _SOFTMAX: (lambda s, h, w_s, w_h, v: (_hidden(s, h, w_s, w_h).tanh() @ v).softmax(dim=-1)),
    "Does every sequence get the decoder state of the first one?": (
        lambda s, h, w_s, w_h, v: _hidden(s[:1], h, w_s, w_h).tanh() @ v
    ),
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


def _without_bias_where_dead(s, h, w1, b1, w2, b2):
    units = torch.relu(_side_by_side(s, h) @ w1.T + b1)
    return units @ w2 + b2 * (units > 0).any(dim=-1)


def _mlp_swapped(s, h, w1, b1, w2, b2):
    both = torch.cat([s[:, None].expand(-1, h.shape[1], -1), h], dim=-1)
    return torch.relu(both @ w1.T + b1) @ w2 + b2


_MLP_LIKELY = {
    "Is the order [s; h]? The columns of w1 belong to h first, then to s: [h; s].": _mlp_swapped,
    "Did you forget the bias of the hidden layer, b1?": (
        lambda s, h, w1, b1, w2, b2: _mlp(s, h, w1, 0, w2, b2)
    ),
    "Did you forget the bias of the output, b2?": (
        lambda s, h, w1, b1, w2, b2: _mlp(s, h, w1, b1, w2, 0)
    ),
    "Is b2 left out where all hidden units are 0? It is added at every position.": (
        _without_bias_where_dead
    ),
    "Did you forget both biases?": (lambda s, h, w1, b1, w2, b2: _mlp(s, h, w1, 0, w2, 0)),
    "Is b1 added after the relu? It belongs inside: relu(W1 [h; s] + b1).": (
        lambda s, h, w1, b1, w2, b2: _mlp(s, h, w1, 0, w2, b2) + b1 @ w2
    ),
    "Did you use gelu? The hidden layer has a relu.": (
        lambda *a: _mlp(*a, squash=torch.nn.functional.gelu)
    ),
    "Is the relu missing? Without it two layers are one.": (lambda *a: _mlp(*a, squash=lambda x: x)),
    "Did you use tanh? The hidden layer has a relu.": (lambda *a: _mlp(*a, squash=torch.tanh)),
    "Is there a relu at the end? A score may be negative; the relu is in the hidden layer only.": (
        lambda *a: _mlp(*a).relu()
    ),
    "Is the relu at the end? It belongs to the hidden layer, before w2.": (
        lambda *a: _mlp(*a, squash=lambda x: x).relu()
    ),
    "h has three axes and s has two: s must be repeated for every position first, "
    "s[:, None].expand(-1, T, -1).": (lambda s, h, w1, b1, w2, b2: torch.cat([h, s], dim=-1)),
    "s[:, None] stands at one position only: expand(-1, T, -1) repeats it for all of them.": (
        lambda s, h, w1, b1, w2, b2: torch.cat([h, s[:, None]], dim=-1)
    ),
    "Did you forget to transpose w1? It has one row per hidden unit: x @ w1.T.": (
        lambda s, h, w1, b1, w2, b2: torch.relu(_side_by_side(s, h) @ w1 + b1) @ w2 + b2
    ),
    _SOFTMAX: (lambda *a: _mlp(*a).softmax(dim=-1)),
    "Does every sequence get the decoder state of the first one?": (
        lambda s, h, *weights: _mlp(s[:1].expand(len(s), -1), h, *weights)
    ),
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
