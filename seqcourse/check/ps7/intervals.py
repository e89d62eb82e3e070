"""Exercise 8: how sure one may be that one classifier is better than another."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise

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


def reference_paired_interval(one: Tensor, other: Tensor, draws: Tensor) -> Three:
    """The difference of two classifiers in percentage points, and the middle 95 % of what resampling
    makes of it.
    """
    gaps = 100 * (one.double() - other.double())
    means = gaps[draws].mean(dim=1).sort().values
    cut = int(0.025 * len(means))
    return float(gaps.mean()), float(means[cut]), float(means[-1 - cut])


paired_interval = Exercise(
    "paired_interval",
    make=interval_arguments,
    reference=reference_paired_interval,
    cases={
        "the first example": dict(many=40, rounds=200),
        "a first classifier that is worse": dict(many=60, rounds=100, better=-0.2, seed=1),
        "rounds that do not divide by 40": dict(many=300, rounds=159, seed=2),
        "fewer than 40 rounds": dict(many=20, rounds=15, seed=3),
        "a single round": dict(many=20, rounds=1, seed=7),
        "more rounds than texts": dict(many=12, rounds=400, better=0.3, seed=4),
        "more texts than rounds": dict(many=2000, rounds=60, seed=6),
        "two that always agree": dict(many=20, rounds=80, better=0.0, alike=1.0, seed=5),
    },
    tolerance=7e-5,
    because="Means in single precision are good enough.",
)
