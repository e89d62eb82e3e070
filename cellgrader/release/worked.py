"""The worked answers of an assignment, sealed for what students get.

Each is the solution, another right answer of the corpus, and the explanation in
solutions/checks/psN/explained.md, where an exercise has a block:

    ## softmax | through the logarithm of the sum

    Three to eight sentences.

The heading names the exercise and the style that stands beside the solution. A poll's block gives the
reason of each option:

    ## poll_1

    - a: One sentence.
    - b: One sentence.

The model answer to a written question comes from the instructor's notebook, without its rubric.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from cellgrader.answers.sheet import CLASS, CODE, FILE, POLL, RESULT, WRITTEN, Sealed, Sheet, Worked
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.profile import the_course

__all__ = ["FILE", "class_key", "explained", "sealed", "worked"]

OPEN, AFTER_DUE, NEVER = "open", "after_due", "never"
EXPLAINED = "explained.md"
BLOCK = re.compile(r"^## (\S+) \| (.+)\n\n((?:(?!## ).*\n?)+)", re.M)
OPTIONS = re.compile(r"^## (\S+)\n\n((?:- \w+: .+\n?)+)", re.M)
MODEL = re.compile(r"\*\*Model answer\.\*\*\s*(.+?)\s*(?=\n\*\*Rubric\b|\Z)", re.S)
TITLE = re.compile(r"^## Exercise (\d+) · (.+)$", re.M)


def sealed(course: Course, name: str, book: dict) -> bytes | None:
    """The file with an assignment's worked answers; None if the class closes them or there are none.

    Args:
        book: the instructor's notebook, as the class gives it.
    Raises:
        CourseError: a block of explained.md belongs to no exercise, or names an unknown style.
    """
    when = course.settings.answers
    blocks = explained(course, name)
    if when == NEVER or not blocks:
        return None
    right = the_course().check_part("right")
    given = class_key(course, name) if when == AFTER_DUE else ""
    opens = CLASS if given else RESULT
    sheet = Sheet(name, opens, opens == RESULT and course.settings["answers.after_hints"], {})
    answers, records = every_answer(course, name, book), _records(course, name)
    titles = dict(TITLE.findall("\n\n".join(map(notebooks.text, book["cells"]))))
    for exercise in notebooks.exercises(book):
        if exercise.name not in answers:
            continue
        kind, answer = answers[exercise.name]
        shift, key = 0, given or sheet.public_key(exercise.name)
        if kind == CODE and not given:
            record = records[exercise.name]
            shift = right.best_shift(record)
            key = right.key(record, shift)
        title = titles.get(exercise.number.rstrip("abcdefgh"), "").strip()
        lines = sheet.locked(exercise.name, answer, key)
        sheet.answers[exercise.name] = Sealed(exercise.number, title, shift, lines, kind)
    return sheet.written()


def every_answer(course: Course, name: str, book: dict) -> dict[str, tuple[str, Worked]]:
    """What is sealed for a notebook, by the name of the answer, each with its kind."""
    kinds = {
        CODE: worked(course, name, book),
        POLL: reasons_of_polls(course, name),
        WRITTEN: model_answers(book),
    }
    return {answer: (kind, one) for kind, found in kinds.items() for answer, one in found.items()}


def worked(course: Course, name: str, book: dict) -> dict[str, Worked]:
    """The worked answers to the exercises of a notebook that explained.md explains."""
    styles = the_course().load_checks(course.root, name).RIGHT
    cells = {notebooks.mark(cell).get("grade_id"): notebooks.text(cell) for cell in book["cells"]}
    here = {exercise.name for exercise in notebooks.exercises(book)}
    found = {}
    for exercise, (style, text) in explained(course, name).items():
        others = dict(styles.get(exercise, ()))
        if style not in others:
            raise CourseError(
                f"{name}/{EXPLAINED}: the block of {exercise} should name a right answer of its corpus "
                f"after '|', but names {style!r}. There are: {', '.join(others) or 'none'}."
            )
        if exercise in here:  # a class may leave it out
            code = notebooks.without_markers(cells[exercise]).strip()
            found[exercise] = Worked(text, code, style, others[style].strip())
    return found


def explained(course: Course, name: str) -> dict[str, tuple[str, str]]:
    """The style beside the solution and the explanation of each exercise, from explained.md.

    Raises:
        CourseError: a line of the file is in no block.
    """
    text = _text(course, name)
    without = OPTIONS.sub("", BLOCK.sub("", text))
    left = [line for line in without.splitlines() if line.strip() and line[:2] != "# "]
    if left:
        raise CourseError(
            f"{name}/{EXPLAINED}: {left[0]!r} should be in a block with a heading '## exercise | style' "
            f"and an empty line below it."
        )
    return {
        exercise: (style.strip(), " ".join(text.split()))
        for exercise, style, text in BLOCK.findall(text)
    }


def reasons(course: Course, name: str) -> dict[str, dict[str, str]]:
    """Why each option of a poll is right or wrong, by the name of the poll and the letter."""
    return {
        poll: dict(re.findall(r"^- (\w+): (.+)$", options, re.M))
        for poll, options in OPTIONS.findall(_text(course, name))
    }


def reasons_of_polls(course: Course, name: str) -> dict[str, Worked]:
    """What is shown of each poll that explained.md explains.

    Raises:
        CourseError: a block belongs to no poll, or leaves out the right option.
    """
    polls = the_course().check_part("hidden").Poll
    checks = the_course().load_checks(course.root, name).CHECKS
    right = {check.answer: check.right for check in checks if isinstance(check, polls)}
    found = {}
    for poll, options in reasons(course, name).items():
        if right.get(poll) not in options:
            raise CourseError(
                f"{name}/{EXPLAINED}: the block of {poll} should belong to a poll and give a reason for "
                f"its right option, {right.get(poll, 'but there is no such poll')}. "
                f"It has: {', '.join(options)}."
            )
        judged = {letter: "right" if letter == right[poll] else "wrong" for letter in options}
        lines = [f"{letter} is {judged[letter]}. {reason}" for letter, reason in options.items()]
        found[poll] = Worked("\n\n".join(lines))
    return found


def model_answers(book: dict) -> dict[str, Worked]:
    """The model answers to the written questions of a notebook, without their rubrics."""
    cells = {notebooks.mark(cell).get("grade_id"): notebooks.text(cell) for cell in book["cells"]}
    written = (one.name for one in notebooks.exercises(book) if not one.code)
    models = {name: MODEL.search(notebooks.without_markers(cells[name])) for name in written}
    return {name: Worked(model[1]) for name, model in models.items() if model}


def class_key(course: Course, name: str) -> str:
    """The key that a class gives out: "K3QF-...", made from the class's secret."""
    made = hmac.digest(course.secret(), f"worked answers {name}".encode(), hashlib.sha256)[:10]
    letters = base64.b32encode(made).decode()
    return "-".join(letters[start : start + 4] for start in range(0, len(letters), 4))


def _text(course: Course, name: str) -> str:
    """The text of explained.md; "" if there is none."""
    path = course.solutions / "checks" / name / EXPLAINED
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _records(course: Course, name: str) -> dict:
    """The exercises of an assignment, by the name of the answer."""
    checks = the_course().load_checks(course.root, name).CHECKS
    return {check.exercise.name: check.exercise for check in checks if hasattr(check, "exercise")}
