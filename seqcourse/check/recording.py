"""What a probe writes down of a call, and what a verdict reads from it: plain arrays by name.

A probe calls the student's function (`record`, `calls`); a verdict compares what it wrote down with
an oracle (`judge`, `forbid`) and raises Mistake with a reason. The verdict needs nothing of the
student's process but the arrays.
"""

from __future__ import annotations

import contextlib
import dis
import io
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.compare import (
    Likely,
    Mistake,
    compare,
    compare_gradients,
    gradients,
    outcome,
)
from seqcourse.check.discreet import is_discreet
from seqcourse.check.inputs import copy
from seqcourse.check.values import arrays, plainly, result


def calls(function: Callable[..., Any]) -> numpy.ndarray:
    """The names that a function's code uses, as an array of strings.

    The helpers that stand beside it are looked into as well. Their own names are left out: a helper
    that somebody wrote is no call of the library's function of that name.
    """
    home, waiting = getattr(function, "__module__", None), [function]
    if isinstance(function, type):  # a class uses what its methods use
        waiting = [item for item in vars(function).values() if isinstance(item, types.FunctionType)]
    scope = getattr(waiting[0], "__globals__", {}) if waiting else {}
    found, seen = {str(home)}, set()
    while waiting:
        item = waiting.pop()
        code = item if isinstance(item, types.CodeType) else getattr(item, "__code__", None)
        if code is None or id(code) in seen:
            continue
        seen.add(id(code))
        named = [step for step in dis.get_instructions(code) if step.opcode in dis.hasname]
        attributes = {step.argval for step in named if step.opname not in _GLOBAL}
        beside = {step.argval: scope.get(step.argval) for step in named if step.opname in _GLOBAL}
        helpers = {  # functional.attention is not the helper `attention` that stands beside it
            used: helper
            for used, helper in beside.items()
            if isinstance(helper, types.FunctionType) and helper.__module__ == home
        }
        found.update(used for used in code.co_names if used not in helpers or used in attributes)
        waiting.extend(part for part in code.co_consts if isinstance(part, types.CodeType))
        waiting.extend(helpers.values())
    return numpy.array(sorted(found), dtype=str)


_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def forbid(name: str, used: Iterable[str], forbidden: Iterable[str]) -> None:
    """Raise Mistake when the names `used` by an answer hold one that is the answer itself."""
    forbidden = set(forbidden)
    for item in (str(word) for word in used):
        if forbidden and (item in forbidden or item.startswith("seqcourse.")):
            # A name that came from a student's process is told when it is one of ours.
            told = item if item in forbidden or not is_discreet() else "the package's own answer"
            raise Mistake(
                f"{name} uses {told}, which is the thing to build here. "
                "Write it from matrix products and elementwise functions."
            )


def after(given: Mapping[str, Any], prefix: str = "") -> dict[str, numpy.ndarray]:
    """The inputs as they are after the call, for `unchanged` (functions are left out)."""
    left = {name: value for name, value in given.items() if _has_numbers(value)}
    flags = {
        f"{prefix}asks.{name}": value.requires_grad
        for name, value in left.items()
        if isinstance(value, Tensor)
    }
    return arrays(**{f"{prefix}after.{name}": value for name, value in left.items()}, **flags)


def _has_numbers(value: Any) -> bool:
    return not callable(value) and not isinstance(value, torch.Generator)


def unchanged(
    name: str, found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str = ""
) -> None:
    """Raise Mistake when the inputs that came back in `after` are not those of `given`."""
    for key, before in after(given, prefix).items():
        floating = before.dtype.kind == "f"
        if key in found and numpy.array_equal(found[key], before, equal_nan=floating):
            continue
        kind, argument = key.removeprefix(prefix).split(".")[:2]
        kind = "set" if key.endswith(".set") else kind
        raise Mistake(f"{name} changes its input {argument}: {_CHANGED[kind]}")


_CHANGED = {
    "after": "whoever calls it still needs the old numbers. Did you write += or an operation that "
    "ends in _ (add_, mul_)? Make a new tensor.",
    "set": "whoever calls it still needs the old set. Did you write &=, add() or remove()? Make a new "
    "set, such as a & b.",
    "asks": "it switches requires_grad on for the caller's tensor. Make a copy first: "
    "h.detach().clone().requires_grad_().",
}


def record(
    student: Callable[..., Any],
    given: Mapping[str, Any],
    prefix: str = "",
    gradient: Sequence[str] = (),
) -> dict[str, numpy.ndarray]:
    """One call of a student's function for a probe: result, inputs afterwards, gradients."""
    kept = copy(dict(given))
    got = outcome(student, tuple(given.values()))
    found = arrays(**{f"{prefix}result": got}) | after(given, prefix)
    if gradient:
        reached = outcome(gradients, (student, kept, gradient))
        if isinstance(reached, Exception):
            reached = dict.fromkeys(gradient, reached)
        found |= arrays(**{f"{prefix}gradient.{name}": item for name, item in reached.items()})
    return found


def judge(
    name: str,
    found: Mapping[str, numpy.ndarray],
    given: Mapping[str, Any],
    reference: Callable[..., Any],
    likely: Iterable[Likely] = (),
    prefix: str = "",
    gradient: Sequence[str] = (),
    *,
    hint: str = "",
    tolerance: float | None = None,
) -> None:
    """Judge for a verdict what `record` wrote down under the same prefix; raise Mistake."""
    unchanged(name, found, given, prefix)
    got = result(found, f"{prefix}result")
    # Results of the oracle and of likely mistakes go the same way as the student's: so 2.0 and a
    # tensor of it are alike.
    expected = plainly(reference)(*copy(tuple(given.values())))
    likely = [Likely(mistake.question, plainly(mistake.answer)) for mistake in likely]
    compare(name, got, expected, given.values(), likely, hint=hint, tolerance=tolerance)
    if gradient:
        reached = {key: result(found, f"{prefix}gradient.{key}") for key in gradient}
        compare_gradients(name, reached, gradients(reference, given, gradient))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow warnings and what is written to stderr: nbgrader gives 0 for either."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def poll_verdict(name: str, answer: numpy.ndarray, right: str) -> None:
    """Raise Mistake unless the answer to a poll is the right letter (None is no answer)."""
    letter = str(answer)
    if letter == "None":
        raise Mistake(f"{name} is not answered.")
    if letter != right:
        said = f"the answer {letter!r}" if len(letter) == 1 and letter.isalpha() else "the answer"
        raise Mistake(f"{name}: {said} is not the right one.")
