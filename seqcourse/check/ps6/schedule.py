"""Exercise 2: the learning rate of the paper, which climbs and then falls."""

from __future__ import annotations

from typing import Any

from seqcourse.check.exercise import Exercise


def rate_arguments(
    step: int, width: int, warmup: int, moving: str = "step", seed: int = 0
) -> dict[str, Any]:
    """Arguments of `warmup_rate`; the seed moves the step, the warm-up, or both together."""
    by = seed % 29
    return {
        "step": step + (by if moving != "warmup" else 0),
        "width": width + seed % 31,
        "warmup": warmup + (by if moving != "step" else 0),
    }


def reference_warmup_rate(step: int, width: int, warmup: int) -> float:
    """The learning rate of a step, counted from 1."""
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


warmup_rate = Exercise(
    "warmup_rate",
    make=rate_arguments,
    reference=reference_warmup_rate,
    cases={
        "the first example, a step on the way up": dict(step=2, width=16, warmup=9),
        "the first step": dict(step=1, width=64, warmup=25),
        "the top, step = warmup": dict(step=9, width=16, warmup=9),
        "the last step before the top": dict(step=15, width=24, warmup=16),
        "a step after the top": dict(step=30, width=16, warmup=9),
        "a step far after the top": dict(step=4000, width=512, warmup=100),
        "another width": dict(step=7, width=10, warmup=20),
    },
    forbid=("Trainer", "torch.optim.lr_scheduler"),
)
