"""Exercise 5: multi-head attention with one projection for all heads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse import functional
from seqcourse.check.compare import AnyError, Likely
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.ps5.heads import reference_merge_heads, reference_split_heads
from seqcourse.check.recording import MEET

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


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Pair:
    return functional.attention(q, k, v, mask, need_weights=True)


def _layer(
    *,
    split: Callable[[Tensor, int], Tensor] = reference_split_heads,
    merge: Callable[[Tensor], Tensor] = reference_merge_heads,
    attend: Callable[..., Pair] = _attend,
    order: str = "qkv",
    source: str = "xmm",
    project: Callable[..., Tensor] = linear,
    finish: Callable[..., Any] = lambda y, weights, w_out, b_out: (linear(y, w_out, b_out), weights),
) -> Callable[..., Any]:
    """Multi-head attention with one part put in another's place.

    order: which part of w_in makes queries, keys and values.
    source: what each of them is made of, x or the memory.
    """

    def multi_head(x, memory, w_in, b_in, w_out, b_out, heads, mask=None):
        made_of = {"x": x, "m": x if memory is None else memory}
        parts = dict(zip(order, zip(w_in.chunk(3), b_in.chunk(3), strict=True), strict=True))
        q, k, v = (
            split(project(made_of[letter], *parts[name]), heads)
            for name, letter in zip("qkv", source, strict=True)
        )
        y, weights = attend(q, k, v, mask)
        return finish(merge(y), weights, w_out, b_out)

    return multi_head


reference_multi_head = _layer()


def _scaled(divisor: Callable[[Tensor], float]) -> Callable[..., Pair]:
    """Attention with another divisor of the scores."""
    return lambda q, k, v, mask: _attend(q * (math.sqrt(q.shape[-1]) / divisor(q)), k, v, mask)


def _late(q, k, v, mask):
    weights = functional.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


def _masked(change: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The layer with another mask."""
    return _layer(attend=lambda q, k, v, mask: _attend(q, k, v, None if mask is None else change(mask)))


def _flat(mask: Tensor | None) -> bool:
    return mask is not None and mask.ndim == 2


def _needs_memory(x, memory, *rest):
    if memory is None:
        raise AnyError(r"NoneType|must be Tensor, not None")


def _softened(axis: int, invert: bool = False) -> Callable[..., Pair]:
    """Attention with a softmax over another axis, or with the mask inverted (NaN in empty rows)."""

    def attend(q, k, v, mask):
        e = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            e = e.masked_fill(mask if invert else ~mask, float("-inf"))
        weights = torch.softmax(e, dim=axis)
        return weights @ v, weights

    return attend


def _interleaved(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


_MULTI_HEAD = [
    Likely("memory may be None: then keys and values are made of x too.", _needs_memory),
    Likely(
        "Are the heads missing in the split? Here positions attend inside one vector: the shape should "
        "be (B, H, N, D / H), and attention is over axis -2.",
        _layer(split=lambda x, heads: x.unflatten(-1, (heads, -1)), merge=lambda y: y.flatten(2)),
    ),
    *(
        Likely("Is it one head only, as wide as the whole vector?", _layer(split=split, merge=merge))
        for split, merge in (
            (lambda x, heads: x[:, None], reference_merge_heads),
            (lambda x, heads: x, lambda y: y),
        )
    ),
    Likely(
        "Are the queries made of the memory too? They come from x; keys and values from the memory.",
        _layer(source="mmm"),
    ),
    Likely("Is the memory used at all? Keys and values are made of it.", _layer(source="xxx")),
    Likely("Are the values made of x? Keys and values both come from the memory.", _layer(source="xmx")),
    Likely("Are the keys made of x? Keys and values both come from the memory.", _layer(source="xxm")),
    Likely(
        "Are queries made of the memory, and keys and values of x? It is the other way round.",
        _layer(source="mxx"),
    ),
    *(
        Likely(
            "Are the rows of w_in taken in the wrong order? W_Q comes first, then W_K, then W_V.",
            _layer(order=order),
        )
        for order in ("qvk", "kqv", "kvq", "vkq", "vqk")
    ),
    Likely(
        "w_in is (3 D, D): one row for each coordinate of queries, keys and values. Multiply by its "
        "transpose: x @ w_in.T.",
        lambda x, memory, w_in, *rest: x @ w_in,
    ),
    Likely(
        MEET,
        _layer(attend=lambda q, k, v, mask: _attend(q, k.sum(0).expand(k.shape), v, mask)),
    ),
    Likely(
        "Is the mask the wrong way round? True means may attend.",
        _layer(attend=lambda q, k, v, mask: _attend(q, k, v, None if mask is None else ~mask)),
    ),
    Likely(
        "Is the mask the wrong way round? True means may attend.",
        _layer(attend=_softened(-1, invert=True)),
    ),
    Likely(
        "Is a mask of two axes taken for padding? It is (N, M), the same for all sentences, also where "
        "there is a memory.",
        lambda x, memory, *rest: reference_multi_head(
            x, memory, *rest[:-1], rest[-1][:, None, None] if _flat(rest[-1]) else rest[-1]
        ),
    ),
]


multi_head = Exercise(
    "multi_head",
    make=multi_head_arguments,
    reference=reference_multi_head,
    likely=_MULTI_HEAD,
    cases=[
        *standard_cases(
            multi_head_arguments,
            dict(batch=2, time=6, heads=5, d=4),
            dict(batch=3, time=2, heads=2, d=2),
        ),
        *cases_of(
            multi_head_arguments,
            {
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
                "a mask per sentence and head": dict(
                    batch=2, time=3, heads=3, d=2, keys=4, mask="each", seed=7
                ),
            },
        ),
    ],
    forbid=LIBRARY,
    idea="One projection makes the queries, keys and values of all heads; each head attends by itself.",
    see=("09", "One projection, reshaped"),
)
