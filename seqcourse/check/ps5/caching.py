"""Exercise 6: the next vectors of a layer whose earlier keys and values are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse import functional
from seqcourse.check.calls.compare import Mistake, is_right, outcome
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import judge
from seqcourse.check.calls.values import Found, Given, plainly, result
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.inside import ps5 as inside
from seqcourse.check.ps5.heads import reference_merge_heads, reference_split_heads
from seqcourse.check.ps5.projecting import LIBRARY, WEIGHTS, drawn_weights


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


def reference_cached_step(x, past, w_in, b_in, w_out, b_out, heads) -> tuple[Tensor, list[Tensor]]:
    """One step: the new vectors look at the cache and at themselves; the longer cache comes back."""
    q, k, v = (reference_split_heads(part, heads) for part in linear(x, w_in, b_in).chunk(3, dim=-1))
    keys, values = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    mask = functional.causal_mask(x.shape[1], past[0].shape[2])
    y, _ = functional.attention(q, keys, values, mask, need_weights=True)
    return linear(reference_merge_heads(y), w_out, b_out), [keys, values]


_SHARED = (
    "cached_step: one step is right, but where two continuations share the cache that came back, they "
    "are not. Does a step write into what the caller keeps, or remember another call? Make new tensors."
)


def judge_continued(found: Found, given: Given, prefix: str) -> None:
    """Judge one step, then two continuations of its cache."""
    wanted = ("x", "past", *WEIGHTS)
    judge(cached_step, found, given, prefix, wanted)
    _judge_shared(result(found, f"{prefix}continued"), given)


def _judge_shared(got: Any, given: Given) -> None:
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
    look=_look,
    cases={
        **standard_cases(
            dict(batch=2, time=1, heads=5, d=4, past=6), dict(batch=3, time=1, heads=2, d=2, past=2)
        ),
        "an empty cache": dict(batch=2, time=1, heads=2, d=3, past=0, seed=7),
        "several vectors at once": dict(batch=2, time=3, heads=2, d=4, past=4, seed=7),
        "several vectors and an empty cache": dict(batch=2, time=4, heads=2, d=3, past=0, seed=7),
    },
    forbid=LIBRARY,
    variants={"continued": {"judge": judge_continued, "record": inside.record_continued}},
)
