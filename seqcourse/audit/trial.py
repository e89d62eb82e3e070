"""Try one answer on one hidden check: whether it is accepted, and how far its numbers are from right."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqcourse.audit import forms
from seqcourse.audit.in_process import Space, handed_over
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.margin import Distance, noted
from seqcourse.check.calls.payload import unpack
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.probe import BROKE
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import BY_CASE, HiddenCheck
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class Trial:
    """What a check said of an answer.

    distances: of every comparison with a right result; a check may compare several for each case.
    """

    accepted: bool
    message: str
    distances: tuple[Distance, ...] = ()

    @property
    def error(self) -> float:
        """The largest error; 0 if nothing was compared."""
        return max((distance.error for distance in self.distances), default=0.0)

    @property
    def wrong_by_numbers(self) -> bool:
        """Whether a number is too far from the right one: a tolerance decided, and no shape or error."""
        return any(1 < distance.ratio < float("inf") for distance in self.distances)


def measuring(check: HiddenCheck) -> HiddenCheck:
    """The check without names for mistakes, and with every case compared, also after a wrong one."""
    check = replace(check, exercise=replace(check.exercise, likely=()))
    return check if check.exercise.judge_all else replace(check, share=BY_CASE)


def try_in(judge: Judge, form: str, space: Space, folder: Path) -> Trial | None:
    """Probe in a process of its own, and judge; None if the answer does not run on the second device.

    It runs there if it makes its own tensors where its inputs are. No exercise asks for that.
    """
    if form != forms.SECOND:
        return judged(judge, *handed_over(judge.request, space, folder))
    place = f"{forms.moved.__module__}:{forms.moved.__qualname__}"
    data, ending = handed_over({**judge.request, "place": place}, space, folder)
    if data is not None:
        names = unpack(data)
        if BROKE in names or any(name.endswith(".error") for name in names):
            return None
    return judged(judge, data, ending)


def judged(judge: Judge, data: bytes | None, ending: str = "") -> Trial:
    """Judge what a probe handed over."""
    with noted() as distances:
        verdict = judge.verdict(data, ending)
    return Trial(verdict.share >= 1, verdict.sentence, tuple(distances))


def judge_in(plain: Judge, form: str) -> Judge | None:
    """A judge with the inputs of another one in a form; None if the form changes nothing, or the
    exercise has no right result for it.
    """
    if form == forms.AS_MADE:
        return plain
    exercise = plain.check.exercise
    if form in forms.ROUNDED and exercise.fixed_precision:
        return None
    if form == forms.EXPANDED and not exercise.reference:
        return None
    try:
        judge = forms.in_form(plain, form)
    except CourseError:
        return None
    if form == forms.SECOND:
        return judge if forms.can_move(judge.given()) else None
    return judge if forms.differs(judge.given(), plain.given()) else None


def self_check(exercise: Exercise, student: Any) -> str:
    """What the self-check says of an answer: "" if it accepts it."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exercise(student, ask=False)
    except Mistake as mistake:
        return str(mistake)
    except Exception as error:  # an answer may raise anything
        return f"{type(error).__name__}: {error}"
    return ""
