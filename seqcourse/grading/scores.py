"""The gradebook as a table: scores per exercise and student, on the terminal and as CSV."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.notebook import Exercise
from seqcourse.grading.records import Record
from seqcourse.grading.spreadsheet import harmless, number

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One student's line: points per exercise, or None where there is no grade."""

    student: str
    status: str
    sentence: str
    points: dict[str, float] | None
    waiting: tuple[str, ...] = ()  # exercises that somebody has to grade by hand

    @property
    def total(self) -> float | None:
        return None if self.points is None else sum(self.points.values())


@dataclass(frozen=True)
class Scores:
    """The grades of one assignment."""

    assignment: str
    exercises: tuple[Exercise, ...]
    rows: tuple[Row, ...]

    @property
    def automatic(self) -> float:
        """The points that are given automatically."""
        return sum(exercise.automatic for exercise in self.exercises)

    @property
    def points(self) -> float:
        """All points, those given by hand included."""
        return sum(exercise.points for exercise in self.exercises)

    def row(self, student: str) -> Row:
        return next(row for row in self.rows if row.student == student)


def read_scores(course: Course, name: str, records: list[Record]) -> Scores:
    """Look the scores of these records up in the gradebook."""
    from nbgrader.api import Gradebook

    exercises = tuple(notebooks.exercises(notebooks.read(course.solution(name))))
    owner = {test: exercise.name for exercise in exercises for test in exercise.tests}
    rows = []
    with Gradebook(course.gradebook_url) as gradebook:
        for record in records:
            if not record.has_grade:
                rows.append(Row(record.student, record.status, record.sentence, None))
                continue
            points = {exercise.name: 0.0 for exercise in exercises}
            waiting = []
            for graded in gradebook.find_submission(name, record.student).notebooks:
                for grade in graded.grades:
                    points[owner[grade.name]] += float(grade.score or 0.0)
                    # Points given by hand stay when the work is graded again.
                    if grade.needs_manual_grade and grade.manual_score is None:
                        waiting.append(owner[grade.name])
            rows.append(Row(record.student, record.status, record.sentence, points, tuple(waiting)))
    return Scores(name, exercises, tuple(rows))


def as_table(scores: Scores) -> Table:
    """A table for the terminal; exercises are numbered, and named in the caption."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    caption = ", ".join(f"{i} {exercise.name}" for i, exercise in enumerate(scores.exercises, 1))
    if any(row.waiting for row in scores.rows):
        caption += "; … is graded by hand, and not in the total yet"
    table = Table(
        title=f"Grades of {scores.assignment}",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=0,
    )
    table.add_column("student", no_wrap=True)
    for i, exercise in enumerate(scores.exercises, start=1):
        table.add_column(f"{i}\n/{number(exercise.points)}", justify="right", no_wrap=True)
    table.add_column(f"total\n/{number(scores.points)}", justify="right", no_wrap=True)
    widest = max((len(row.status) for row in scores.rows), default=0)
    table.add_column("status", no_wrap=True, min_width=widest)
    for row in scores.rows:
        if row.points is None:
            cells = ["–"] * len(scores.exercises) + ["–"]
        else:
            cells = [
                "…" if exercise.name in row.waiting else number(row.points[exercise.name])
                for exercise in scores.exercises
            ]
            cells.append(number(row.total or 0.0))
        table.add_row(escape(row.student), *cells, row.status)
    return table


def as_csv(scores: Scores) -> str:
    """The same as comma-separated text: a line per student, a column per exercise."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    names = [exercise.name for exercise in scores.exercises]
    out.writerow(["student", "assignment", *names, "total", "maximum", "status", "sentence"])
    for row in scores.rows:
        if row.points is None:
            values: list[str] = [""] * (len(names) + 1)
        else:
            values = ["" if name in row.waiting else number(row.points[name]) for name in names]
            values.append(number(row.total or 0.0))
        out.writerow(
            [
                harmless(row.student),
                scores.assignment,
                *values,
                number(scores.points),
                row.status,
                harmless(row.sentence),
            ]
        )
    return file.getvalue()


def write_csv(scores: Scores, path: Path) -> None:
    """Write the CSV file beside its place and move it there."""
    notebooks.write_text(path, as_csv(scores))


def check_csv(path: Path) -> None:
    """Raise CourseError where ``write_csv`` could not write: better before an hour of grading."""
    if path.is_dir():
        raise CourseError(
            f"--csv should name a file, but {path} is a folder. Add a name: {path / 'grades.csv'}"
        )
    folder = path.parent
    if not folder.is_dir():
        raise CourseError(
            f"--csv should name a file in a folder that exists, but there is no folder {folder}. "
            f"Make it first, or name another."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CourseError(
            f"--csv should name a file in a folder where you may write, but {folder} is none. "
            f"Name another."
        )
