"""Answers to appeals: grading/appeals/psN/STUDENT.json, so that they outlive a gradebook.

Their points are in the gradebook, too, as points given by hand. So nbgrader and all tables count them,
a regrade keeps them, and they are held back when the student's work changes, see ``byhand``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import opened
from cellgrader.course.records import LONGEST_NAME
from cellgrader.errors import CourseError
from cellgrader.marks.by_hand import answers_of
from cellgrader.marks.in_gradebook import grades_of
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.release.adapt import class_notebook

if TYPE_CHECKING:
    from nbgrader.api import Grade

# The most characters of a comment.
MOST = 2_000


@dataclass(frozen=True)
class AppealAnswer:
    """An answer to an appeal.

    words: the student's, as they were when it was answered.
    points: those of the exercise; None leaves them to the check.
    work: a digest of the answer cell that it is about.
    """

    words: str
    comment: str
    points: float | None
    time: str
    work: str = ""


def answers_path(course: Course, name: str, student: str) -> Path:
    """Where the answers to a student's appeals are. A long name is cut."""
    file = f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.json"
    return course.folder / "appeals" / name / file


def read_answers(course: Course, name: str, student: str) -> dict[str, AppealAnswer]:
    """Exercise -> the answer; {} if there is none."""
    try:
        content = json.loads(answers_path(course, name, student).read_text(encoding="utf-8"))
        return {exercise: AppealAnswer(**each) for exercise, each in content.items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def write_answer(course: Course, name: str, student: str, exercise: str, answer: AppealAnswer) -> None:
    """Keep an answer; it replaces an earlier one to the same exercise."""
    known = read_answers(course, name, student) | {exercise: answer}
    content = {each: asdict(one) for each, one in known.items()}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    notebooks.write_text(answers_path(course, name, student), text)


def new_answer(
    course: Course, name: str, student: str, exercise: Exercise, **said: str | float | None
) -> AppealAnswer:
    """An answer of now, about the work that was graded last.

    Args:
        said: words, comment and points of an ``Answer``.
    """
    work = _works(course, name, student).get(exercise.tests[0] if exercise.tests else "", "")
    return AppealAnswer(**said, time=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", work=work)


def give_points(grades: Mapping[str, Grade], exercise: Exercise, points: float | None) -> None:
    """Write an exercise's points into its grade cells, the first ones first; None takes them out."""
    left = points
    for cell in exercise.tests:
        grade = grades.get(cell)
        if grade is None:
            continue
        if left is None or points is None:
            grade.manual_score = None
            grade.needs_manual_grade = grade.auto_score is None
            continue
        grade.manual_score = round(min(left, float(grade.max_score)), 4)
        grade.needs_manual_grade = False
        left -= grade.manual_score


def restore(course: Course, name: str, students: Iterable[str]) -> None:
    """Give the points of answers again where the gradebook lost them: a new one, an exercise taken in.

    They wait for a second look if the work is another one.
    """
    from nbgrader.api import MissingEntry

    found = {who: answers for who in students if (answers := read_answers(course, name, who))}
    if not found:
        return
    known = {each.name: each for each in notebooks.exercises(class_notebook(course, name))}
    with opened(course) as gradebook:
        for student, answers in found.items():
            try:
                submission = gradebook.find_submission(name, student)
            except MissingEntry:
                continue
            grades = {grade.name: grade for grade in grades_of(submission)}
            works = _works(course, name, student)
            for exercise, answer in answers.items():
                tests = known[exercise].tests if exercise in known else ()
                there = [grades[test] for test in tests if test in grades]
                if answer.points is None or any(grade.manual_score is not None for grade in there):
                    continue
                if there:
                    give_points(grades, known[exercise], answer.points)
                for grade in there:
                    grade.needs_manual_grade = works.get(grade.name, "") != answer.work
        gradebook.db.commit()


def _works(course: Course, name: str, student: str) -> dict[str, str]:
    """Grade cell -> a digest of the answer in the notebook that was graded last."""
    try:
        book = notebooks.read(course.autograded / student / name / f"{name}.ipynb")
    except CourseError:
        return {}
    return {
        cell: hashlib.sha256(answer.encode(errors="replace")).hexdigest()
        for cell, answer in answers_of(book).items()
    }
