"""Exercise 8, second half: the alignment error rate of a corpus."""

from __future__ import annotations

from typing import Any

import numpy

from seqcourse.check.exercise import Exercise
from seqcourse.check.ps3.linking import Link


def error_arguments(sentences: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `alignment_error_rate`: for every sentence three sets of links, two of them empty."""
    rng = numpy.random.default_rng(seed)
    predicted, sure, possible = [], [], []
    for number in range(sentences):
        source, target = (int(n) for n in rng.integers(3, 8, size=2))
        right = {(int(rng.integers(source)), t) for t in range(target)}
        allowed = {(int(rng.integers(source)), int(rng.integers(target))) for _ in range(3)}
        wrong = {(int(rng.integers(source)), t) for t in range(target) if rng.random() < 0.6}
        found = {link for link in right | allowed if rng.random() < 0.6} | wrong
        predicted.append(found if number != 2 else set())
        sure.append(right if number != 3 else set())
        possible.append(right | allowed)
    return {"predicted": predicted, "sure": sure, "possible": possible}


def reference_alignment_error_rate(
    predicted: list[set[Link]], sure: list[set[Link]], possible: list[set[Link]]
) -> float:
    """AER of a corpus, counts summed before dividing."""
    in_sure = sum(len(a & s) for a, s in zip(predicted, sure, strict=True))
    in_possible = sum(len(a & p) for a, p in zip(predicted, possible, strict=True))
    return 1 - (in_sure + in_possible) / (sum(map(len, predicted)) + sum(map(len, sure)))


def _handmade() -> dict[str, Any]:
    sure = {(0, 0), (1, 0), (2, 1), (3, 2)}
    return {
        "predicted": [{(1, 0), (2, 1), (3, 2), (2, 2), (1, 1)}],
        "sure": [sure],
        "possible": [sure | {(1, 1)}],
    }


alignment_error_rate = Exercise(
    "alignment_error_rate",
    make=error_arguments,
    reference=reference_alignment_error_rate,
    cases={
        "the first example": _handmade,
        "one sentence with possible links": dict(sentences=1, seed=4),
        "several sentences": dict(sentences=5, seed=5),
        "many sentences": dict(sentences=40, seed=6),
    },
    forbid=("alignment_error_rate", "AlignmentError"),
)
