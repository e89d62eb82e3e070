"""The sheet of one student: five questions about the work that was handed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examiner
from seqcourse.grading.parse import shown
from seqcourse.grading.viva.choose import choose
from seqcourse.grading.viva.places import ANSWERS, folder_of, sheet_folder
from seqcourse.grading.viva.questions import Question, questions
from seqcourse.grading.viva.tried import exercises, plan, try_all


@dataclass(frozen=True)
class Sheet:
    """The questions, and the answers' code that they are about, by exercise."""

    assignment: str
    student: str
    questions: tuple[Question, ...]
    code: Mapping[str, str]


def make_sheet(examiner: Examiner, name: str, student: str) -> Sheet:
    """The sheet about what a student handed in.

    Everything is run twice, in two sandboxes; only questions with the same answer both times are asked.

    Raises:
        CourseError: there is no such student or submission, nothing in it is solved, or it gives no
            question.
    """
    course = examiner.course
    if not course.handed_in(student, name):
        known = course.students(name)
        raise CourseError(
            f"{student!r} should be a student who handed in {name}, but has no folder "
            f"{course.grading}/submitted/{student}/{name}. "
            + (
                f"These have: {', '.join(map(shown, known[:8]))}."
                if known
                else f"Nobody has for {name}."
            )
        )
    seed = examiner.seed(name, "viva", student, 0)
    asked = exercises(examiner, name)
    planned = plan(examiner, name, course.submitted / student / name, list(asked), seed)
    if not planned.answers:
        raise CourseError(
            f"{student} should have solved an exercise of {name} before there are questions about the "
            f"code, but every answer is as it was handed out, or is no Python code."
        )
    first, again = (
        [
            question
            for tried in try_all(examiner, asked, planned)
            for question in questions(tried, planned.words, seed)
        ]
        for _ in range(2)
    )
    same = set(again)
    chosen = choose([question for question in first if question in same], seed)
    if not chosen:
        raise CourseError(
            f"{student}'s answers to {name} should run before there are questions about them, but none "
            f"does, or none of the changes that were tried can be told. Look at the feedback page first."
        )
    code = {question.exercise: planned.answers[question.exercise].source for question in chosen}
    return Sheet(name, student, tuple(chosen), code)


def spread(sheets: Iterable[Sheet]) -> Counter[str]:
    """How many questions of each kind a class gets."""
    return Counter(question.kind for sheet in sheets for question in sheet.questions)


def keep(course: Course, sheet: Sheet) -> None:
    """Keep a sheet for the instructor's table."""
    course.make_folder()
    content = json.dumps(asdict(sheet), indent=1, ensure_ascii=False) + "\n"
    folder = sheet_folder(course, sheet.assignment, sheet.student)
    notebooks.write_text(folder / ANSWERS, content)


def kept(course: Course, name: str) -> list[Sheet]:
    """The sheets of an assignment that were made so far, by student."""
    found = []
    for path in sorted(folder_of(course, name).glob(f"*/{ANSWERS}")):
        data = json.loads(path.read_text(encoding="utf-8"))
        asked = (Question(**{**one, "options": tuple(one["options"])}) for one in data["questions"])
        found.append(Sheet(data["assignment"], data["student"], tuple(asked), data["code"]))
    return found
