"""Scores per exercise and student, as a table for the terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in, opened
from cellgrader.course.records import Record
from cellgrader.errors import CourseError
from cellgrader.marks import in_gradebook
from cellgrader.marks.by_hand import CHANGED, WAITS, counted, pending
from cellgrader.marks.history import note
from cellgrader.marks.late import renew_penalties, seconds_late
from cellgrader.marks.late_days import Account, Accounts
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.profile import program
from cellgrader.release.adapt import class_notebook

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One student's row.

    points: exercise -> points, or None if there is no grade.
    waiting: exercises that need manual grading.
    changed: exercises graded by hand before their answer changed.
    penalty: points deducted for lateness.
    late: whether the work came after the student's due date.
    days: the student's late days, where the class gives some.
    """

    student: str
    status: str
    sentence: str
    points: dict[str, float] | None
    waiting: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    penalty: float = 0.0
    late: bool = False
    days: Account = Account()

    @property
    def total(self) -> float | None:
        return (
            None if self.points is None else in_gradebook.total(sum(self.points.values()), self.penalty)
        )

    def cell(self, exercise: str) -> str:
        """The points of an exercise; "–": no grade, "…": needs manual grading, "↻": changed since."""
        if self.points is None:
            return "–"
        if exercise in self.changed:
            return "↻"
        return "…" if exercise in self.waiting else number(self.points[exercise])


@dataclass(frozen=True)
class Scores:
    """The grades of one assignment."""

    assignment: str
    exercises: tuple[Exercise, ...]
    rows: tuple[Row, ...]

    @property
    def automatic(self) -> float:
        """The maximum of autograded points."""
        return sum(exercise.automatic for exercise in self.exercises)

    @property
    def points(self) -> float:
        """The maximum of all points, including manual ones."""
        return sum(exercise.points for exercise in self.exercises)

    def row(self, student: str) -> Row:
        return next(row for row in self.rows if row.student == student)


def read_scores(course: Course, name: str, records: list[Record]) -> Scores:
    """Read the scores of these records from the gradebook, with current late penalties."""

    exercises = tuple(notebooks.exercises(class_notebook(course, name)))
    owner = {test: exercise.name for exercise in exercises for test in exercise.tests}
    rows = []
    if any(record.has_grade for record in records):
        note(course, name)
    with opened(course) as gradebook:
        config = course.config()
        days = Accounts()
        if any(record.has_grade for record in records):
            days = renew_penalties(gradebook, name, config)
        submissions = handed_in(gradebook, name)
        for record in records:
            submission = submissions.get(record.student)
            record = in_gradebook.as_found(record, submission)
            if not record.has_grade:
                rows.append(Row(record.student, record.status, record.told, None))
                continue
            points = {exercise.name: 0.0 for exercise in exercises}
            waiting: dict[str, list[str]] = {WAITS: [], CHANGED: []}
            penalty = in_gradebook.penalty_of(submission)
            late = seconds_late(submission, config)[0] > 0
            for grade in in_gradebook.grades_of(submission):
                if grade.name not in owner:
                    raise CourseError(
                        f"The grades of {name} should be of the exercises it has now, but they have "
                        f"{grade.name}. Grade again: {program()} grade {name}"
                    )
                points[owner[grade.name]] += counted(grade)
                if pending(grade):
                    waiting[pending(grade)].append(owner[grade.name])
            row = Row(record.student, record.status, record.told, points)
            new, changed = map(tuple, waiting.values())
            row = replace(row, waiting=new, changed=changed, penalty=penalty, late=late)
            rows.append(replace(row, days=days.of(record.student)))
    return Scores(name, exercises, tuple(rows))


def as_table(scores: Scores) -> Table:
    """A table for the terminal. Columns number the exercises as the notebook; the caption names them."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    caption = ", ".join(f"{exercise.number} {exercise.name}" for exercise in scores.exercises)
    if any(row.waiting for row in scores.rows):
        caption += "; … is graded by hand, and not in the total yet"
    if any(row.changed for row in scores.rows):
        caption += "; ↻ changed since it was graded by hand: look again, it is not in the total"
    late = any(row.penalty for row in scores.rows)
    days = any(row.days.here(scores.assignment) for row in scores.rows)
    if days:
        caption += "; days: late days used here, and left"
    table = Table(
        title=f"Grades of {scores.assignment}",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=0,
    )
    table.add_column("student", no_wrap=True)
    for exercise in scores.exercises:
        table.add_column(f"{exercise.number}\n/{number(exercise.points)}", justify="right", no_wrap=True)
    if late:
        table.add_column("late", justify="right", no_wrap=True)
    if days:
        table.add_column("days", justify="right", no_wrap=True)
    table.add_column(f"total\n/{number(scores.points)}", justify="right", no_wrap=True)
    widest = max((len(row.status) for row in scores.rows), default=0)
    table.add_column("status", no_wrap=True, min_width=widest)
    for row in scores.rows:
        cells = [row.cell(exercise.name) for exercise in scores.exercises]
        if late:
            cells.append(number(-row.penalty) if row.penalty else "")
        if days:
            used = row.days.here(scores.assignment)
            cells.append(f"{used}, {row.days.left}" if row.days.days else "")
        cells.append("–" if row.total is None else number(row.total))
        table.add_row(escape(printable(row.student)), *cells, row.status)
    return table
