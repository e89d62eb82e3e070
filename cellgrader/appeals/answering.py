"""Answer a student's appeal with points and a comment."""

from __future__ import annotations

from cellgrader.appeals.requests import read_appeals
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook, opened
from cellgrader.course.small_files import APPEAL
from cellgrader.errors import CourseError
from cellgrader.marks.appeal_points import MOST, give_points, new_answer, write_answer
from cellgrader.marks.history import note, read_history
from cellgrader.marks.in_gradebook import grades_of
from cellgrader.marks.in_words import label, numbers_of
from cellgrader.marks.in_words import points as as_points
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import shown
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.profile import program
from cellgrader.release.adapt import class_notebook
from cellgrader.with_nbgrader.lock import alone


def answer(
    course: Course, name: str, student: str, exercise: str, points: float | None, comment: str
) -> list[str]:
    """Keep the answer to an appeal, and give its points; sentences say what was done.

    Args:
        exercise: its number in the notebook, or its name.
        points: those of the whole exercise; None leaves them to the check.
    Raises:
        CourseError: no such student, exercise or appeal, no grade, or points that do not fit.
    """
    from nbgrader.api import MissingEntry

    chosen, words = _appealed(course, name, student, exercise)
    if points is not None and not 0 <= points <= chosen.points:
        raise CourseError(
            f"--points should be from 0 to {number(chosen.points)}, what exercise {chosen.number} is "
            f"worth, but is {number(points)}."
        )
    comment = printable(" ".join(comment.split()), MOST)
    with alone(course):
        open_gradebook(course)
        note(course, name, [student])
        with opened(course) as gradebook:
            try:
                submission = gradebook.find_submission(name, student)
            except MissingEntry:
                submission = None
            grades = {grade.name: grade for grade in grades_of(submission)}
            if not set(chosen.tests) & grades.keys():
                raise CourseError(
                    f"{student} should have a mark of {name} before an appeal is answered, but has "
                    f"none. Grade first: {program()} grade {name} --student {student}"
                )
            said_now = {"words": words, "comment": comment, "points": points}
            kept = new_answer(course, name, student, chosen, **said_now)
            write_answer(course, name, student, chosen.name, kept)
            give_points(grades, chosen, points)
            gradebook.db.commit()
        note(course, name, [student], words=comment)
    total = read_history(course, name, student)[-1].state.total
    given = f"{as_points(points)} of {number(chosen.points)} points"
    return [
        f"{student}, exercise {label(chosen.name, numbers_of(course, name))}: "
        f"{'the points of the check' if points is None else given}. "
        f"The mark of {name} is {as_points(total)} now.",
        f"The feedback page says so when it is written again: "
        f"{program()} feedback {name} --student {student}",
    ]


def _appealed(course: Course, name: str, student: str, exercise: str) -> tuple[notebooks.Exercise, str]:
    """The exercise that is asked for, and the words of the student's appeal about it."""
    need_student(course, name, student)
    exercises = notebooks.exercises(class_notebook(course, name))
    wanted = exercise.lower()
    chosen = next((each for each in exercises if wanted in (each.number, each.name.lower())), None)
    if chosen is None:
        raise CourseError(
            f"--exercise should be one of {', '.join(each.number for each in exercises)}, but is "
            f"{shown(exercise)}."
        )
    said = {each.exercise.name: each.words for each in read_appeals(course, name, student)[0]}
    if chosen.name not in said:
        some = ", ".join(each.number for each in exercises if each.name in said) or "no exercise"
        raise CourseError(
            f"{student} should have an appeal about exercise {chosen.number} in {APPEAL}, but it is "
            f"about {some}. Points without an appeal are given in the formgrader."
        )
    return chosen, said[chosen.name]


def need_student(course: Course, name: str, student: str) -> None:
    """Raise CourseError if a student handed in nothing of an assignment."""
    known = course.students(name)
    if student not in known:
        some = ", ".join(map(shown, known[:8])) + (", ..." if len(known) > 8 else "")
        raise CourseError(
            f"{shown(student)} should have handed in {name}, but {some or 'nobody'} did. "
            f"The work of a student is in {course.grading}/submitted/STUDENT/{name}."
        )
