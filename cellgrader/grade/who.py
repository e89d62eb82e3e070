"""Whose submissions a run grades."""

from __future__ import annotations

from collections.abc import Iterable

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.people.enrolment import misplaced, question, unknown
from cellgrader.submission.partners import find_submissions


def to_grade(course: Course, name: str, students: Iterable[str] = ()) -> list[str]:
    """The students whose submissions ``grade`` will grade, with their partners, each once.

    A folder whose name is not on the class's list is graded only if it is named.

    Raises:
        CourseError: there is no such assignment, or a named student or the whole class has no
            submission.
    """
    course.require(name)
    handed_in = course.students(name)
    asked = unknown(course, name) if not students else ()
    wanted = list(dict.fromkeys(students)) or [who for who in handed_in if who not in asked]
    if asked and not wanted:
        raise CourseError(question(course, name, asked[0]))
    submissions = find_submissions(course, name)
    wanted = submissions.whole(wanted) if students else sorted(submissions.whole(wanted))
    for student in wanted:
        if not any(who in handed_in for who in submissions.of(student).members):
            raise CourseError(
                f"{student} should have handed in {name} at "
                f"{course.submitted}/{student}/{name}/{name}.ipynb, but there is nothing."
            )
    if not wanted:
        raise CourseError(
            f"Submissions of {name} should lie at {course.submitted}/STUDENT/{name}/"
            f"{name}.ipynb, but there are none. {' '.join(misplaced(course, name))}".rstrip()
        )
    return wanted
