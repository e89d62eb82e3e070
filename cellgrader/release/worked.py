"""The worked answers of an assignment, sealed for what students get.

Each is the solution, another right answer and the explanation that the exercise's card has
(solutions/checks/psN/EXERCISE.txt). A poll has the reason of each option.

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
MODEL = re.compile(r"\*\*Model answer\.\*\*\s*(.+?)\s*(?=\n\*\*Rubric\b|\Z)", re.S)
TITLE = re.compile(r"^## Exercise (\d+) · (.+)$", re.M)


def sealed(course: Course, name: str, book: dict) -> bytes | None:
    """The file with an assignment's worked answers; None if the class closes them or there are none.

    Args:
        book: the instructor's notebook, as the class gives it.
    Raises:
        CourseError: an explanation names an unknown style.
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
    """The worked answers to the exercises of a notebook whose cards explain them."""
    styles = the_course().load_checks(course.root, name).RIGHT
    cells = {notebooks.mark(cell).get("grade_id"): notebooks.text(cell) for cell in book["cells"]}
    here = {exercise.name for exercise in notebooks.exercises(book)}
    found = {}
    for exercise, (style, text) in explained(course, name).items():
        others = dict(styles.get(exercise, ()))
        if style not in others:
            raise CourseError(
                f"{name}/{exercise}.txt: '=== explained: ...' should name a right answer of the card, "
                f"but names {style!r}. There are: {', '.join(others) or 'none'}."
            )
        if exercise in here:  # a class may leave it out
            code = notebooks.without_markers(cells[exercise]).strip()
            found[exercise] = Worked(text, code, style, others[style].strip())
    return found


def explained(course: Course, name: str) -> dict[str, tuple[str, str]]:
    """The style beside the solution and the explanation of each exercise, from its card."""
    return the_course().load_checks(course.root, name).EXPLAINED


def reasons_of_polls(course: Course, name: str) -> dict[str, Worked]:
    """What is shown of each poll whose options have reasons."""
    checks = the_course().load_checks(course.root, name)
    right = {check.answer: check.right for check in checks.CHECKS if hasattr(check, "right")}
    found = {}
    for poll, options in checks.REASONS.items():
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


def _records(course: Course, name: str) -> dict:
    """The exercises of an assignment, by the name of the answer."""
    checks = the_course().load_checks(course.root, name).CHECKS
    return {check.exercise.name: check.exercise for check in checks if hasattr(check, "exercise")}
