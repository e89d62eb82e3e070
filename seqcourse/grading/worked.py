"""The worked answers of an assignment, sealed for what students get.

Each is the solution, another right answer of the corpus, and the explanation in
solutions/checks/psN/explained.md, where an exercise has a block:

    ## softmax | through the logarithm of the sum

    Three to eight sentences.

The heading names the exercise and the style that stands beside the solution.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from seqcourse.answers.sheet import CLASS, FILE, RESULT, Sealed, Sheet, Worked
from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course

__all__ = ["FILE", "class_key", "explained", "sealed", "worked"]

OPEN, AFTER_DUE, NEVER = "open", "after_due", "never"
EXPLAINED = "explained.md"
BLOCK = re.compile(r"^## (\S+) \| (.+)\n\n((?:(?!## ).*\n?)+)", re.M)
TITLE = re.compile(r"^## Exercise (\d+) · (.+)$", re.M)


def sealed(course: Course, name: str, book: dict) -> bytes | None:
    """The file with an assignment's worked answers; None if the class closes them or there are none.

    Args:
        book: the instructor's notebook, as the class gives it.
    Raises:
        CourseError: a block of explained.md belongs to no exercise, or names an unknown style.
    """
    when = course.settings["answers.when"]
    blocks = explained(course, name)
    if when == NEVER or not blocks:
        return None
    from seqcourse.check import right

    given = class_key(course, name) if when == AFTER_DUE else ""
    opens = CLASS if given else RESULT
    sheet = Sheet(name, opens, opens == RESULT and course.settings["answers.after_hints"], {})
    answers, records = worked(course, name, book), _records(course, name)
    titles = dict(TITLE.findall("\n\n".join(map(notebooks.text, book["cells"]))))
    for exercise in notebooks.exercises(book):
        if exercise.name not in answers:
            continue
        record = records[exercise.name]
        shift = 0 if given else right.best_shift(record)
        key = given or right.key(record, shift)
        title = titles.get(exercise.number.rstrip("abcdefgh"), "").strip()
        lines = sheet.locked(exercise.name, answers[exercise.name], key)
        sheet.answers[exercise.name] = Sealed(exercise.number, title, shift, lines)
    return sheet.written()


def worked(course: Course, name: str, book: dict) -> dict[str, Worked]:
    """The worked answers to the exercises of a notebook that explained.md explains."""
    from seqcourse.check.load import load_checks

    styles = load_checks(course.root, name).RIGHT
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
    path = course.solutions / "checks" / name / EXPLAINED
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    left = [line for line in BLOCK.sub("", text).splitlines() if line.strip() and line[:2] != "# "]
    if left:
        raise CourseError(
            f"{name}/{EXPLAINED}: {left[0]!r} should be in a block with a heading '## exercise | style' "
            f"and an empty line below it."
        )
    return {
        exercise: (style.strip(), " ".join(text.split()))
        for exercise, style, text in BLOCK.findall(text)
    }


def class_key(course: Course, name: str) -> str:
    """The key that a class gives out: "K3QF-...", made from the class's secret."""
    made = hmac.digest(course.secret(), f"worked answers {name}".encode(), hashlib.sha256)[:10]
    letters = base64.b32encode(made).decode()
    return "-".join(letters[start : start + 4] for start in range(0, len(letters), 4))


def _records(course: Course, name: str) -> dict:
    """The exercises of an assignment, by the name of the answer."""
    from seqcourse.check.load import load_checks

    checks = load_checks(course.root, name).CHECKS
    return {check.exercise.name: check.exercise for check in checks if hasattr(check, "exercise")}
