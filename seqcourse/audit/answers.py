"""What a check is tried with: wrong and right answers of the corpus, mutants of the solutions."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release.sample import load_checks, right_answers
from seqcourse.audit.operators import mutants_of
from seqcourse.errors import CourseError

WRONG, HELD_OUT, RIGHT, OPERATOR = "wrong", "held out", "right", "operator"


@dataclass(frozen=True)
class Answer:
    """One answer to one exercise, and its expected outcome.

    kind: WRONG must lose points, RIGHT must lose none, OPERATOR must lose points or be explained. Of
        HELD_OUT it is only counted how many lose points and are named.
    says: text that the message must contain, or several with " / " between; empty for a poll, and for
        what a check is not expected to name.
    why: the reason why an operator mutant may survive, or "".
    """

    exercise: str
    name: str
    source: str
    kind: str
    says: str = ""
    why: str = ""


def corpus(checks: ModuleType) -> list[Answer]:
    """The wrong and right answers in solutions/checks/psN, those held out among them."""
    found = []
    for kind, table in ((WRONG, checks.WRONG), (HELD_OUT, checks.HELD_OUT), (RIGHT, checks.RIGHT)):
        for exercise, entries in table.items():
            for name, source, *says in entries:
                found.append(Answer(exercise, name, source, kind, *(says[:1] if kind != RIGHT else [])))
    return found


def operator_mutants(course: Course, name: str) -> list[Answer]:
    """The operator mutants of every reference solution, with the explanations in SURVIVORS.

    Raises:
        CourseError: an explanation in SURVIVORS matches no mutant.
    """
    checks = load_checks(course, name)
    solutions = right_answers(notebooks.read(course.solution(name)))
    explained = {
        exercise: {tuple(key): why for *key, why in entries}
        for exercise, entries in getattr(checks, "SURVIVORS", {}).items()
    }
    found = []
    for exercise, source in solutions.items():
        if exercise not in checks.RIGHT:
            continue
        reasons = explained.pop(exercise, {})
        for mutant in mutants_of(source):
            why = reasons.pop(mutant.key, "")
            known = f"{mutant.operator}, line {mutant.line}: {mutant.text}"
            found.append(Answer(exercise, known, mutant.source, OPERATOR, why=why))
        if reasons:
            raise CourseError(
                f"SURVIVORS should explain mutants of {exercise} that exist, but there is none called "
                f"{next(iter(reasons))!r}. The solution changed: take the entry out."
            )
    return found
