"""Record a call of a student's function as plain arrays by name, and judge the recording.

A probe calls the student's function (`record`). A verdict compares the recording with the reference
(`judge`) and raises Mistake with a reason. Only the arrays leave the student's process.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy
import torch
from torch import Tensor

from seqcourse.check.calls.compare import Likely, Mistake, compare, is_right, outcome
from seqcourse.check.calls.gradients import compare_gradients, place_in_words, traced
from seqcourse.check.calls.inputs import copy, floating
from seqcourse.check.calls.values import Found, Given, arrays, plainly, result
from seqcourse.check.calls.watch import Watch, paused

# A record's flag: a loss that should be a number is a tensor that a gradient could still go through.
GRAPH = "graph"
# Of the first case: what another call with the same inputs gives.
AGAIN, FIRST = "again", ("", "0.")
MEET = "Do the sequences of a batch meet? In an einsum the letter of the batch stands in each part."
KEPT = "Does something stay from one call to the next: a list, a counter, a tensor that is filled again?"
MOST_MIXED = 3


def after(given: Given, prefix: str = "") -> Found:
    """The inputs after the call, for `unchanged`. Functions and generators are left out."""
    left = {name: value for name, value in given.items() if _has_numbers(value)}
    flags = {
        f"{prefix}asks.{name}": value.requires_grad and value.is_leaf
        for name, value in left.items()
        if isinstance(value, Tensor)
    }
    return arrays(**{f"{prefix}after.{name}": value for name, value in left.items()}, **flags)


def _mixed(reference: Callable[..., Any], given: Given) -> list[Likely]:
    """Mistakes in which the sequences of a batch meet: arguments are summed over its axis."""
    sizes = [
        len(value) if isinstance(value, Tensor) and value.ndim > 1 and value.is_floating_point() else 0
        for value in given.values()
    ]
    batch = next(filter(None, sizes), 0)
    shared = [place for place, size in enumerate(sizes) if size == batch > 1][:MOST_MIXED]

    def mixing(places: tuple[int, ...]) -> Callable[..., Any]:
        return lambda *values: reference(
            *(v.sum(0).expand(v.shape) if place in places else v for place, v in enumerate(values))
        )

    return [
        Likely(MEET, mixing(places))
        for many in range(1, len(shared) + 1)
        for places in itertools.combinations(shared, many)
    ]


def _has_numbers(value: Any) -> bool:
    return not callable(value) and not isinstance(value, torch.Generator)


def unchanged(name: str, found: Found, given: Given, prefix: str = "") -> None:
    """Raise Mistake if the inputs recorded by `after` differ from `given`."""
    for key, before in after(given, prefix).items():
        floating = before.dtype.kind == "f"
        if key in found and numpy.array_equal(found[key], before, equal_nan=floating):
            continue
        kind, argument = key.removeprefix(prefix).split(".")[:2]
        kind = "set" if key.endswith(".set") else kind
        raise Mistake(f"{name} changes its input {argument}: {_CHANGED[kind]}")


_CHANGED = {
    "after": "the caller still needs the old numbers. Did you use += or an operation whose name ends in "
    "_ (add_, mul_)? Make a new tensor.",
    "set": "the caller still needs the old set. Did you use &=, add() or remove()? Make a new set, such "
    "as a & b.",
    "asks": "it turns on requires_grad for the caller's tensor. Make a copy first: "
    "h.detach().clone().requires_grad_().",
}


def record(
    student: Callable[..., Any], given: Given, prefix: str = "", gradient: Sequence[str] = ()
) -> Found:
    """Call a student's function for a probe; record its result, the inputs afterwards, and gradients.

    One call gives the result and the gradients; the first case gets a second one, without gradients.
    """
    kept = copy(dict(given))
    wanted = floating({name: given[name] for name in gradient})

    def plain() -> Found:
        got = outcome(student, tuple(given.values()))
        return arrays(**{f"{prefix}result": got}) | after(given, prefix)

    found = plain() if not gradient or prefix in FIRST else {}
    if not gradient:
        return found
    traces = outcome(traced, (student, kept, gradient))
    if isinstance(traces, Exception):
        found, reached = found or plain(), dict.fromkeys(wanted, traces)
        found |= arrays(**{f"{prefix}{AGAIN}": outcome(student, tuple(kept.values()))})
    else:
        reached, again, handed = traces
        name = AGAIN if found else "result"
        found = arrays(**{f"{prefix}{name}": again}) | (found or after(handed, prefix))
    return found | arrays(**{f"{prefix}gradient.{place}": item for place, item in reached.items()})


def record_losses(call: Callable[..., tuple[Any, Any]], given: Given, prefix: str = "") -> Found:
    """Record a training, `call(*arguments)` = (losses, weights): losses may be numbers or tensors ()."""
    graphs = []

    def training(*arguments: Any) -> tuple[Any, Any]:
        losses, weights = call(*arguments)
        if isinstance(losses, (list, tuple)):
            graphs.extend(isinstance(z, Tensor) and z.requires_grad for z in losses)
            losses = [float(z) if isinstance(z, (Tensor, float)) else z for z in losses]
        return losses, weights

    found = record(training, given, prefix)
    return found | arrays(**{f"{prefix}{GRAPH}": any(graphs)})


def observe(
    record: Callable[..., Found],
    student: Callable[..., Any],
    given: Given,
    prefix: str = "",
    gradient: Sequence[str] = (),
) -> tuple[dict[str, numpy.ndarray], dict[str, str]]:
    """What `record` writes down of a call, and the names of all that ran in it, `Watch.ran_in`.

    What runs inside a callable that the answer is given, such as a model, is no doing of the answer's.
    Where `record` has a function `before`, that gets the answer first, unwatched: a training is eight
    times as fast so, and what it does is seen when the trained answer is called.
    """
    student = record.before(student, given) if hasattr(record, "before") else student
    given = {name: paused(value) if callable(value) else value for name, value in given.items()}
    more = {"gradient": gradient} if gradient else {}
    with Watch() as watch:
        found = record(student, given, prefix, **more)
    return dict(found), watch.ran_in


class Asked(Protocol):
    """What of an exercise (`check.exercise.Exercise`) judges a call."""

    name: str
    reference: Callable[..., Any]
    likely: Sequence[Likely]
    hint: str
    tolerance: float | None
    parts: Sequence[str]


def judge(
    exercise: Asked,
    found: Found,
    given: Given,
    prefix: str = "",
    gradient: Sequence[str] = (),
    *,
    label: str = "",
    hint: str = "",
) -> None:
    """Judge what `record` stored under the same prefix; raise Mistake if it is wrong.

    label: what messages call the answer; its name without.
    hint: a question for the case that no likely mistake explains it; the exercise's without.
    """
    name, reference, tolerance = label or exercise.name, exercise.reference, exercise.tolerance
    unchanged(name, found, given, prefix)
    got = result(found, f"{prefix}result")
    # Convert the reference's and the likely mistakes' results as the student's were converted, so that
    # 2.0 and tensor(2.0) are equal.
    right, expected, _ = traced(reference, given, gradient)
    expected = plainly(lambda: expected)()
    likely = [*exercise.likely, *_mixed(reference, given)]
    likely = [Likely(mistake.question, plainly(mistake.answer)) for mistake in likely]
    told = dict(hint=hint or exercise.hint, tolerance=tolerance, parts=exercise.parts)
    compare(name, got, expected, given.values(), likely, **told)
    if found.get(f"{prefix}{GRAPH}"):
        raise Mistake(
            f"{name}: the losses are right, but a float is asked for, and a tensor came with all that "
            "it was computed from, which stays in memory as long as the loss does. Use loss.item()."
        )
    if gradient:
        reached = {place_in_words(key): result(found, f"{prefix}gradient.{key}") for key in right}
        right = {place_in_words(key): value for key, value in right.items()}
        compare_gradients(name, reached, right, tolerance)
    if gradient and prefix in FIRST:
        again = result(found, f"{prefix}{AGAIN}")
        if not is_right(again, expected, tolerance):
            raise Mistake(f"{name}: another call with the same inputs gives another result. {KEPT}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings and stderr: nbgrader gives 0 points for either."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def poll_verdict(name: str, answer: numpy.ndarray, right: str) -> None:
    """Raise Mistake unless the answer to a poll is the right letter. None means not answered."""
    letter = str(answer)
    if letter == "None":
        raise Mistake(f"{name} is not answered.")
    if letter != right:
        said = f"the answer {letter!r}" if len(letter) == 1 and letter.isalpha() else "the answer"
        raise Mistake(f"{name}: {said} is not the right one.")
