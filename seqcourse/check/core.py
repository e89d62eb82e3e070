"""What every self-check does: call a student's function, compare, name the likely mistake.

The self-checks of an assignment (`seqcourse.check.ps1`, ...) call `check_function`. This module
also gathers what hidden checks use, so that they need one import only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from seqcourse.check.compare import (
    Likely,
    Mistake,
    compare,
    compare_gradients,
    describe,
    gradients,
    outcome,
    same,
)
from seqcourse.check.inputs import copy, drawn, noncontiguous, normal
from seqcourse.check.recording import (
    after,
    judge,
    poll_verdict,
    quiet,
    record,
    unchanged,
)
from seqcourse.check.using import calls, forbid
from seqcourse.check.values import arrays, result

__all__ = [
    "Case",
    "Likely",
    "Mistake",
    "after",
    "arrays",
    "calls",
    "check_function",
    "compare",
    "copy",
    "describe",
    "drawn",
    "forbid",
    "gradients",
    "judge",
    "noncontiguous",
    "normal",
    "poll_verdict",
    "polls",
    "quiet",
    "record",
    "result",
    "same",
    "standard_cases",
    "unchanged",
]


@dataclass(frozen=True)
class Case:
    """One call of a student's function.

    label: goes into "works for the first example, but not for LABEL".
    make: makes the arguments anew at every call, by name, in the order of the signature.
    hint: a question for the case that this call fails and no likely mistake explains it.
    """

    label: str
    make: Callable[[], dict[str, Any]]
    hint: str = ""


def standard_cases(
    make: Callable[..., dict[str, Any]], batch: Mapping[str, int], other: Mapping[str, int]
) -> list[Case]:
    """The five calls that most exercises share.

    make(dtype=..., **sizes) returns the arguments; `batch` is the first example's sizes (with the
    key "batch"), `other` are quite different sizes.
    """
    single = {**batch, "batch": 1}
    return [
        Case("the first example", lambda: make(**batch)),
        Case("other sizes", lambda: make(**other), "Is a size written into your code?"),
        Case("a batch of 1", lambda: make(**single), "Does a squeeze() or [0] drop the batch?"),
        Case(
            "tensors that are not contiguous (a transpose or a slice makes such tensors)",
            lambda: {name: noncontiguous(value) for name, value in make(**batch).items()},
            "Use reshape instead of view.",
        ),
        Case(
            "float32",
            lambda: make(**batch, dtype=torch.float32),
            "Create new tensors like the old ones: x.new_zeros(...), torch.zeros_like(x).",
        ),
    ]


def check_function(
    name: str,
    student: Callable[..., Any],
    reference: Callable[..., Any],
    cases: Sequence[Case],
    likely: Sequence[Likely] = (),
    *,
    gradient: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    tolerance: float | None = None,
) -> None:
    """Call `student` on every case and compare with `reference`; print a line when all is well.

    gradient: names of arguments that the gradient must reach, compared with the reference's.
    forbidden: names the exercise may not use, because they are its answer.

    Raises Mistake with the likeliest reason. NotImplementedError passes through: an exercise that
    is not solved yet is not a mistake.
    """
    if not callable(student):
        raise Mistake(f"{name} should be a function, but is {describe(student)}.")
    forbid(name, calls(student), forbidden)
    for index, case in enumerate(cases):
        given, kept = case.make(), case.make()
        got = outcome(student, tuple(given.values()))
        unchanged(name, after(given), kept)
        compare(
            name if index == 0 else f"{name} (right for the first example, wrong for {case.label})",
            got,
            reference(*case.make().values()),
            tuple(kept.values()),
            likely,
            hint=case.hint,
            tolerance=tolerance,
        )
    if gradient:
        given = cases[0].make()
        right = gradients(reference, given, gradient)
        reached = outcome(gradients, (student, given, gradient))
        if isinstance(reached, Exception):
            reached = dict.fromkeys(gradient, reached)
        compare_gradients(name, reached, right)
    labels = "gradients, " if gradient else ""
    print(f"✓ {name}: {len(cases)} calls, {labels}unchanged inputs: all as expected.")


def polls(options: Mapping[str, str], answers: Mapping[str, Any]) -> None:
    """Say which polls are answered, and never which are right.

    options: the letters of each poll, such as {"poll_1": "abc"}.

    Raises Mistake for an answer that is not one of the letters.
    """
    for name, letters in options.items():
        answer = answers.get(name)
        listed = ", ".join(f'"{letter}"' for letter in letters)
        if answer is None:
            print(f"{name}: no answer yet.")
        elif not isinstance(answer, str) or answer not in tuple(letters):
            raise Mistake(f"{name} should be one of {listed}, but is {answer!r}.")
        else:
            print(f"{name}: answered.")
