"""Exercise 2: the learning rate of the paper, which climbs and then falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqcourse.check import core
from seqcourse.check.core import Case, Likely
from seqcourse.check.values import plainly

FORBIDDEN = {"warmup_rate": ("Trainer", "lr_scheduler")}
TOLERANCE = 1e-12  # the rates themselves are small


def rate_arguments(
    step: int, width: int, warmup: int, moving: str = "step", seed: int = 0
) -> dict[str, Any]:
    """Arguments of `warmup_rate`; the seed moves the step, the warm-up, or both together."""
    by = seed % 5
    return {
        "step": step + (by if moving != "warmup" else 0),
        "width": width + seed % 3,
        "warmup": warmup + (by if moving != "step" else 0),
    }


def reference_warmup_rate(step: int, width: int, warmup: int) -> float:
    """The learning rate of a step, counted from 1."""
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


SMALLER = (
    "Did you take the larger of the two, or one of them alone? The rate is the smaller of the two: min."
)

WARMUP_RATE = [
    Likely(
        SMALLER,
        lambda step, width, warmup: width**-0.5 * max(step**-0.5, step * warmup**-1.5),
    ),
    Likely(SMALLER, lambda step, width, warmup: width**-0.5 * step**-0.5),
    Likely(SMALLER, lambda step, width, warmup: width**-0.5 * step * warmup**-1.5),
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
        "Is the exponent of warmup minus one half? It is minus three halves.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step * warmup**-0.5),
    ),
    Likely(
        "Is the exponent of warmup minus one? It is minus three halves.",
        lambda step, width, warmup: width**-0.5 * min(step**-0.5, step / warmup),
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
        "Do the steps after the top count from there? The root is that of the whole step.",
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
    if callable(student):
        core.forbid("warmup_rate", core.calls(student), FORBIDDEN["warmup_rate"])
    steps = {
        "the first example, a step on the way up": (2, 16, 9),
        "the first step": (1, 64, 25),
        "the top, step = warmup": (9, 16, 9),
        "a step after the top": (30, 16, 9),
        "a step far after the top": (4000, 512, 100),
        "another width": (7, 10, 20),
    }
    cases = [Case(label, lambda given=given: rate_arguments(*given)) for label, given in steps.items()]
    core.check_function(
        "warmup_rate",
        plainly(student) if callable(student) else student,
        plainly(reference_warmup_rate),
        cases,
        [Likely(mistake.question, plainly(mistake.answer)) for mistake in WARMUP_RATE],
        tolerance=TOLERANCE,
    )
