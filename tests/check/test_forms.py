"""A form of a result that the self-check accepts is accepted by the hidden checks, too.

A number may be Python's int or float, NumPy's, a tensor () or a bool. Which of them an answer returns
may depend on the input: a maximum that begins with the int 0 stays an int where nothing is larger.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor

from seqcourse.check import Mistake
from seqcourse.check.calls.payload import pack
from seqcourse.check.cards import load
from seqcourse.check.grade import verdict
from seqcourse.check.grade.probe import probe
from tests.check import test_assignments as assignments

SEEDS = (20_001, 7)


def _where(form: type, allowed: Callable[[float], bool]) -> Callable[[float], Any]:
    return lambda number: form(number) if allowed(number) else number


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "int for whole numbers": _where(int, lambda number: number == int(number)),
    "int for 0": _where(int, lambda number: number == 0),
    "bool for 0 and 1": _where(bool, lambda number: number in (0, 1)),
    "NumPy": lambda number: numpy.asarray(number)[()],
    "0-d tensor": torch.tensor,
    "float": float,
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "arrays for tensors": lambda value: value.detach().numpy() if isinstance(value, Tensor) else value,
    "lists for tuples": lambda value: list(value) if isinstance(value, tuple) else value,
    "tuples for lists": lambda value: tuple(value) if isinstance(value, list) else value,
    "float64": lambda value: value.double() if _is_of(value, torch.is_floating_point) else value,
    "float32": lambda value: value.float() if _is_of(value, torch.is_floating_point) else value,
    "0 and 1": lambda value: (
        value.long() if _is_of(value, lambda one: one.dtype == torch.bool) else value
    ),
}
# Why a self-check may refuse a form of a right number: a loss has to train, and a count is whole.
REASONS = ("no gradient reaches", "the gradient of", "should be a whole number")


def _is_of(value: Any, kind: Callable[[Tensor], bool]) -> bool:
    return isinstance(value, Tensor) and kind(value)


def _is_scalar(value: Tensor) -> bool:
    return not value.ndim


def _in_form(form: str, value: Any) -> Any:
    if type(value) in (tuple, list):
        value = type(value)(_in_form(form, part) for part in value)
    if form in WHOLE:
        return WHOLE[form](value)
    number = isinstance(value, (bool, int, float, numpy.generic)) or _is_of(
        value, lambda one: not one.ndim
    )
    plain = value.item() if number and hasattr(value, "item") else value
    return NUMBERS[form](plain) if number and math.isfinite(plain) else value


def _answer_in_form(form: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(answer)
    def in_form(*arguments: Any, **named: Any) -> Any:
        return _in_form(form, answer(*arguments, **named))

    return in_form


@functools.cache
def _judges(assignment: str, seed: int) -> list[verdict.Judge]:
    checks = load.load_checks(assignments.ROOT, assignment).CHECKS
    return [verdict.Judge(check, seed) for check in checks]


def _params() -> Iterator[Any]:
    for assignment in assignments.ASSIGNMENTS:
        space = assignments._namespace(assignment)
        for name in assignments._exercises(assignment):
            if not name.startswith("poll") and not isinstance(space[name], type):
                slow = [pytest.mark.nightly]
                yield pytest.param(
                    assignment, name, NUMBERS, SEEDS[:1], id=f"{assignment}-{name}-numbers"
                )
                yield pytest.param(assignment, name, WHOLE, SEEDS, id=f"{assignment}-{name}", marks=slow)


@pytest.mark.parametrize(("assignment", "exercise", "forms", "seeds"), list(_params()))
def test_a_form_that_the_self_check_accepts_is_accepted_by_the_hidden_checks(
    assignment, exercise, forms, seeds
):
    space = assignments._namespace(assignment)
    right, refused = space[exercise], []
    if forms is NUMBERS and not _returns_numbers(assignment, exercise, right):
        return
    check = assignments._cells(assignment)[f"{exercise}-check"].source
    for form in forms:
        space[exercise] = _answer_in_form(form, right)
        try:
            exec(compile(check, f"{exercise}-check", "exec"), dict(space))
        except Mistake as mistake:
            assert forms is WHOLE or any(reason in str(mistake) for reason in REASONS)
            continue
        for judge in (one for seed in seeds for one in _judges(assignment, seed)):
            if judge.check.answer == exercise:
                found = judge.verdict(pack(probe(judge.request, space)))
                refused += [f"{form}: {found.sentence}"] * (found.share < 1)
    assert not refused


def _returns_numbers(assignment: str, exercise: str, right: Callable[..., Any]) -> bool:
    """Whether a number is among what the answer returns in its self-check."""
    seen = []

    def looking(*arguments: Any, **named: Any) -> Any:
        result = right(*arguments, **named)
        parts = result if isinstance(result, (tuple, list)) else [result]
        seen.extend(isinstance(part, (bool, int, float)) or _is_of(part, _is_scalar) for part in parts)
        return result

    space = assignments._namespace(assignment) | {exercise: functools.wraps(right)(looking)}
    exec(assignments._cells(assignment)[f"{exercise}-check"].source, space)
    return any(seen)
