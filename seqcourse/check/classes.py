"""The self-check of an exercise whose answer is a class: build, give weights, call, compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from seqcourse.check import core
from seqcourse.check.compare import Likely, Mistake, describe
from seqcourse.check.modules import judge_module, record_module


def check_class(
    name: str,
    student: Callable[..., Any],
    reference: Callable[..., Any],
    cases: Sequence[core.Case],
    likely: Sequence[Likely] = (),
    *,
    gradient: Sequence[str] = (),
    forbidden: Sequence[str] = (),
) -> None:
    """Build an object of the student's class for every case, and compare what it does.

    cases: their `make` returns what `seqcourse.check.modules` describes: build, weights, calls.
    gradient: names of parameters that the gradient must reach, compared with the reference's.
    forbidden: names the exercise may not use, because they are its answer.

    Raises Mistake with the likeliest reason; NotImplementedError passes through.
    """
    if not isinstance(student, type):
        raise Mistake(f"{name} should be a class, but is {describe(student)}.")
    core.forbid(name, core.calls(student), forbidden)
    for index, case in enumerate(cases):
        given = case.make()
        found = record_module(student, given, gradient=gradient)
        judge_module(
            name if index == 0 else f"{name} (right for the first example, wrong for {case.label})",
            found,
            given,
            reference,
            likely,
            gradient=gradient,
            hint=case.hint,
        )
    print(f"✓ {name}: {len(cases)} objects, gradients, unchanged inputs: all as expected.")
