"""Exercise 5: multi-head attention with one projection for all heads."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse import functional
from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.ps5.heads import reference_merge_heads, reference_split_heads

LIBRARY = ("MultiheadAttention", "multi_head_attention_forward", "MultiHeadAttention")

WEIGHTS = ("w_in", "b_in", "w_out", "b_out")
Pair = tuple[Tensor, Tensor]


def drawn_weights(width: int, seed: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Projections of a layer, W_Q, W_K and W_V one above the other: similarities are a few units wide,
    so that no softmax is even and none is saturated."""
    sizes = {
        "w_in": (3 * width, width),
        "b_in": (3 * width,),
        "w_out": (width, width),
        "b_out": (width,),
    }
    drawn = normal(sizes, seed)
    for name in ("w_in", "w_out"):
        drawn[name] = drawn[name] / math.sqrt(width)
    return {name: value.to(dtype) for name, value in drawn.items()}


def multi_head_arguments(
    batch: int,
    time: int,
    heads: int,
    d: int,
    keys: int | None = None,
    mask: str = "none",
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `multi_head`; d is the width of one head. With `keys` there is a memory.

    mask: "none", "causal" (N, M), "padding" (B, 1, 1, M): the last sentence is the shortest, "heads"
    (H, N, M): one for each head, or "each" (B, H, N, M).
    """
    width = heads * d
    x = normal({"x": (batch, time, width)}, seed, dtype)["x"]
    memory = None if keys is None else normal({"m": (batch, keys, width)}, seed + 1, dtype)["m"]
    size = time if keys is None else keys
    masks = {
        "none": None,
        "causal": functional.causal_mask(time, size - time) if size >= time else None,
        "padding": functional.length_mask((size - torch.arange(batch)).clamp(min=1), size)[
            :, None, None
        ],
        "heads": _some((heads, time, size), seed + 3),
        "each": _some((batch, heads, time, size), seed + 3),
    }
    weights = drawn_weights(width, seed + 2, dtype)
    return {"x": x, "memory": memory, **weights, "heads": heads, "mask": masks[mask]}


def _some(shape: tuple[int, ...], seed: int) -> Tensor:
    """A mask (..., N, M) that hides about half of a row, never all of it."""
    rows = torch.arange(shape[-2])
    mask = normal({"mask": shape}, seed)["mask"] > 0
    mask[..., rows, (rows + 1) % shape[-1]] = False
    mask[..., rows, rows % shape[-1]] = True
    return mask


def reference_multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None) -> Pair:
    """Outputs (B, N, D) and weights (B, H, N, M)."""
    memory = x if memory is None else memory
    (w_q, w_k, w_v), (b_q, b_k, b_v) = w_in.chunk(3), b_in.chunk(3)
    made = linear(x, w_q, b_q), linear(memory, w_k, b_k), linear(memory, w_v, b_v)
    q, k, v = (reference_split_heads(part, heads) for part in made)
    y, weights = functional.attention(q, k, v, mask, need_weights=True)
    return linear(reference_merge_heads(y), w_out, b_out), weights


multi_head = Exercise(
    "multi_head",
    make=multi_head_arguments,
    reference=reference_multi_head,
    likely={
        "memory may be None: then keys and values are made of x too.": stopping(
            "NoneType|must be Tensor, not None", lambda x, memory, *rest: memory is None
        )
    },
    cases={
        **standard_cases(dict(batch=2, time=6, heads=5, d=4), dict(batch=3, time=2, heads=2, d=2)),
        "one head": dict(batch=2, time=3, heads=1, d=4, seed=7),
        "a causal mask": dict(batch=2, time=4, heads=2, d=3, mask="causal", seed=7),
        "cross-attention": dict(batch=2, time=3, heads=2, d=4, keys=5, seed=7),
        "cross-attention to fewer keys": dict(batch=2, time=4, heads=2, d=2, keys=3, seed=7),
        "cross-attention with padding": dict(
            batch=3, time=2, heads=2, d=3, keys=4, mask="padding", seed=7
        ),
        "padding in self-attention": dict(batch=3, time=4, heads=3, d=2, mask="padding", seed=7),
        "cross-attention with a mask (N, M)": dict(
            batch=3, time=3, heads=2, d=2, keys=5, mask="causal", seed=7
        ),
        "a mask per head": dict(batch=2, time=4, heads=2, d=2, mask="heads", seed=7),
        "a mask per sentence and head": dict(batch=2, time=3, heads=3, d=2, keys=4, mask="each", seed=7),
    },
    forbid=LIBRARY,
)
