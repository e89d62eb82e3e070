"""The language of hidden checks: what is called, with which inputs, against which oracle.

    HiddenCheck(
        "final_states-grade",
        "final_states",
        ps2.final_arguments,
        {
            "sentences of different lengths": dict(batch=5, time=6, h=3),
            "a single sentence": dict(batch=1, time=4, h=2),
        },
        ps2.reference_final_states,
        likely=ps2.FINAL_STATES,
        gradient=["states"],
        see=("03", "The encoder reads in both directions"),
    )

A check has two halves. The *probe* (`seqcourse.check.probe`) runs beside the student's code: it makes
the inputs from a seed, calls the answer and hands over plain arrays. The *verdict*
(`seqcourse.check.verdict`) runs where the student's code cannot reach: it makes the same inputs,
asks the oracle, and says what is wrong. Only a `request`, made of plain words and numbers, goes to
the probe; the reference, the likely mistakes and the judge stay here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from seqcourse.check.compare import Likely, Mistake
from seqcourse.check.modules import judge_module, record_module
from seqcourse.check.recording import judge, poll_verdict, record

Arguments = dict[str, Any]
Found = Mapping[str, numpy.ndarray]
# The share of a grade cell's points when only some cases come out right.
ALL_OR_NOTHING = "all"
BY_CASE = "by case"


@dataclass(frozen=True)
class HiddenCheck:
    """The hidden check behind one grade cell.

    cell: the grade cell, by its nbgrader name.
    answer: the name that the student's code gives to the answer.
    make: makes the arguments of one call by name, make(**case, seed=...). Both halves call it, so it
        must be importable from the package, which is no secret: the secret is the seed.
    cases: the kind of input in the student's words -> what `make` is called with. A function of the
        seed when the cases must be chosen (it runs with the verdict only, and gives the seeds itself).
    reference: the oracle; called with the arguments that `make` made.
    likely: mistakes that people make, tried when the result is wrong.
    gradient: the arguments whose gradients are compared too, for every case or by the case's kind.
    forbid: names of which the answer may use none, since they are the answer.
    see: chapter and section to read again, such as ("03", "The encoder reads in both directions").
    share: ALL_OR_NOTHING, or BY_CASE for partial credit: each case is worth the same.
    record: another way to call the answer and write down what it did; importable like `make`.
        `seqcourse.check.modules.record_module` is the one for classes.
    judge: another way to judge one case: judge(found, given, prefix) raises Mistake.
    judge_all: another way to judge all cases at once: judge_all(found, {kind: given}) where the
        arrays of case number k begin with "k.".
    seconds: how long all calls may take together.
    """

    cell: str
    answer: str
    make: Callable[..., Arguments]
    cases: Mapping[str, Arguments] | Callable[[int], Mapping[str, Arguments]]
    reference: Callable[..., Any] | None = None
    likely: Sequence[Likely] = ()
    gradient: Sequence[str] | Mapping[str, Sequence[str]] = ()
    forbid: Sequence[str] = ()
    see: tuple[str, str] = ("", "")
    hint: str = ""
    tolerance: float | None = None
    share: str = ALL_OR_NOTHING
    record: Callable[..., Found] = record
    judge: Callable[[Found, Arguments, str], None] | None = None
    judge_all: Callable[[Found, Mapping[str, Arguments]], None] | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        for function in (self.make, self.record):
            importable(function)
        if not (self.reference or self.judge or self.judge_all):
            raise ValueError(f"The check of {self.cell} should have a reference or a judge.")
        if self.share == BY_CASE and self.judge_all:
            raise ValueError(f"The check of {self.cell} judges all cases at once: it has no shares.")

    def choose(self, seed: int) -> dict[str, Arguments]:
        """The cases with their seeds: kind of input -> what `make` is called with."""
        if callable(self.cases):
            return dict(self.cases(seed))
        return {
            kind: {"seed": seed + 1000 * k, **case} for k, (kind, case) in enumerate(self.cases.items())
        }

    def gradients_of(self, kind: str) -> tuple[str, ...]:
        """The arguments whose gradients are compared in a case."""
        if isinstance(self.gradient, Mapping):
            return tuple(self.gradient.get(kind, ()))
        return tuple(self.gradient)

    def request(self, chosen: Mapping[str, Arguments]) -> dict[str, Any]:
        """All that the probe is told: where things are, and with which numbers."""
        return {
            "answer": self.answer,
            "make": importable(self.make),
            "record": importable(self.record),
            "seconds": self.seconds,
            "calls": bool(self.forbid),
            "cases": [
                {"arguments": case, "gradient": self.gradients_of(kind)} for kind, case in chosen.items()
            ],
        }

    def judge_case(self, found: Found, given: Arguments, prefix: str, kind: str) -> None:
        """Raise Mistake when one case came out wrong."""
        if self.judge:
            self.judge(found, given, prefix)
            return
        judge_with = judge_module if self.record is record_module else judge
        judge_with(
            self.answer,
            found,
            given,
            self.reference,
            self.likely,
            prefix,
            self.gradients_of(kind),
            hint=self.hint,
            tolerance=self.tolerance,
        )


@dataclass(frozen=True)
class Poll:
    """The check behind a poll: one letter is right."""

    cell: str
    answer: str
    right: str
    see: tuple[str, str] = ("", "")
    forbid: tuple[str, ...] = ()
    seconds: float = 10.0

    def choose(self, seed: int) -> dict[str, Arguments]:
        return {}

    def request(self, chosen: Mapping[str, Arguments]) -> dict[str, Any]:
        return {"answer": self.answer, "poll": True, "seconds": self.seconds, "cases": []}

    def judge_letter(self, found: Found) -> None:
        """Raise Mistake unless the letter is the right one."""
        if "answer" not in found:
            raise Mistake(f"{self.answer} is not answered.")
        poll_verdict(self.answer, found["answer"], self.right)


Check = HiddenCheck | Poll


def importable(function: Callable[..., Any]) -> str:
    """Where the probe finds a function again: "seqcourse.check.ps2:final_arguments"."""
    place = f"{function.__module__}:{function.__qualname__}"
    if not re.fullmatch(r"seqcourse\.check(\.\w+)*:\w+", place):
        raise ValueError(
            f"{place} should be a function at the top of a module of seqcourse.check: the probe imports "
            "it where the student's code runs, and sees nothing else."
        )
    return place
