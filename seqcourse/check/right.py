"""The key to a worked answer: the right result of an exercise's self-check, in rounded form.

Two machines never give exactly the same numbers. So only sizes, whole numbers, texts and the magnitude
of each array count, in steps of 2 %. `shift` moves the steps, so that no magnitude lies near an edge.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy

from seqcourse.check.calls.compare import outcome
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.values import arrays

# So many calls of the self-check make the key.
CALLS = 2
STEPS, SHIFTS = 100, 10  # steps for a factor of 10; places for their edges
NOTHING = 1e-6  # a smaller magnitude may be a rounding error


class Checked(Protocol):
    """What of an exercise (`check.exercise.Exercise`) makes its key."""

    name: str
    reference: Callable[..., Any] | None
    cases: Sequence[Any]
    record: Callable[..., Any]

    @property
    def is_class(self) -> bool: ...


def key(exercise: Checked, shift: int) -> str:
    """The key in letters and digits.

    It is made from the right result. Where many results are right (drawn words, a rule of one's own),
    it is made from what the self-check calls the answer with.
    """
    told = [_told(name, array, shift) for name, array in _results(exercise)]
    return hashlib.sha256("\n".join([exercise.name, *told]).encode()).hexdigest()[:32]


def best_shift(exercise: Checked) -> int:
    """The shift that keeps every magnitude as far as possible from the edges of the steps."""
    places = [place for _, array in _results(exercise) if (place := _place(array)) is not None]

    def room(shift: int) -> float:
        past = [(place + shift / SHIFTS) % 1 for place in places]
        return round(min([min(part, 1 - part) for part in past], default=0.5), 3)

    return max(range(SHIFTS), key=room)


def _results(exercise: Checked) -> list[tuple[str, numpy.ndarray]]:
    """What the right answer returns, as plain arrays by name."""
    found: dict[str, numpy.ndarray] = {}
    for number, case in enumerate(exercise.cases[:CALLS]):
        given = case.make()
        if not exercise.reference:
            found |= arrays(**{f"{number}.{name}": value for name, value in given.items()})
        elif exercise.is_class:
            found |= exercise.record(exercise.reference, given, f"{number}.")
        else:
            values = tuple(copy(given).values())
            found |= arrays(**{f"{number}.result": outcome(exercise.reference, values)})
    return sorted(
        (name, array) for name, array in found.items() if not name.endswith((".error", ".other"))
    )


def _told(name: str, array: numpy.ndarray, shift: int) -> str:
    place = _place(array)
    if array.dtype.kind != "f":
        content = f"{array.tolist()}"
    else:
        content = "0" if place is None else f"{math.floor(place + shift / SHIFTS)}"
    return f"{name} {array.shape} {content}"


def _place(array: numpy.ndarray) -> float | None:
    """Where the magnitude of an array lies on a ruler of steps; None for no magnitude."""
    if array.dtype.kind != "f":
        return None
    numbers = numpy.abs(array[numpy.isfinite(array)].astype(float))
    magnitude = float(numbers.mean()) if numbers.size else 0.0
    return STEPS * math.log10(magnitude) if magnitude > NOTHING else None
