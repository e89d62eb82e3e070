"""Requests to try changed versions of an answer, see `seqcourse.check.inside.changed`.

The inputs are those of the exercise's self-check, and the first example with large numbers.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import importable
from seqcourse.check.inside import changed
from seqcourse.check.recording import quiet

MOST_CALLS = 8
LARGE, LARGE_LABEL = 100.0, "the first example with numbers 100 times as large"
# The first example with its numbers in another order: what differs there depends on the numbers, and a
# reader who sees only sizes cannot know it.
OTHER_LABEL = "the first example with other numbers"
SINGLE = "a batch of 1"
# Calls that show little of their own, but tell whether a change matters anywhere.
_SIDE = ("tensors that are not contiguous", "float32", LARGE_LABEL, OTHER_LABEL)
MOST_WORDS = 60  # characters of an argument that is written out


@dataclass(frozen=True)
class Call:
    """One call: its label, the arguments in words, and whether a question may be about it."""

    label: str
    sizes: str
    asked: bool
    given: Mapping[str, Any]


def calls_of(exercise: Exercise) -> list[Call]:
    """The calls of an exercise, the first example first."""
    with quiet():
        made = [(case.label, case.make()) for case in exercise.cases[:MOST_CALLS]]
    if exercise.is_class:  # an object is called once
        made = [(label, {**given, "calls": given["calls"][:1]}) for label, given in made]
    if made:
        steps = itertools.count(1)  # each tensor by another number of places
        turned = _each_tensor(
            made[0][1], lambda value: value.roll(next(steps), -1) if value.ndim else value
        )
        made.append((OTHER_LABEL, turned))
    if made and not exercise.is_class and any(map(_is_floating, made[0][1].values())):
        made.append((LARGE_LABEL, _each_tensor(made[0][1], lambda value: LARGE * value)))
    return [
        Call(label, sizes(exercise, given), not label.startswith(_SIDE), given) for label, given in made
    ]


def _each_tensor(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A value whose floating tensors were changed, also those inside dicts, lists and tuples."""
    if isinstance(value, Mapping):
        return {name: _each_tensor(item, change) for name, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_each_tensor(item, change) for item in value)
    return change(value) if _is_floating(value) else value


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def sizes(exercise: Exercise, given: Mapping[str, Any]) -> str:
    """The arguments in words: "q (2, 3, 5), mask (3, 4), eps = 0.5"."""
    if exercise.is_class:
        built = ", ".join(f"{name}={value!r}" for name, value in given["build"].items())
        return f"built with {built or 'no arguments'}, called with {_listed(given['calls'][0])}"
    return _listed(given)


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (_argument(name, value) for name, value in given.items())))


def _argument(name: str, value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{name} {tuple(value.shape)}" if value.ndim else f"{name} = {value.item():g}"
    plain = isinstance(value, (bool, int, float, str, type(None), list, tuple, dict, set))
    if plain and "tensor" not in repr(value) and len(repr(value)) <= MOST_WORDS:
        return f"{name} = {value!r}"
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, Tensor) for part in value):
        return (
            f"{name} with {len(value)} tensors {', '.join(str(tuple(part.shape)) for part in value[:3])}"
        )
    return ""


def request(
    exercise: Exercise, calls: Sequence[Call], versions: Sequence[str], marked: str, budget: float
) -> dict[str, Any]:
    """All that the sandbox is told; `versions` and `marked` are sources, see `changed.run`."""
    return {
        "system": f"{changed.__name__}:{changed.run.__name__}",
        "answer": exercise.name,
        "record": importable(exercise.record),
        "calls": pickle.dumps([dict(call.given) for call in calls]),
        "versions": list(versions),
        "marked": marked,
        "seen": [k for k, call in enumerate(calls) if call.label == OTHER_LABEL or k == 0],
        "budget": budget,
        "seconds": budget + 10,
    }
