"""Requests to try changed versions of an answer, see `seqcourse.check.inside.changed`.

The inputs are those of the exercise's self-check, and the first example with large numbers.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.recording import quiet
from seqcourse.check.calls.values import Given
from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import importable
from seqcourse.check.inside import changed

MOST_CALLS = 8
LARGE, LARGE_LABEL = 100.0, "the first example with numbers 100 times as large"
SINGLE = "a batch of 1"
# Calls that show little of their own, but tell whether a change matters anywhere.
_SIDE = ("tensors that are not contiguous", "float32", LARGE_LABEL)
MOST_WORDS = 60  # characters of an argument that is written out


@dataclass(frozen=True)
class Call:
    """One call: its label, the arguments in words, and whether a question may be about it.

    like: the number of the call that this one makes with other numbers. Where the two differ, what
        happens depends on the numbers, and a reader who sees only sizes cannot know it.
    """

    label: str
    sizes: str
    asked: bool
    given: Mapping[str, Any]
    like: int | None = None


def calls_of(exercise: Exercise) -> list[Call]:
    """The calls of an exercise, the first example first."""
    with quiet():
        made = [(case.label, case.make()) for case in exercise.cases[:MOST_CALLS]]
    if exercise.is_class:  # an object is called once
        made = [(label, {**given, "calls": given["calls"][:1]}) for label, given in made]
    if made and not exercise.is_class and _is_varied(made[0][1]):
        made.append((LARGE_LABEL, _each_tensor(made[0][1], lambda value: LARGE * value)))
    calls = [
        Call(label, sizes(exercise, given), not label.startswith(_SIDE), given) for label, given in made
    ]
    others = [
        Call(
            f"{call.label if number else 'the first example'} with other {what}",
            call.sizes,
            False,
            new,
            number,
        )
        for number, call in enumerate(calls)
        if call.asked and _is_varied(call.given)
        for what, new in (
            ("numbers", _turned(call.given)),
            ("signs", _each_tensor(call.given, torch.neg)),
        )
    ]
    return calls + others


def _turned(given: Given) -> Mapping[str, Any]:
    """The same with the numbers in another order, each tensor's by another number of places."""
    steps = itertools.count(1)
    return _each_tensor(given, lambda value: value.roll(next(steps), -1) if value.ndim else value)


def _is_varied(given: Any) -> bool:
    """Whether there is a tensor of other numbers than whole ones."""
    if isinstance(given, Mapping):
        return any(map(_is_varied, given.values()))
    if type(given) in (list, tuple):
        return any(map(_is_varied, given))
    return _is_floating(given)


def _each_tensor(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A value whose floating tensors were changed, also those inside dicts, lists and tuples."""
    if isinstance(value, Mapping):
        return {name: _each_tensor(item, change) for name, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_each_tensor(item, change) for item in value)
    return change(value) if _is_floating(value) else value


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def sizes(exercise: Exercise, given: Given) -> str:
    """The arguments in words: "q (2, 3, 5), mask (3, 4), eps = 0.5"."""
    if exercise.is_class:
        built = ", ".join(f"{name}={value!r}" for name, value in given["build"].items())
        return f"built with {built or 'no arguments'}, called with {_listed(given['calls'][0])}"
    return _listed(given)


def _listed(given: Given) -> str:
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
    return f"{name} (a function)" if callable(value) else ""


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
        "seen": [k for k, call in enumerate(calls) if k == 0 or call.like == 0],
        "budget": budget,
        "seconds": budget + 10,
    }
