"""The course total: one line for each student over all assignments, with the weights of course.toml.

The marks are those of `seqcourse export` for each assignment. Without weights every point of the course
counts the same; with [weights] an assignment counts by its weight, whatever its points are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import opened
from cellgrader.course.records import FAILED, UNCLEAR
from cellgrader.errors import CourseError
from cellgrader.marks.export import NOTHING, UNGRADED, Line, read_course
from cellgrader.marks.in_gradebook import LOST
from cellgrader.platforms.spreadsheet import harmless, number
from cellgrader.printable import printable
from cellgrader.profile import program

# What is no mark yet. A student with one of these has no total yet, rather than one that looks final.
OPEN = (FAILED, UNCLEAR, LOST, UNGRADED)


@dataclass(frozen=True)
class Student:
    """One student over the course: a line for each assignment, in which the name is the same."""

    lines: Mapping[str, Line]

    @property
    def person(self) -> Line:
        return next(iter(self.lines.values()))

    def missing(self, name: str) -> str:
        """Why there is no final mark in an assignment; "" if there is one."""
        line = self.lines.get(name)
        if line is None:
            return NOTHING
        return line.waits_for if line.has_grade else line.status

    def is_open(self, name: str) -> bool:
        """Whether a mark is still to come, so that no 0 may stand for it."""
        line = self.lines.get(name)
        return line is not None and (line.waits or not line.has_grade and line.status in OPEN)


@dataclass(frozen=True)
class Total:
    """The marks of a course.

    maxima: assignment -> its points, of those in which somebody has a grade.
    weights: what each of these counts.
    """

    students: tuple[Student, ...]
    maxima: Mapping[str, float]
    weights: Mapping[str, float]

    def of(self, student: Student) -> float | None:
        """The total in percent; None while a mark is still to come. What nobody handed in counts 0."""
        counted = [name for name, weight in self.weights.items() if weight]
        if any(student.is_open(name) for name in counted):
            return None
        shares = {name: self._points(student, name) / self.maxima[name] for name in counted}
        whole = sum(self.weights.values())
        return 100 * sum(self.weights[name] * share for name, share in shares.items()) / whole

    @staticmethod
    def _points(student: Student, name: str) -> float:
        line = student.lines.get(name)
        return line.total if line is not None and line.has_grade else 0.0


def read_total(course: Course) -> tuple[Total, list[str]]:
    """The marks of the whole course, and sentences about what counts how much, and what does not.

    Raises:
        CourseError: nobody has a grade, or all weights are 0.
    """
    with opened(course) as gradebook:
        there = {known.name for known in gradebook.assignments}
    lines = {name: read_course(course, name) for name in course.names() if name in there}
    lines = {name: found for name, found in lines.items() if any(line.has_grade for line in found)}
    maxima = {name: found[0].maximum for name, found in lines.items() if found[0].maximum}
    if not maxima:
        raise CourseError(
            "Somebody should have a grade before there is a course total, but nobody has. "
            f"Grade first: {program()} grade"
        )
    chosen = course.settings.weights
    weights = {name: chosen.get(name, 0.0) for name in maxima} if chosen else maxima
    if not sum(weights.values()):
        raise CourseError(
            f"One of the graded assignments should have a weight above 0 under [weights] in "
            f"{course.settings.where(f'weights.{next(iter(chosen))}').partition(',')[0]}, but "
            f"{', '.join(maxima)} have none."
        )
    people: dict[str, dict[str, Line]] = {}
    for name in maxima:
        for line in lines[name]:
            people.setdefault(line.student, {})[name] = line
    students = sorted(map(Student, people.values()), key=_by_name)
    return Total(tuple(students), maxima, weights), _told(course, maxima, weights, bool(chosen))


def _by_name(student: Student) -> tuple[str, str, str]:
    line = student.person
    return line.last_name.casefold(), line.first_name, line.student


def _told(
    course: Course, maxima: Mapping[str, float], weights: Mapping[str, float], chosen: bool
) -> list[str]:
    """What counts how much, and what does not count."""
    share = {name: 100 * weight / sum(weights.values()) for name, weight in weights.items()}
    parts = ", ".join(f"{name} {number(share[name])} %" for name in maxima if share[name])
    by = (
        "the weights in course.toml"
        if chosen
        else "their points ([weights] in course.toml changes that)"
    )
    told = [f"The total counts the assignments by {by}: {parts}."]
    for why, names in (
        ("without a weight", [name for name in maxima if not share[name]]),
        ("nobody has a grade yet", [name for name in course.names() if name not in maxima]),
    ):
        if names:
            told.append(f"Not counted, {why}: {', '.join(names)}.")
    return told


def as_table(total: Total) -> str:
    """The total as CSV (RFC 4180): a column for each assignment, the total, and what is missing."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\r\n")
    out.writerow(
        ["student", "last_name", "first_name", "email", *total.maxima, "total_percent", "status"]
    )
    for student in total.students:
        who = student.person
        texts = (who.student, who.last_name, who.first_name, who.email)
        lines = [student.lines.get(name) for name in total.maxima]
        marks = [number(line.total) if line and line.has_grade else "" for line in lines]
        whole = total.of(student)
        why = [f"{name}: {student.missing(name)}" for name in total.maxima if student.missing(name)]
        out.writerow(
            [*map(harmless, texts), *marks, "" if whole is None else number(whole), "; ".join(why)]
        )
    return file.getvalue()


def left_open(total: Total) -> Sequence[str]:
    """A sentence that names the students without a total yet; none if everybody has one."""
    who = [student.person.student for student in total.students if total.of(student) is None]
    words = "No total yet, because a mark is still to come (see the column status): "
    return [printable(f"{words}{', '.join(who)}.")] if who else []
