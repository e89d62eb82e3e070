"""Exercise 8: how sure one may be that one classifier is better than another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, cases_of

Three = tuple[float, float, float]


def interval_arguments(
    many: int, rounds: int, better: float = 0.1, alike: float = 0.8, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `paired_interval`: what two classifiers found of `many` texts, and drawn texts.

    better: by how much more often the first is right.  alike: how often both do the same.
    """
    generator = torch.Generator().manual_seed(seed)
    same = torch.rand(many, generator=generator) < alike
    common, one, other = torch.rand(3, many, generator=generator)
    return {
        "one": torch.where(same, common, one) < 0.5 + better,
        "other": torch.where(same, common, other) < 0.5,
        "draws": torch.randint(many, (rounds, many), generator=generator),
    }


def _interval(
    one: Tensor,
    other: Tensor,
    draws: Tensor,
    *,
    whole: Callable[[Tensor], Tensor] = lambda gaps: gaps.mean(),
    resampled: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda one, other, draws: (one - other)[
        draws
    ].mean(dim=1),
    cut: float = 0.025,
    ends: Callable[[Tensor, int], tuple[Tensor, Tensor]] = lambda gaps, k: (gaps[k], gaps[-1 - k]),
    scale: float = 100.0,
) -> Three:
    """Difference, low and high in percentage points; the options make mistakes."""
    one, other = one.double(), other.double()
    gaps = resampled(one, other, draws).sort().values
    low, high = ends(gaps, int(cut * len(gaps)))
    return tuple(scale * float(value) for value in (whole(one - other), low, high))


def reference_paired_interval(one: Tensor, other: Tensor, draws: Tensor) -> Three:
    """The difference of two classifiers, and the middle 95 % of what resampling makes of it."""
    return _interval(one, other, draws)


def _with(**mistake: Any) -> Callable[..., Any]:
    return lambda one, other, draws: _interval(one, other, draws, **mistake)


def _apart(one: Tensor, other: Tensor, draws: Tensor) -> Tensor:
    return one[draws].mean(dim=1) - other[draws.flip(0)].mean(dim=1)


_LIKELY = {
    "Are all 5 % cut off on each side, or one end counted from the wrong side?": (
        _with(ends=lambda gaps, k: (gaps[k], gaps[-k - 2])),
        _with(ends=lambda gaps, k: (gaps[k], gaps[-max(1, k)])),
        _with(ends=lambda gaps, k: (gaps[k - 1], gaps[-k])),
    ),
    "Is the size of the differences taken? They have a sign.": _with(
        resampled=lambda one, other, draws: (one - other)[draws].mean(dim=1).abs()
    ),
}

paired_interval = Exercise(
    "paired_interval",
    make=interval_arguments,
    reference=reference_paired_interval,
    likely=_LIKELY,
    cases=cases_of(
        interval_arguments,
        {
            "the first example": dict(many=40, rounds=200),
            "a first classifier that is worse": dict(many=60, rounds=100, better=-0.2, seed=1),
            "rounds that do not divide by 40": dict(many=300, rounds=159, seed=2),
            "fewer than 40 rounds": dict(many=20, rounds=15, seed=3),
            "a single round": dict(many=20, rounds=1, seed=7),
            "more rounds than texts": dict(many=12, rounds=400, better=0.3, seed=4),
            "more texts than rounds": dict(many=2000, rounds=60, seed=6),
            "two that always agree": dict(many=20, rounds=80, better=0.0, alike=1.0, seed=5),
        },
    ),
    tolerance=7e-5,
    because="Means in single precision are good enough.",
    idea="Resampling the texts that two classifiers were asked about says how sure a difference is.",
    see=("12", "Fine-tune: few labels, and an auxiliary loss"),
)
