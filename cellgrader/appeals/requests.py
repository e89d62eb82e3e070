"""Appeals: what a student wants looked at again, in appeal.md beside the notebook, one line an exercise.

The file is read like everything of a student's: its size is bounded, its texts are made printable. It is
no part of the work: it is no new attempt, is not graded and does not enter the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import handed_in, opened
from cellgrader.course.records import read_record
from cellgrader.course.small_files import APPEAL
from cellgrader.marks.appeal_points import AppealAnswer, read_answers
from cellgrader.marks.history import Mark, owners, state_of
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.notebook.parse import NotGradable, plain_text, read_bytes, shown
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.release.adapt import class_notebook

if TYPE_CHECKING:
    from collections.abc import Iterable

# "3: my answer handles empty rows", "Exercise 3 - ...", "## Exercise 3" with the reason below.
LINE = re.compile(
    r"[\s>#*-]*(?:exercise\s+(?P<number>\w{1,4})\**\s*(?:[:.)–—-]+|$)"
    r"|(?P<name>\w{1,60})\**\s*:)\s*(?P<words>.*)",
    re.I,
)
# The most characters of the reason for one exercise.
MOST = 1_000

OPEN = "waits for an answer"
MORE = "the student wrote something new since the answer"
CHANGED = "the student's work changed since the answer"
ANSWERED = "answered"


@dataclass(frozen=True)
class Appeal:
    """What a student says of one exercise."""

    exercise: Exercise
    words: str


@dataclass(frozen=True)
class AppealCase:
    """An appeal with all that an instructor needs to answer it.

    mark: the points now; None without a grade.     saw: what the checks said.
    answer: the last answer, if there is one.
    """

    student: str
    appeal: Appeal
    mark: Mark | None
    saw: str
    answer: AppealAnswer | None

    @property
    def state(self) -> str:
        if self.answer is None:
            return OPEN
        if self.answer.words != self.appeal.words:
            return MORE
        if self.answer.points is not None and self.mark is not None and self.mark.points is None:
            return CHANGED
        return ANSWERED


def parse(text: str, exercises: Sequence[Exercise]) -> tuple[list[Appeal], list[str]]:
    """The appeals in a text, in the notebook's order, and sentences about lines that are unclear.

    A line that names no exercise goes on with the line before it.
    """
    known = {each.number.lower(): each for each in exercises}
    known |= {each.name.lower(): each for each in exercises}
    words: dict[str, list[str]] = {}
    unclear: list[str] = []
    current: list[str] | None = None
    for line in text.splitlines():
        found = LINE.fullmatch(line.rstrip())
        named = (found["number"] or found["name"] or "") if found else ""
        exercise = known.get(named.lower())
        if found and exercise is not None:
            current = words.setdefault(exercise.name, [])
            current.append(found["words"])
        elif found and (found["number"] or named.isdigit()):
            numbers = ", ".join(each.number for each in exercises)
            unclear.append(f"There is no exercise {printable(named, 10)}; the exercises are {numbers}.")
            current = []
        elif current is not None:
            current.append(line)
        elif line.strip(" #*-_=\t"):
            said = shown(line.strip())
            unclear.append(f"A line should begin with an exercise, such as 3, and a colon: {said}")
    appeals = [
        Appeal(each, printable(" ".join(" ".join(words[each.name]).split()), MOST))
        for each in exercises
        if each.name in words
    ]
    return appeals, unclear[:5]


def read_appeals(course: Course, name: str, student: str) -> tuple[list[Appeal], list[str]]:
    """A student's appeals, and sentences about what is unclear in the file; nothing without a file."""
    path = appeal_file(course.submitted / student / name)
    if path is None:
        return [], []
    try:
        content = read_bytes(path, bounds.APPEAL)
    except NotGradable:
        most = f"{bounds.APPEAL:,}"
        return [], [f"{APPEAL} should be an ordinary text file of at most {most} bytes, but is not."]
    exercises = notebooks.exercises(class_notebook(course, name))
    return parse(_decoded(content), exercises)


def appeal_file(folder: Path) -> Path | None:
    """The file with appeals in a submission's folder, however its name is capitalised."""
    with suppress(OSError):
        for path in islice(folder.iterdir(), bounds.FILES):
            if path.name.lower() == APPEAL:
                return path
    return None


def told_of_appeals(course: Course, name: str, student: str) -> list[dict[str, str]]:
    """The appeals and their answers for the feedback page; also an answer whose appeal was removed."""
    appeals = {each.exercise.name: each for each in read_appeals(course, name, student)[0]}
    answers = read_answers(course, name, student)
    if not appeals and not answers:
        return []
    told = []
    for exercise in notebooks.exercises(class_notebook(course, name)):
        appeal, answer = appeals.get(exercise.name), answers.get(exercise.name)
        if appeal is None and answer is None:
            continue
        words = appeal.words if appeal else answer.words if answer else ""
        given = ""
        if answer is not None and answer.points is not None:
            given = f"{number(answer.points)} of {number(exercise.points)} points. "
        told.append(
            {
                "exercise": f"{exercise.number} {exercise.name}",
                "words": words,
                "answer": f"{given}{answer.comment}".strip() if answer else "",
                "when": _day(answer.time, course.settings.zone) if answer else "",
                "waits": "" if answer and answer.words == words else "It waits for an answer.",
            }
        )
    return told


def _day(time: str, zone: tzinfo) -> str:
    """The day of a time that was kept, by the class's clock."""
    with suppress(ValueError):
        return f"{datetime.fromisoformat(time).astimezone(zone):%Y-%m-%d}"
    return time[:10]


def _decoded(content: bytes) -> str:
    """Text of an editor; what cannot be read shows as "?"."""
    return plain_text(content).replace("\ufffd", "?")


def cases(
    course: Course, name: str, students: Iterable[str] | None = None
) -> tuple[list[AppealCase], list[str]]:
    """The appeals of a class beside what the checks saw, and sentences about files that are unclear."""

    found, unclear = [], []
    owner = owners(course, name)
    with opened(course) as gradebook:
        submissions = handed_in(gradebook, name)
        for student in course.students(name) if students is None else students:
            appeals, sentences = read_appeals(course, name, student)
            unclear += [f"{shown(student)}: {sentence}" for sentence in sentences]
            if not appeals:
                continue
            answers = read_answers(course, name, student)
            submission = submissions.get(student)
            state = submission and state_of(course, name, submission, owner)
            marks = (state.marks if state else None) or {}
            record = read_record(course, name, student)
            for each in appeals:
                said = [record.messages.get(test, "") for test in each.exercise.tests] if record else []
                saw = " ".join(filter(None, said))
                mark = marks.get(each.exercise.name)
                found.append(AppealCase(student, each, mark, saw, answers.get(each.exercise.name)))
    return found, unclear
