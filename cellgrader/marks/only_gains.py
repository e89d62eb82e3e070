"""Compare a mark with what an examination would make of it, and keep marks that a regrade would lower.

``--only-gains`` does not write a lower total. The decision holds for this version of the work: it is
kept in the history, so a later plain ``grade`` does not lower the mark either, whatever changed in
between. A new version counts as always, and ``--again`` writes the lower mark all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in, opened
from cellgrader.course.records import FAILED, GRADED, WITH_GRADE, Record, read_record, write_record
from cellgrader.errors import CourseError
from cellgrader.marks.by_hand import counted, pending, same_answers
from cellgrader.marks.history import (
    Mark,
    State,
    append,
    changed,
    entry,
    owners,
    read_history,
    state_of,
    writing,
)
from cellgrader.marks.in_gradebook import grades_of
from cellgrader.marks.in_words import label, numbers_of, points
from cellgrader.notebook import document as notebooks
from cellgrader.printable import printable

if TYPE_CHECKING:
    from nbgrader.api import Grade, SubmittedAssignment

    from cellgrader.run.examine import Examination

KEPT = "--only-gains kept the mark; the checks would now give {} points ({})"
# The most characters of what a check said, in a table.
LONGEST = 160


@dataclass(frozen=True)
class Difference:
    """What a regrade would make of one student's mark.

    why: by exercise, in words.     kept: the mark would fall, and is not lowered.
    """

    student: str
    before: State
    now: State
    why: Mapping[str, str]
    kept: bool = False

    @property
    def gain(self) -> float:
        """Points more in total; negative if the mark would fall."""
        return round((self.now.total or 0.0) - (self.before.total or 0.0), 4)

    @property
    def changed(self) -> dict[str, tuple[float | None, float | None]]:
        return changed(self.before, self.now)


class Gains:
    """Decides for one run which marks stay because a regrade would lower them.

    Args:
        only_gains: no total of the same version is lowered.
        again: what an earlier ``--only-gains`` kept may be lowered.
    """

    def __init__(self, course: Course, name: str, *, only_gains: bool, again: bool) -> None:
        self.course = course
        self.name = name
        self.only_gains = only_gains
        self.again = again

    def protects(self, student: str, attempt: int) -> bool:
        """Whether the mark of this version may not fall."""
        last = read_history(self.course, self.name, student)[-1:]
        kept = any(each.kept and each.state.attempt == attempt for each in last)
        return self.only_gains or kept and not self.again

    def kept(self, found: Examination, attempt: int, fingerprint: str) -> Record | None:
        """The record of a mark that stays; None if the examination is to be saved.

        The record stands for the new checks, so the next run does not examine the work again.
        """

        course, name, student = self.course, self.name, found.student
        if found.status == FAILED or not self.protects(student, attempt):
            return None
        with writing(course), opened(course) as gradebook:
            submission = handed_in(gradebook, name).get(student)
            one = submission and compare(course, name, submission, found, attempt)
            if not one or one.before.attempt != attempt or one.gain >= 0:
                return None
            numbers = numbers_of(course, name)
            fell = "; ".join(
                f"{label(exercise, numbers)}: {points(new)} instead of {points(old)}"
                for exercise, (old, new) in one.changed.items()
            )
            reason = KEPT.format(points(one.now.total), fell or one.now.status)
            last = (read_history(course, name, student) or [None])[-1]
            if last is None or not last.kept or last.reason != reason:
                append(course, name, student, entry(last, one.before, reason=reason, kept=True))
        old = read_record(course, name, student)
        told = {"messages": found.messages, "findings": found.findings}
        record = old or Record(name, student, GRADED, "", attempt=attempt, **told)
        record = replace(record, fingerprint=fingerprint, sentence=f"{reason}.", before=False)
        write_record(course, record)
        return record


def compare(
    course: Course, name: str, submission: SubmittedAssignment, found: Examination, attempt: int
) -> Difference | None:
    """The difference that saving an examination would make; None if there is no mark yet."""
    owner = owners(course, name)
    before = state_of(course, name, submission, owner)
    if before is None or before.marks is None:
        return None
    grades = {grade.name: grade for grade in grades_of(submission)}
    now = _after(course, name, before, grades, found, owner)
    now = replace(now, attempt=attempt)
    record = read_record(course, name, found.student)
    said = record.messages if record else {}
    why = {
        exercise: f"version {attempt} was handed in"
        if before.attempt not in (None, attempt)
        else _why(
            exercise, before, now, _of(exercise, owner, said), _of(exercise, owner, found.messages)
        )
        for exercise in changed(before, now)
    }
    return Difference(found.student, before, now, why)


def _after(
    course: Course,
    name: str,
    before: State,
    grades: Mapping[str, Grade],
    found: Examination,
    owner: Mapping[str, str],
) -> State:
    """The mark after saving. Being late costs the same share of the points as before."""
    if found.status not in WITH_GRADE:
        return State(None, status=found.status)
    book = found.graded()
    try:
        old = notebooks.read(course.autograded / found.student / name / f"{name}.ipynb")
    except CourseError:  # removed or damaged: its answers are unknown
        old = {"cells": []}
    same = same_answers(old, book)
    marks: dict[str, Mark] = {}
    for cell in book["cells"]:
        mark = notebooks.mark(cell)
        if not mark.get("grade"):
            continue
        cell_name, grade = mark["grade_id"], grades.get(mark["grade_id"])
        exercise = owner.get(cell_name, cell_name)
        by_hand = grade is not None and grade.manual_score is not None
        if by_hand or cell_name not in found.points:
            held = grade is None or bool(pending(grade)) or cell_name not in same
            value = None if held else counted(grade)
        else:
            value = found.points[cell_name]
        so_far = marks.get(exercise, Mark(0.0, 0.0))
        marks[exercise] = Mark(
            None if value is None or so_far.points is None else round(so_far.points + value, 4),
            so_far.of + float(mark["points"]),
            so_far.by_hand or by_hand,
        )
    had = sum(mark.points or 0.0 for mark in (before.marks or {}).values())
    has = sum(mark.points or 0.0 for mark in marks.values())
    return State(marks, round(before.penalty / had * has, 2) if had else 0.0)


def _of(exercise: str, owner: Mapping[str, str], messages: Mapping[str, str]) -> str:
    """What the checks of an exercise said."""
    return " ".join(
        message for cell, message in messages.items() if owner.get(cell) == exercise and message
    )


def _why(exercise: str, before: State, now: State, said: str, says: str) -> str:
    if now.marks is None:
        return f"no grade: {now.status}"
    old, new = (before.marks or {}).get(exercise), now.marks.get(exercise)
    if old is None or new is None:
        return "the exercise was left out" if new is None else "the exercise was taken in"
    parts = []
    if old.of != new.of:
        parts.append(f"worth {points(new.of)} instead of {points(old.of)}")
    if said != says:
        parts.append(f"says now: {printable(says, LONGEST)}" if says else "passes now")
        parts.append(f"said before: {printable(said, LONGEST)}" if said else "passed before")
    elif says:
        parts.append(f"says as before: {printable(says, LONGEST)}")
    return "; ".join(parts) or "a check counts otherwise"
