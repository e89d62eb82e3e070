"""The sheet of one student: five questions about the work that was handed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import shown
from cellgrader.run.examine import Examiner
from cellgrader.submission.partners import find_submissions
from cellgrader.submission.shared_work import whose_work
from cellgrader.viva.choose import choose
from cellgrader.viva.questions import Question, questions
from cellgrader.viva.sheet_folders import ANSWERS, folder_of, sheet_folder
from cellgrader.viva.tried import exercises, plan, try_all


@dataclass(frozen=True)
class Sheet:
    """The questions, and the answers' code that they are about, by exercise.

    source: the partner in whose folder the work is; "" if it is the student's own.
    """

    assignment: str
    student: str
    questions: tuple[Question, ...]
    code: Mapping[str, str]
    source: str = ""

    @property
    def title(self) -> str:
        """Whose sheet it is, and who handed the work in."""
        return f"{self.student} (handed in by {self.source})" if self.source else self.student


def make_sheet(examiner: Examiner, name: str, student: str) -> Sheet:
    """The sheet about what a student handed in.

    Everything is run twice, in two sandboxes, the second time without the student's other cells: those
    could set the answers. Only questions with the same answer both times are asked.

    Raises:
        CourseError: there is no such student or submission, nothing in it is solved, it gives no
            question, all questions have one answer, or partners handed in different work.
    """
    course = examiner.course
    source = whose(examiner, name, student)
    seed = examiner.seed(name, "viva", student, 0)
    asked = exercises(examiner, name)
    planned = plan(examiner, name, course.submitted / source / name, list(asked), seed)
    if not planned.answers:
        raise CourseError(
            f"{student} should have solved an exercise of {name} before there are questions about the "
            f"code, but every answer is as it was handed out, or is no Python code."
        )
    first, alone = (
        [
            question
            for tried in try_all(examiner, asked, planned, alone=each)
            for question in questions(tried, planned.words, seed)
        ]
        for each in (False, True)
    )
    same = set(alone)
    chosen = choose([question for question in first if question in same], seed)
    if not chosen:
        raise CourseError(
            f"{student}'s answers to {name} should run without the student's other cells before there "
            f"are questions about them, but none does, or none of the changes that were tried can be "
            f"told. Look at the feedback page and at those cells first."
        )
    if len(chosen) > 2 and len({question.options[question.right] for question in chosen}) == 1:
        raise CourseError(
            f"The questions about {student}'s answers to {name} should have several answers, but all "
            f"have this one: {chosen[0].options[chosen[0].right]} Ask about the code in person."
        )
    code = {question.exercise: planned.answers[question.exercise].source for question in chosen}
    return Sheet(name, student, tuple(chosen), code, "" if source == student else source)


def whose(examiner: Examiner, name: str, student: str) -> str:
    """In whose folder the work of a student is: their own, or that of a partner.

    Raises:
        CourseError: neither has one, or it is unclear whose work counts.
    """
    course = examiner.course
    submission = find_submissions(course, name).of(student)
    if not any(course.handed_in(who, name) for who in submission.members):
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
    submission = whose_work(course, name, submission, examiner.release)
    if submission.unclear:
        raise CourseError(submission.unclear)
    return submission.source


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
        source = data.get("source", "")
        found.append(Sheet(data["assignment"], data["student"], tuple(asked), data["code"], source))
    return found
