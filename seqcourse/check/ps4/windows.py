"""Exercise 8: self-attention that looks no further than a few places."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.ps4.products import LAYERS, layer


def local_arguments(
    batch: int,
    n: int,
    d: int,
    d_v: int,
    width: int,
    hidden: bool = False,
    low: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `local_attention`.

    hidden: the last key is far above the others, also for queries that may not see it. low: all
    similarities are far below 0.
    """
    sizes = {"q": (batch, n, d), "k": (batch, n, d), "v": (batch, n, d_v)}
    given = normal(sizes, seed)
    if hidden:
        given["q"][..., 0] = 2000.0 * math.sqrt(d)
        given["k"][..., 0] = (torch.arange(n) == n - 1).double()
    if low:
        masked.set_far_apart(given["q"], given["k"])
    return {name: value.to(dtype) for name, value in given.items()} | {"width": width}


def _distance(q: Tensor) -> Tensor:
    """j - i, (N, N): how far behind query i key j stands."""
    places = torch.arange(q.shape[-2])
    return places[None] - places[:, None]


def reference_local_attention(q: Tensor, k: Tensor, v: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Outputs (B, N, D_V) and weights (B, N, N)."""
    return functional.attention(q, k, v, _distance(q).abs() <= width, need_weights=True)


def _looking(
    may: Callable[[Tensor, int], Tensor] = lambda off, width: off.abs() <= width,
    soften: Callable[[Tensor, Tensor], Tensor] = lambda e, mask: functional.softmax(e, mask=mask),
    scale: Callable[[Tensor, Tensor, Tensor], float] = lambda q, k, v: math.sqrt(q.shape[-1]),
) -> Callable[..., tuple[Tensor, Tensor]]:
    """A local attention with another window, softmax or divisor."""

    def attend(q: Tensor, k: Tensor, v: Tensor, width: int) -> tuple[Tensor, Tensor]:
        mask = may(_distance(q), width)
        return layer(scale, lambda e: soften(e, mask.expand(e.shape)))(q, k, v)

    return attend


def _blocks(off: Tensor, width: int) -> Tensor:
    block = torch.arange(len(off)) // max(1, width)
    return block[None] == block[:, None]


def _shared_beyond(e: Tensor, mask: Tensor) -> Tensor:
    """As if zeros stood on both sides: every row shares out its 1 over as many places as the widest."""
    inside = mask[0].sum(dim=-1, keepdim=True)
    return e.exp() * mask / ((e.exp() * mask).sum(-1, keepdim=True) + inside.max() - inside)


_LOCAL_ATTENTION = {
    "Is there a window at all? Query i sees keys i - width to i + width.": _looking(
        lambda off, width: off == off
    ),
    "Is the edge of the window left out? |i - j| = width is still inside.": _looking(
        lambda off, width: off.abs() < width
    ),
    "Is the window as wide as `width` in all? It reaches `width` places to either side.": (
        _looking(lambda off, width: off.abs() <= width // 2),
        _looking(lambda off, width: off.abs() <= width / 2),
    ),
    "Does a query look back only? The window reaches to both sides.": _looking(
        lambda off, width: (off <= 0) & (off >= -width)
    ),
    "Does a query look back without a limit? The window reaches `width` places to either side.": (
        _looking(lambda off, width: off <= width)
    ),
    "Does a query look ahead without a limit? The window reaches `width` places to either side.": (
        _looking(lambda off, width: off >= -width)
    ),
    "Does a query look ahead only? The window reaches to both sides.": _looking(
        lambda off, width: (off >= 0) & (off <= width)
    ),
    "Does the window reach less far ahead than back? A slice ends before its last number: "
    "k[:, i - width : i + width + 1].": _looking(lambda off, width: (off >= -width) & (off < width)),
    "Is the sequence cut into blocks? The window moves along with the query.": _looking(_blocks),
    "Is the window the wrong way round? Keys near the query count, those far away do not.": _looking(
        lambda off, width: off.abs() > width
    ),
    "Is the sequence closed to a ring? The window is cut off at both ends.": _looking(
        lambda off, width: (off + width) % len(off) <= 2 * width
    ),
    "Do places beyond the ends take a share of the weight? Every row sums to 1.": _looking(
        soften=_shared_beyond
    ),
    "Is a key left out that is the query's own? Query i sees key i too.": _looking(
        lambda off, width: (off.abs() <= width) & (off != 0)
    ),
    "Did you mask after the softmax? What is outside has already taken its share: the rows no "
    "longer sum to 1.": _looking(soften=lambda e, mask: e.softmax(-1) * mask),
    "Did you set the similarities outside to 0? exp(0) is 1: they still get a weight. Use -inf.": (
        _looking(soften=lambda e, mask: e.masked_fill(~mask, 0.0).softmax(-1))
    ),
    "Did you divide by the sum after masking the softmax? Where a key outside is far above the "
    "others nothing is left to divide: -inf comes before the softmax.": _looking(
        soften=lambda e, mask: (e.softmax(-1) * mask) / (e.softmax(-1) * mask).sum(-1, keepdim=True)
    ),
    masked.QUESTION: tuple(_looking(soften=mistake) for mistake in masked.MISTAKES),
    "Is the softmax over the queries? Each query's weights sum to 1: dim=-1.": _looking(
        soften=lambda e, mask: functional.softmax(e, -2, mask)
    ),
    "Is the division by the root of D missing?": _looking(scale=lambda q, k, v: 1.0),
    "Did you divide by D, or twice by its root? Once is right, and functional.attention does it.": (
        _looking(scale=lambda q, k, v: float(q.shape[-1]))
    ),
    "Did you return the weights first? The order is outputs, weights.": (
        lambda *arguments: reference_local_attention(*arguments)[::-1]
    ),
    "Are the weights missing in the result? functional.attention returns them when it is asked: "
    "need_weights=True.": (lambda *arguments: (reference_local_attention(*arguments)[0], None)),
    "Did you return the outputs only? The weights are asked for as well.": (
        lambda *arguments: reference_local_attention(*arguments)[0]
    ),
}


local_attention = Exercise(
    "local_attention",
    make=local_arguments,
    reference=reference_local_attention,
    likely=_LOCAL_ATTENTION,
    cases=[
        *standard_cases(
            local_arguments,
            dict(batch=2, n=8, d=3, d_v=4, width=3),
            dict(batch=5, n=5, d=5, d_v=5, width=1),
        ),
        *cases_of(
            local_arguments,
            {
                "a width of 0": dict(batch=2, n=4, d=3, d_v=2, width=0),
                "a window wider than the sequence": dict(batch=2, n=4, d=3, d_v=2, width=7),
                "a long sequence": dict(batch=1, n=20, d=3, d_v=2, width=2),
                "similarities far below 0": dict(batch=2, n=5, d=3, d_v=2, width=0, low=True),
                "keys outside that are far above the others": dict(
                    batch=2, n=9, d=3, d_v=2, width=2, hidden=True
                ),
            },
        ),
    ],
    forbid=("window_mask", "LocalAttention", *LAYERS),
    idea="A query that looks at its neighbours only costs as much in a long sequence as in a short one.",
    see=("07", "Local windows"),
)
