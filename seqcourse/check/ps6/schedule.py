"""Exercise 2: the learning rate of the paper, which climbs and then falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqcourse.check import core
from seqcourse.check.core import Case, Likely

FORBIDDEN = {"warmup_rate": ("seqcourse.train", "lr_scheduler")}
TOLERANCE = 1e-12  # the rates themselves are small


def rate_arguments(
    step: int, width: int, warmup: int, moving: str = "step", seed: int = 0
) -> dict[str, Any]:
    """Arguments of `warmup_rate`; the seed moves the step, or the top together with it."""
    by = seed % 5
    return {
        "step": step + by,
        "width": width + seed % 3,
        "warmup": warmup + (by if moving == "both" else 0),
    }


def reference_warmup_rate(step: int, width: int, warmup: int) -> float:
    """The learning rate of a step, counted from 1."""
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


WARMUP_RATE = [
    Likely(
        "Did you take the larger of the two? It is the smaller: min.",
        lambda step, width, warmup: width**-0.5 * max(step**-0.5, step * warmup**-1.5),
    ),
    Likely(
        "Does the rate not climb at the beginning? It is the smaller of two.",
        lambda step, width, warmup: width**-0.5 * step**-0.5,
    ),
    Likely(
        "Does the rate climb for ever? It is the smaller of two.",
        lambda step, width, warmup: width**-0.5 * step * warmup**-1.5,
    ),
    Likely(
        "Is the width missing? The whole is divided by the root of the width.",
        lambda step, width, warmup: min(step**-0.5, step * warmup**-1.5),
    ),
    Likely(
        "Did you multiply by the root of the width? Divide by it.",
        lambda step, width, warmup: width**0.5 * min(step**-0.5, step * warmup**-1.5),
    ),
    Likely(
        "Did you divide by the width itself? Divide by its root.",
        lambda step, width, warmup: min(step**-0.5, step * warmup**-1.5) / width,
    ),
    Likely(
        "Is the exponent of warmup -0.5? It is -1.5: so the two meet at step = warmup.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step * warmup**-0.5),
    ),
    Likely(
        "Is the exponent of warmup -1? It is -1.5: so the two meet at step = warmup.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step / warmup),
    ),
    Likely(
        "Is the sign of warmup's exponent lost? It is -1.5.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step * warmup**1.5),
    ),
    Likely(
        "Did you add 1 to the step? It is counted from 1 already.",
        lambda step, width, warmup: reference_warmup_rate(step + 1, width, warmup),
    ),
    Likely(
        "Did you subtract 1 from the step? It is counted from 1: the top is at step = warmup.",
        lambda step, width, warmup: reference_warmup_rate(step - 1, width, warmup),
    ),
    Likely(
        "Does the rate stay at the top? Behind it it falls with the root of the step.",
        lambda step, width, warmup: reference_warmup_rate(min(step, warmup), width, warmup),
    ),
    Likely(
        "Does the rate fall like 1 / step? It falls with the root of the step.",
        lambda step, width, warmup: width**-0.5 * min(1 / step, step * warmup**-1.5),
    ),
    Likely(
        "Do the steps behind the top count from there? The root is that of the whole step.",
        lambda step, width, warmup: (
            width**-0.5 * (step * warmup**-1.5 if step <= warmup else (step - warmup) ** -0.5)
        ),
    ),
    Likely(
        "Is the square of the step in it? Up to the top the rate grows in a straight line.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step**2 * warmup**-2.5),
    ),
]


def warmup_rate(student: Callable[..., float]) -> None:
    """Check exercise 2."""
    steps = {
        "the first example, a step on the way up": (2, 16, 9),
        "the first step": (1, 64, 25),
        "the top, step = warmup": (9, 16, 9),
        "a step behind the top": (30, 16, 9),
        "a step far behind the top": (4000, 512, 100),
        "another width": (7, 10, 20),
    }
    cases = [Case(label, lambda given=given: rate_arguments(*given)) for label, given in steps.items()]
    core.check_function(
        "warmup_rate",
        student,
        reference_warmup_rate,
        cases,
        WARMUP_RATE,
        forbidden=FORBIDDEN["warmup_rate"],
        tolerance=TOLERANCE,
    )
