"""Hidden checks: an exercise on inputs that students do not see, and the one letter of a poll.

A check has two halves. The *probe* (`seqcourse.check.grade.probe`) runs beside the student's code: it is
given the inputs, calls the answer and hands over plain arrays. The *verdict*
(`seqcourse.check.grade.verdict`) runs where the student's code cannot reach: it makes the inputs from a
secret seed, asks the oracle, and says what is wrong. Nothing but a `request` with the inputs goes to the
probe; how they are made, the reference and the likely mistakes stay here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from seqcourse.check.calls import kinds
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.inputs import packed
from seqcourse.check.calls.naming import WRITTEN
from seqcourse.check.calls.recording import poll_verdict
from seqcourse.check.exercise import Exercise

Arguments = dict[str, Any]
Found = Mapping[str, numpy.ndarray]
# The share of a grade cell's points when only some cases come out right.
ALL_OR_NOTHING = "all"
BY_CASE = "by case"


@dataclass(frozen=True)
class HiddenCheck:
    """The hidden check behind one grade cell.

    cell: the grade cell, by its nbgrader name.
    exercise: what is checked.
    cases: the kind of input in the student's words -> what the exercise's `make` is called with. Or a
        function of the seed, when the cases must be chosen; it gives their seeds, too.
    see: chapter and section to read again, such as ("03", "The encoder reads in both directions").
    share: ALL_OR_NOTHING, or BY_CASE for partial credit: each case is worth the same.
    seconds: of processor time that all calls may take together. Recording what runs can make a loop
        over many small operations five times as slow.
    """

    cell: str
    exercise: Exercise
    cases: Mapping[str, Arguments] | Callable[[int], Mapping[str, Arguments]]
    see: tuple[str, str] = ("", "")
    share: str = ALL_OR_NOTHING
    seconds: float = 120.0

    def __post_init__(self) -> None:
        importable(self.exercise.record)
        if self.share == BY_CASE and self.exercise.judge_all:
            raise ValueError(f"The check of {self.cell} judges all cases at once: it has no shares.")

    @property
    def answer(self) -> str:
        """The name that the student's code gives to the answer."""
        return self.exercise.name

    @property
    def forbid(self) -> tuple[str, ...]:
        return tuple(self.exercise.forbid)

    def choose(self, seed: int) -> dict[str, Arguments]:
        """The cases with their seeds: kind of input -> what `make` is called with."""
        if callable(self.cases):
            return dict(self.cases(seed))
        cases = dict(self.cases)
        if self.exercise.once_more:
            first, sizes = next(iter(cases.items()))
            cases[f"{first}, {kinds.WORDS[kinds.AGAIN]}"] = sizes
        return {kind: {"seed": seed + 1000 * k, **case} for k, (kind, case) in enumerate(cases.items())}

    def make(self, chosen: Mapping[str, Arguments]) -> dict[str, Arguments]:
        """The arguments of every call: kind of input -> value by name."""
        made = {kind: self.exercise.make(**case) for kind, case in chosen.items()}
        return made if self.exercise.judge_all else kinds.varied(made, self.exercise.excused)

    def request(self, made: Mapping[str, Arguments]) -> dict[str, Any]:
        """All that the probe is told; the calls as bytes, since numbers should arrive as they are."""
        calls = [{"given": given, "gradient": self.exercise.trained(given)} for given in made.values()]
        return {
            "answer": self.answer,
            "record": importable(self.exercise.record),
            "seconds": self.seconds,
            "calls": packed(calls),
        }

    def judge_case(self, found: Found, given: Arguments, prefix: str) -> None:
        """Raise Mistake when one case came out wrong."""
        gradient, written = self.exercise.trained(given), found.get(WRITTEN)
        self.exercise.judge_case(found, given, self.answer, prefix, gradient, written=written)


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

    def make(self, chosen: Mapping[str, Arguments]) -> dict[str, Arguments]:
        return {}

    def request(self, made: Mapping[str, Arguments]) -> dict[str, Any]:
        return {"answer": self.answer, "poll": True, "seconds": self.seconds}

    def judge_letter(self, found: Found) -> None:
        """Raise Mistake unless the letter is the right one."""
        if "answer" not in found:
            raise Mistake(f"{self.answer} is not answered.")
        poll_verdict(self.answer, found["answer"], self.right)


Check = HiddenCheck | Poll


def importable(function: Callable[..., Any]) -> str:
    """Where the probe finds a function again: "seqcourse.check.calls.recording:record"."""
    place = f"{function.__module__}:{function.__qualname__}"
    if not re.fullmatch(r"seqcourse\.check\.(calls\.recording|calls\.modules|inside\.\w+):\w+", place):
        raise ValueError(
            f"{place} should be a function at the top of a module of seqcourse.check.inside: the probe "
            "imports it where the student's code runs, and sees nothing else of an assignment's checks."
        )
    return place
