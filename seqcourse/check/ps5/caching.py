"""Exercise 6: the next vectors of a layer whose earlier keys and values are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse import functional
from seqcourse.check.compare import Mistake, is_right, outcome
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.inside import ps5 as inside
from seqcourse.check.ps5.heads import reference_merge_heads, reference_split_heads
from seqcourse.check.ps5.projecting import LIBRARY, WEIGHTS, drawn_weights
from seqcourse.check.recording import judge
from seqcourse.check.values import plainly, result


def cached_arguments(
    batch: int,
    time: int,
    heads: int,
    d: int,
    past: int,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `cached_step`: `time` new vectors after `past` known ones; d is a head's width."""
    width = heads * d
    known = normal({"k": (batch, heads, past, d), "v": (batch, heads, past, d)}, seed + 1, dtype)
    return {
        **normal({"x": (batch, time, width)}, seed, dtype),
        "past": list(known.values()),
        **drawn_weights(width, seed + 2, dtype),
        "heads": heads,
    }


def _join(old: Tensor, new: Tensor) -> Tensor:
    return torch.cat([old, new], dim=2)


def _step(
    *,
    join: Callable[[Tensor, Tensor], Tensor] = _join,
    look: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda old, new, both: both,
    keep: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda old, new, both: both,
    mask: Callable[[int, int], Tensor | None] = lambda size, past: functional.causal_mask(size, past),
    project: Callable[..., Tensor] = linear,
    order: tuple[int, int, int] = (0, 1, 2),
    scale_by: float = 0.0,
    split: Callable[[Tensor, int], Tensor] = reference_split_heads,
    merge: Callable[[Tensor], Tensor] = reference_merge_heads,
    finish: Callable[..., Any] = lambda y, k, v: (y, [k, v]),
    out: Callable[..., Tensor] = linear,
) -> Callable[..., Any]:
    """One step with a cache, with one part put in another's place.

    look, keep: which keys and values are attended to, and which returned: of old, new, both.
    order: which third of w_in makes queries, keys, values. scale_by: q times D / H to this power.
    """

    def cached_step(x, past, w_in, b_in, w_out, b_out, heads):
        parts = project(x, w_in, b_in).chunk(3, dim=-1)
        q, k, v = (split(parts[place], heads) for place in order)
        pairs = [(past[0], k), (past[1], v)]
        joined = [join(old, new) for old, new in pairs]
        keys, values = (look(*pair, both) for pair, both in zip(pairs, joined, strict=True))
        known = past[0].shape[2]
        q = q * q.shape[-1] ** scale_by
        y, _ = functional.attention(q, keys, values, mask(x.shape[1], known), need_weights=True)
        kept = [keep(*pair, both) for pair, both in zip(pairs, joined, strict=True)]
        return finish(out(merge(y), w_out, b_out), *kept)

    return cached_step


reference_cached_step = _step()


def _lengthened(old: Tensor, new: Tensor) -> Tensor:
    return torch.cat([new, old], dim=2)


_CACHED_STEP = {
    "Are the new keys and values put in front of the old ones? They come behind.": (
        _step(join=_lengthened),
        _step(join=_lengthened, mask=lambda size, past: None),
    ),
    "Is the past looked at? Keys and values are those of the cache and the new ones behind them.": (
        _step(look=lambda old, new, both: new, mask=lambda size, past: functional.causal_mask(size)),
        _step(
            look=lambda old, new, both: new,
            keep=lambda old, new, both: new,
            mask=lambda size, past: functional.causal_mask(size),
        ),
    ),
    "Are the rows of w_in taken in the wrong order? W_Q comes first, then W_K, then W_V.": tuple(
        _step(order=order) for order in permutations(range(3)) if order != (0, 1, 2)
    ),
    "Are the new keys joined before they are split into heads? The cache holds (B, H, T, D / H).": _step(
        join=lambda old, new: torch.cat([old, reference_merge_heads(new)], dim=1)
    ),
}


_SHARED = (
    "cached_step: one step is right, but where two continuations share the cache that came back, they "
    "are not. Does a step write into what the caller keeps, or remember another call? Make new tensors."
)


def judge_continued(found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str) -> None:
    """Judge one step, then two continuations of its cache."""
    wanted = ("x", "past", *WEIGHTS)
    judge("cached_step", found, given, reference_cached_step, cached_step.likely, prefix, wanted)
    _judge_shared(result(found, f"{prefix}continued"), given)


def _judge_shared(got: Any, given: Mapping[str, Any]) -> None:
    expected = plainly(lambda: inside.record_both(reference_cached_step, given))()
    if not is_right(got, expected):
        raise Mistake(_SHARED)


def _look(student: Callable[..., Any]) -> None:
    """Raise Mistake when the result is no pair of outputs and a pair, as later cells unpack it, or when
    a cache cannot be shared.
    """
    given = cached_arguments(2, 1, 3, 4, 5)
    got = outcome(student, tuple(given.values()))
    right = isinstance(got, (tuple, list)) and len(got) == 3
    if right and all(isinstance(part, Tensor) for part in got):
        raise Mistake(
            "cached_step should return two things, outputs and a cache [keys, values], but it returned "
            "three: y, [keys, values]."
        )
    given = cached_arguments(2, 1, 3, 4, 5)
    if not isinstance(got, Exception) and is_right(got, reference_cached_step(**given)):
        _judge_shared(outcome(inside.record_both, (student, given)), given)


cached_step = Exercise(
    "cached_step",
    make=cached_arguments,
    reference=reference_cached_step,
    likely=_CACHED_STEP,
    look=_look,
    cases=[
        *standard_cases(
            cached_arguments,
            dict(batch=2, time=1, heads=5, d=4, past=6),
            dict(batch=3, time=1, heads=2, d=2, past=2),
        ),
        *cases_of(
            cached_arguments,
            {
                "an empty cache": dict(batch=2, time=1, heads=2, d=3, past=0, seed=7),
                "several vectors at once": dict(batch=2, time=3, heads=2, d=4, past=4, seed=7),
                "several vectors and an empty cache": dict(
                    batch=2, time=4, heads=2, d=3, past=0, seed=7
                ),
            },
        ),
    ],
    forbid=LIBRARY,
    variants={"continued": {"judge": judge_continued, "record": inside.record_continued}},
    idea="Keys and values of earlier vectors do not change: a step computes those of the new ones only.",
    see=("08", "The key-value cache"),
)
