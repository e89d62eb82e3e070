"""Exercise 11: positions that turn, and heads that share their keys and values."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


def rotate_arguments(
    batch: int,
    n: int,
    d: int,
    first: int = 0,
    far: int = 1,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `rotate`: vectors, and positions that begin at `first` and are `far` apart."""
    return {
        **normal({"x": (batch, n, d)}, seed=seed, dtype=dtype),
        "positions": first + far * torch.arange(n),
    }


def reference_rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Each pair of coordinates turned by its angle, (B, N, D)."""
    return functional.rotate(x, positions.to(x.dtype))


SINGLE = "Angles may be computed in single precision."
rotate = Exercise(
    "rotate",
    tolerance=5e-4,
    because=SINGLE,
    make=rotate_arguments,
    reference=reference_rotate,
    cases={
        **standard_cases(dict(batch=2, n=5, d=8), dict(batch=4, n=4, d=4)),
        "positions from further on": dict(batch=2, n=3, d=6, first=40, far=3),
        "a single pair of coordinates": dict(batch=2, n=4, d=2),
    },
    forbid=("rotate",),
)


def step_arguments(
    batch: int,
    heads: int,
    groups: int,
    past: int,
    d: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `grouped_step`: one token's queries, keys and values, and the cache before it.

    scale: of the similarities.
    """
    sizes = {
        "q": (batch, heads, d),
        "k": (batch, groups, d),
        "v": (batch, groups, d),
        "past_k": (batch, groups, past, d),
        "past_v": (batch, groups, past, d),
    }
    drawn = normal(sizes, seed=seed, dtype=dtype)
    return drawn | {"q": scale * drawn["q"]}


def reference_grouped_step(
    q: Tensor, k: Tensor, v: Tensor, past_k: Tensor, past_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (B, H, D), and the cache with the new token, keys and values (B, G, T + 1, D) each."""
    here = torch.tensor([past_k.shape[2]], dtype=q.dtype)
    q, k = (functional.rotate(x[:, :, None], here) for x in (q, k))
    keys, values = torch.cat([past_k, k], 2), torch.cat([past_v, v[:, :, None]], 2)
    each = q.shape[1] // keys.shape[1]
    many = (x.repeat_interleave(each, dim=1) for x in (keys, values))
    return functional.attention(q, *many)[0][:, :, 0], keys, values


_SIZES = dict(heads=4, groups=2, past=3, d=6)
grouped_step = Exercise(
    "grouped_step",
    tolerance=1e-4,
    because=SINGLE,
    make=step_arguments,
    reference=reference_grouped_step,
    parts=("the outputs", "the keys", "the values"),
    cases={
        **standard_cases(dict(batch=2, **_SIZES), dict(batch=3, heads=6, groups=2, past=5, d=4)),
        "the first token of a text": dict(batch=2, heads=4, groups=2, past=0, d=6),
        "one group for all heads": dict(batch=2, heads=3, groups=1, past=4, d=4),
        "a group for each head": dict(batch=2, heads=3, groups=3, past=4, d=4),
    },
    forbid=("MultiHeadAttention", "multi_head_attention_forward", "MultiheadAttention"),
)
