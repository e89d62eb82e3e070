"""Exercises 1 and 2: similarities of many queries at once, and the attention layer's formula."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases

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


similarities = Exercise(
    "similarities",
    make=similarities_arguments,
    reference=reference_similarities,
    cases={
        **standard_cases(dict(batch=2, n_q=3, n_x=4, d=5), dict(batch=4, n_q=4, n_x=4, d=9)),
        "one query, large vectors": dict(batch=2, n_q=1, n_x=4, d=5, scale=1e4),
    },
    forbid=LIBRARY,
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


_SIZES = dict(n_q=3, n_x=5, d=4, d_v=2)
attention = Exercise(
    "attention",
    tolerance=5e-3,
    because="Similarities around 1000 in single precision have errors of 0.0002.",
    make=attention_arguments,
    reference=reference_attention,
    cases={
        **standard_cases(
            dict(leading=(2,), n_q=3, n_x=4, d=5, d_v=6),
            dict(leading=(4,), n_q=4, n_x=4, d=9, d_v=9),
            alone=dict(leading=(1,)),
        ),
        "one sequence without a batch": dict(leading=(), **_SIZES),
        "four axes": dict(leading=(2, 3), **_SIZES),
        "similarities around 1000 and -1000": dict(leading=(2,), apart=True, **_SIZES),
    },
    forbid=("attention", "Attention", *LIBRARY),
)
