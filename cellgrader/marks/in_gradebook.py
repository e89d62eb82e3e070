"""The one reading of what the gradebook says of a submission: its grades, its penalty, its total.

Only the notebook with the assignment's name counts. Another one in the gradebook, such as a copy that
once stood in solutions/, is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in, opened
from cellgrader.course.records import Record, read_record
from cellgrader.profile import program

if TYPE_CHECKING:
    from nbgrader.api import Assignment, Grade, SubmittedAssignment

# The status of work that was graded, where the gradebook does not have the grade.
LOST = "not in the gradebook"


def grades_of(submission: SubmittedAssignment | None) -> list[Grade]:
    """The grades of a submission's cells."""
    name = submission.assignment.name if submission else ""
    books = submission.notebooks if submission else ()
    return [grade for book in books if book.name == name for grade in book.grades]


def penalty_of(submission: SubmittedAssignment | None) -> float:
    """The points that being late costs."""
    name = submission.assignment.name if submission else ""
    books = submission.notebooks if submission else ()
    return sum(float(book.late_submission_penalty or 0.0) for book in books if book.name == name)


def maximum_of(assignment: Assignment) -> float:
    """What an assignment is worth."""
    return sum(float(book.max_score) for book in assignment.notebooks if book.name == assignment.name)


def is_graded(submission: SubmittedAssignment | None) -> bool:
    """Whether work was graded, or waits to be; an extension alone makes an empty submission."""
    return any(
        grade.needs_manual_grade or grade.auto_score is not None or grade.manual_score is not None
        for grade in grades_of(submission)
    )


def total(points: float, penalty: float) -> float:
    """The mark: the points less the penalty, never below 0."""
    return max(0.0, points - penalty)


def as_found(record: Record, submission: SubmittedAssignment | None) -> Record:
    """A record, or one without a grade where the gradebook lost it: it was moved, or is another one."""
    worthless = submission is not None and not maximum_of(submission.assignment)
    if not record.has_grade or is_graded(submission) or worthless:
        return record
    sentence = (
        f"It was graded, but the gradebook does not have the grade: it is a new one, or another one. "
        f"Put the old gradebook back, or grade again: {program()} grade {record.assignment}"
    )
    return replace(record, status=LOST, sentence=sentence)


def found_records(course: Course, name: str, students: Iterable[str]) -> list[Record]:
    """The records of these students, as the gradebook bears them out; nobody without one."""
    found = [read_record(course, name, student) for student in students]
    with opened(course) as gradebook:
        submissions = handed_in(gradebook, name)
        return [as_found(record, submissions.get(record.student)) for record in found if record]
