"""Exercises 1 and 2: similarities of many queries at once, and the attention layer's formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal

# More than exercises 3, 4 and 8 may use: an attention that projects by itself.
LAYERS = (
    "multi_head_attention_forward",
    "MultiheadAttention",
    "MultiHeadAttention",
    "MultiHeadAttentionPool",
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
)
LIBRARY = ("scaled_dot_product_attention", *LAYERS)


def similarities_arguments(
    batch: int,
    n_q: int,
    n_x: int,
    d: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `similarities`; the queries are `scale` times as large as usual."""
    drawn = normal({"q": (batch, n_q, d), "x": (batch, n_x, d)}, seed, dtype)
    return drawn | {"q": scale * drawn["q"]}


def reference_similarities(q: Tensor, x: Tensor) -> Tensor:
    """E = Q X^T / sqrt(D), (B, N_Q, N_X)."""
    return q @ x.transpose(-2, -1) / math.sqrt(q.shape[-1])


def _products(q: Tensor, x: Tensor) -> Tensor:
    return q @ x.transpose(-2, -1)


_SIMILARITIES = {
    "Is the division by the root of D missing?": _products,
    "Did you divide by D, or twice by its root? Once by the root of D is right.": (
        lambda q, x: _products(q, x) / q.shape[-1]
    ),
    "Did you multiply by the root of D? Divide by it.": (
        lambda q, x: _products(q, x) * math.sqrt(q.shape[-1])
    ),
    "Is it the root of how many inputs there are? D is the width of a vector, q.shape[-1].": (
        lambda q, x: _products(q, x) / math.sqrt(x.shape[-2])
    ),
    "Is it the root of how many queries there are? D is the width of a vector, q.shape[-1].": (
        lambda q, x: _products(q, x) / math.sqrt(q.shape[-2])
    ),
    "Are these distances? A similarity is a dot product.": (
        lambda q, x: -torch.cdist(q, x) / math.sqrt(q.shape[-1])
    ),
    "Is it the root of the size of the batch? D is the width of a vector, q.shape[-1].": (
        lambda q, x: _products(q, x) / math.sqrt(q.shape[0])
    ),
    "Are rows and columns swapped? A row belongs to a query, a column to an input.": (
        lambda q, x: reference_similarities(x, q)
    ),
    "Is a large similarity cut off? It may be any number.": tuple(
        lambda q, x, most=most: reference_similarities(q, x).clamp(-most, most) for most in (20, 50)
    ),
    "Did you apply a softmax? The similarities are the raw ones.": (
        lambda q, x: reference_similarities(q, x).softmax(-1)
    ),
    "Did you divide by the lengths of the vectors? Only by the root of D.": (
        lambda q, x: torch.cosine_similarity(q[:, :, None], x[:, None], dim=-1)
    ),
    "Is the sum over the D entries missing? A dot product is one number.": (
        lambda q, x: q[:, :, None] * x[:, None] / math.sqrt(q.shape[-1])
    ),
    "Does each query meet one input only? Every query meets every input: q @ x.transpose(-2, -1).": (
        lambda q, x: (q * x).sum(-1) / math.sqrt(q.shape[-1])
    ),
    "Do the queries of the first sequence meet all inputs? Each sequence has its own.": (
        lambda q, x: q[0] @ x.transpose(-2, -1) / math.sqrt(q.shape[-1])
    ),
    "The inputs must be turned first: x.transpose(-2, -1) is (B, D, N_X).": (lambda q, x: q @ x),
    "x.T turns all three axes: use x.transpose(-2, -1), which leaves the batch in its place.": (
        lambda q, x: q @ x.permute(2, 1, 0)
    ),
    "transpose(0, 1) moves the batch: use x.transpose(-2, -1).": (lambda q, x: q @ x.transpose(0, 1)),
}


similarities = Exercise(
    "similarities",
    make=similarities_arguments,
    reference=reference_similarities,
    likely=_SIMILARITIES,
    cases=[
        *standard_cases(
            similarities_arguments, dict(batch=2, n_q=3, n_x=4, d=5), dict(batch=4, n_q=4, n_x=4, d=9)
        ),
        *cases_of(
            similarities_arguments,
            {"one query, large vectors": dict(batch=2, n_q=1, n_x=4, d=5, scale=1e4)},
        ),
    ],
    forbid=LIBRARY,
    idea="One matrix product compares every query with every input.",
    see=("06", "From any similarity to a scaled dot product"),
)


def attention_arguments(
    leading: Sequence[int],
    n_q: int,
    n_x: int,
    d: int,
    d_v: int,
    apart: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `attention`, with any leading axes.

    apart: the similarities of each query lie around 1000 or -1000, and as far from each other as ever.
    """
    sizes = {"q": (*leading, n_q, d), "k": (*leading, n_x, d), "v": (*leading, n_x, d_v)}
    given = normal(sizes, seed)
    if apart:
        signs = 1.0 - 2.0 * (torch.arange(n_q) % 2)
        given["q"][..., -1] = 1000.0 * math.sqrt(d) * signs
        given["k"][..., -1] = 1.0
    return {name: value.to(dtype) for name, value in given.items()}


def reference_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs (..., N_Q, D_V) and weights (..., N_Q, N_X)."""
    return functional.attention(q, k, v, need_weights=True)


def layer(
    scale: Callable[[Tensor, Tensor, Tensor], float] = lambda q, k, v: math.sqrt(q.shape[-1]),
    soften: Callable[[Tensor], Tensor] = lambda e: e.softmax(-1),
) -> Callable[..., tuple[Tensor, Tensor]]:
    """An attention with another divisor, or another way from similarities to weights."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        weights = soften(q @ k.transpose(-2, -1) / scale(q, k, v))
        return weights @ v, weights

    return attend


def bare(e: Tensor) -> Tensor:
    return e.exp() / e.exp().sum(-1, keepdim=True)


def _one_maximum(e: Tensor) -> Tensor:
    return bare(e - e.max())


def _scaled_late(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = _products(q, k).softmax(-1) / math.sqrt(q.shape[-1])
    return weights @ v, weights


def _raw(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return reference_attention(q, k, v)[0], reference_similarities(q, k)


def _three_axes(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)
    return weights @ v, weights


def _batches(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = (torch.bmm(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])).softmax(-1)
    return torch.bmm(weights, v), weights


def _hard(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    weights = reference_similarities(q, k).softmax(-1)
    best = torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(v.dtype)
    return best @ v, weights


_ATTENTION = {
    "Is the division by the root of D missing?": layer(scale=lambda q, k, v: 1.0),
    "Did you divide by D, or twice by its root (q, then the product)? Once by the root of D is right.": (
        layer(scale=lambda q, k, v: float(q.shape[-1]))
    ),
    "Did you multiply by the root of D? Divide by it.": layer(
        scale=lambda q, k, v: 1 / math.sqrt(q.shape[-1])
    ),
    "Is it the root of the values' width? D is the width of queries and keys.": layer(
        scale=lambda q, k, v: math.sqrt(v.shape[-1])
    ),
    "Is it the root of how many keys there are? D is the width of queries and keys.": layer(
        scale=lambda q, k, v: math.sqrt(k.shape[-2])
    ),
    "Is it the root of how many queries there are? D is the width of queries and keys.": layer(
        scale=lambda q, k, v: math.sqrt(q.shape[-2])
    ),
    "Is a sigmoid in place of the softmax? Each query's weights sum to 1.": layer(soften=torch.sigmoid),
    "Did you divide after the softmax? The similarities are divided before it.": _scaled_late,
    "Is the softmax over the queries? Each query's weights sum to 1: the last axis, dim=-1.": layer(
        soften=lambda e: e.softmax(-2)
    ),
    "Is the softmax over the batch? Each query's weights sum to 1: the last axis, dim=-1.": layer(
        soften=lambda e: e.softmax(0)
    ),
    "Is the sum over more than one row? Each query's weights sum to 1: dim=-1, keepdim=True.": layer(
        soften=lambda e: e.exp() / e.exp().sum()
    ),
    "Are the weights used as they come, without a softmax? They should sum to 1.": layer(
        soften=lambda e: e
    ),
    "Is the softmax applied twice?": layer(soften=lambda e: e.softmax(-1).softmax(-1)),
    "Are the keys summed in place of the values? Keys are compared, values are added up.": (
        lambda q, k, v: layer()(q, k, k)
    ),
    "Are the values compared in place of the keys? Queries meet keys.": (
        lambda q, k, v: layer()(q, v, v)
    ),
    "Are the values compared and the keys summed? Keys are compared, values are added up.": (
        lambda q, k, v: layer()(q, v, k)
    ),
    "Did you return the weights first? The order is outputs, weights.": (
        lambda q, k, v: reference_attention(q, k, v)[::-1]
    ),
    "Did you return the outputs only? The weights are asked for as well.": (
        lambda q, k, v: reference_attention(q, k, v)[0]
    ),
    "Did you return the weights only? The outputs come first.": (
        lambda q, k, v: reference_attention(q, k, v)[1]
    ),
    "Did you return raw similarities in place of the weights?": _raw,
    "Did you take the value with the highest weight? The output is the weighted sum of all.": _hard,
    "k.T turns all axes: use k.transpose(-2, -1), which leaves the leading ones in their place.": (
        lambda q, k, v: q @ k.permute(*range(k.ndim - 1, -1, -1))
    ),
    "Does it work for exactly three axes? Count from the end: transpose(-2, -1) and @ take any "
    "number of leading axes.": _three_axes,
    "torch.bmm takes exactly three axes: the operator @ takes any number of leading axes.": _batches,
    "Does exp() overflow? Subtract the largest similarity of each row first, or use torch.softmax.": (
        layer(soften=bare)
    ),
    "Did you subtract one maximum for all? A row far below it becomes 0 / 0: each row needs its "
    "own.": layer(soften=_one_maximum),
}


_SIZES = dict(n_q=3, n_x=5, d=4, d_v=2)
attention = Exercise(
    "attention",
    tolerance=5e-3,
    because="Similarities around 1000 in single precision have errors of 0.0002.",
    make=attention_arguments,
    reference=reference_attention,
    likely=_ATTENTION,
    cases=[
        *standard_cases(
            lambda batch, **sizes: attention_arguments((batch,), **sizes),
            dict(batch=2, n_q=3, n_x=4, d=5, d_v=6),
            dict(batch=4, n_q=4, n_x=4, d=9, d_v=9),
        ),
        *cases_of(
            attention_arguments,
            {
                "one sequence without a batch": dict(leading=(), **_SIZES),
                "four axes": dict(leading=(2, 3), **_SIZES),
                "similarities around 1000 and -1000": dict(leading=(2,), apart=True, **_SIZES),
            },
        ),
    ],
    forbid=("attention", "Attention", *LIBRARY),
    idea="Queries are compared with keys; the values are summed with the weights that result.",
    see=("06", "Queries, keys and values"),
)
