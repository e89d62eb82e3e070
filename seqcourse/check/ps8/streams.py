"""Exercise 7: co-attention, two streams that read each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind, standard_cases

Weights = tuple[Tensor, Tensor, Tensor]


def _mask(lengths: Sequence[int] | None, batch: int, size: int) -> Tensor:
    ends = torch.tensor([size] * batch if lengths is None else list(lengths))
    return torch.arange(size) < ends[:, None]


def streams_arguments(
    batch: int,
    n: int,
    m: int,
    d_x: int = 4,
    d_y: int = 3,
    width: int = 2,
    n_lengths: Sequence[int] | None = None,
    m_lengths: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `co_attention`: two streams with their masks, and three matrices for each reader.

    n_lengths, m_lengths: how many vectors are real in each sequence of x and y; None for all.
    """
    drawn = normal({"x": (batch, n, d_x), "y": (batch, m, d_y)}, seed, dtype)
    w_x = normal({"q": (d_x, width), "k": (d_y, width), "v": (d_y, d_x)}, seed + 1, dtype)
    w_y = normal({"q": (d_y, width), "k": (d_x, width), "v": (d_x, d_y)}, seed + 2, dtype)
    return {
        **drawn,
        "x_mask": _mask(n_lengths, batch, n),
        "y_mask": _mask(m_lengths, batch, m),
        "w_x": tuple(w_x.values()),
        "w_y": tuple(w_y.values()),
    }


def _reads(x: Tensor, y: Tensor, mask: Tensor, w: Weights) -> tuple[Tensor, Tensor]:
    """What x reads in y, (B, N, D_X), and with which weights, (B, N, M)."""
    return functional.attention(x @ w[0], y @ w[1], y @ w[2], mask[:, None], need_weights=True)


def reference_co_attention(x, y, x_mask, y_mask, w_x, w_y):
    """Each stream reads the other as it was: x (B, N, D_X), y (B, M, D_Y) and both weights."""
    to_x, a = _reads(x, y, y_mask, w_x)
    to_y, b = _reads(y, x, x_mask, w_y)
    return x + to_x, y + to_y, a, b


_SIZES = (
    "Queries come from the stream that reads, keys and values from the other: x @ W_Q, y @ W_K, y @ W_V."
)
_EXCHANGED = "x reads y under y_mask, y reads x under x_mask: the mask belongs to what is read."


co_attention = Exercise(
    "co_attention",
    make=streams_arguments,
    reference=reference_co_attention,
    likely={
        f"Do the sizes not fit? {_SIZES}": stopping(
            "shapes cannot be multiplied|Expected size for first two dimensions"
        ),
        f"Does a mask not fit? {_EXCHANGED} [:, None] makes (B, M) a (B, 1, M), for every query.": (
            stopping("non-singleton dimension [01]|must be broadcastable|mask")
        ),
        "Does what is read not fit the stream it is added to? x reads y @ W_V, which is as wide as "
        "x.": stopping("non-singleton dimension 2"),
    },
    cases={
        **standard_cases(
            dict(batch=2, n=3, m=4), dict(batch=4, n=5, m=2, d_x=3, d_y=6, width=4, seed=10)
        ),
        "all sizes equal": dict(batch=4, n=4, m=4, d_x=4, d_y=4, width=4, seed=20),
        "a single vector in y": Kind(
            dict(batch=2, n=4, m=1, seed=50), "Does a squeeze() or [0] drop an axis of size 1?"
        ),
        "padding in y": dict(batch=3, n=4, m=5, m_lengths=[5, 2, 3], seed=30),
        "padding in both": dict(batch=3, n=5, m=4, n_lengths=[2, 5, 3], m_lengths=[4, 1, 3], seed=40),
    },
    forbid=("CoAttention", "MultiheadAttention"),
)
