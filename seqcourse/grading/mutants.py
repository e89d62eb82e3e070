"""Test the hidden checks: wrong answers must lose points, right answers must not.

Every answer goes through the pipeline that grades students. To save time, one submission combines
answers to several exercises; exercises that use each other's functions are never combined.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.adapt import class_notebook
from seqcourse.grading.operators import mutants_of
from seqcourse.grading.sample import answered, load_checks, put_beside, right_answers

if TYPE_CHECKING:
    from rich.table import Table

    from seqcourse.grading.course import Course
    from seqcourse.grading.examine import Examination

WRONG, RIGHT, OPERATOR = "wrong", "right", "operator"
SECONDS = 10  # limit for one probe: some mutants never end
Examine = Callable[[str, str, Path], "Examination"]


@dataclass(frozen=True)
class Answer:
    """One answer to one exercise, and its expected outcome.

    kind: WRONG must lose points, RIGHT must lose none, OPERATOR must lose points or be explained.
    says: text that the message must contain; empty for a poll.
    why: the reason why an operator mutant may survive, or "".
    """

    exercise: str
    name: str
    source: str
    kind: str
    says: str = ""
    why: str = ""


@dataclass(frozen=True)
class Outcome:
    """The outcome of an answer: points lost, points possible, and the message."""

    answer: Answer
    lost: float
    worth: float
    message: str

    @property
    def named(self) -> bool:
        """Whether the message names the mistake."""
        return self.answer.says in self.message

    @property
    def fault(self) -> str:
        """The check's fault, or "" if the outcome is as expected."""
        kind = self.answer.kind
        if kind == RIGHT:
            return "false alarm" if self.lost else ""
        if not self.lost:
            return "" if self.answer.why else "survivor"
        if kind == WRONG and not self.named:
            return "not named"
        return "explained as a survivor, but killed" if self.answer.why else ""


def corpus(checks: ModuleType) -> list[Answer]:
    """The wrong and right answers of solutions/checks/psN.py."""
    found = []
    for kind, table in ((WRONG, checks.WRONG), (RIGHT, checks.RIGHT)):
        for exercise, entries in table.items():
            for name, source, *says in entries:
                found.append(Answer(exercise, name, source, kind, *(says[:1] if kind == WRONG else [])))
    return found


def operator_mutants(course: Course, name: str) -> list[Answer]:
    """The operator mutants of every reference solution, with the explanations in SURVIVORS.

    Raises:
        CourseError: an explanation in SURVIVORS matches no mutant.
    """
    checks = load_checks(course, name)
    solutions = right_answers(class_notebook(course, name))
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


def columns(
    answers: Iterable[Answer], exercises: Iterable[str], depends: Mapping[str, Sequence[str]]
) -> list[dict[str, Answer]]:
    """Group answers that can be handed in together: one per exercise, no dependencies between them.

    Args:
        depends: exercise -> the exercises whose answers its check calls.
    """
    names = set(exercises)
    found: list[tuple[dict[str, Answer], set[str]]] = []
    for answer in answers:
        touched = (_names_in(answer.source) | set(depends.get(answer.exercise, ()))) & names
        touched |= {other for other, needs in depends.items() if answer.exercise in needs}
        touched -= {answer.exercise}
        for column, reserved in found:
            kinds = {other.kind for other in column.values()}
            if answer.exercise in column or kinds != {answer.kind}:
                continue
            if answer.exercise not in reserved and not touched & set(column):
                column[answer.exercise] = answer
                reserved |= touched
                break
        else:
            found.append(({answer.exercise: answer}, set(touched)))
    return [column for column, _ in found]


def _names_in(source: str) -> set[str]:
    """The names that a source reads or binds, without attributes."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def try_answers(
    course: Course,
    name: str,
    answers: Sequence[Answer],
    examine: Examine,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[Outcome]:
    """Submit and examine the answers; return their outcomes in the same order.

    Answers to exercises that the class leaves out are passed over.

    Args:
        examine: examines (assignment, student, folder), see ``Examiner.examine``.
        tell: called with the number of submissions done and the total.

    Raises:
        CourseError: a reference answer lost points, because another answer in its submission affects it.
    """
    solution = class_notebook(course, name)
    released = notebooks.read(course.assignments / name / f"{name}.ipynb")
    right = right_answers(solution)
    tasks = {task.name: task for task in notebooks.exercises(solution)}
    depends = getattr(load_checks(course, name), "DEPENDS", {})
    answers = [answer for answer in answers if answer.exercise in tasks]
    packed = columns(answers, tasks, depends)
    outcomes: dict[Answer, Outcome] = {}
    for number, column in enumerate(packed):
        sources = right | {exercise: answer.source for exercise, answer in column.items()}
        with tempfile.TemporaryDirectory() as folder:
            book = answered(released, sources)
            notebooks.write(book, Path(folder) / name / f"{name}.ipynb")
            put_beside(course, name, Path(folder) / name)
            examination = examine(name, "mutant", Path(folder) / name)
        if not examination.points:
            why = examination.sentence or f"it has no graded cell of {name}'s ({examination.status})."
            raise CourseError(f"Submission {number} of {name} should have got a grade, but: {why}")
        for exercise, task in tasks.items():
            points = [examination.points[cell] for cell in task.tests if cell in examination.points]
            message = " ".join(filter(None, (examination.messages.get(cell) for cell in task.tests)))
            lost = round(task.automatic - sum(points), 6)
            if exercise in column:
                answer = column[exercise]
                outcomes[answer] = Outcome(answer, lost, task.automatic, message)
            elif lost and not set(depends.get(exercise, ())) & set(column):
                others = ", ".join(f"{e}: {a.name}" for e, a in column.items())
                raise CourseError(
                    f"The reference answer to {exercise} should get every point, but lost {lost:g} "
                    f"beside {others}. It said: {message} Name the exercises it needs in DEPENDS."
                )
        tell(number + 1, len(packed))
    return [outcomes[answer] for answer in answers]


def as_table(name: str, outcomes: Sequence[Outcome]) -> Table:
    """The outcomes as a table: exercise, kind, answer, points lost, whether the mistake is named."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("exercise", "kind", "answer", "lost", "named", "", title=f"{name}: answers tried")
    before = ""
    for outcome in outcomes:
        answer = outcome.answer
        named = "" if answer.kind != WRONG or not answer.says else "yes" if outcome.named else "NO"
        mark = f"[bold red]{outcome.fault.upper()}[/]" if outcome.fault else ""
        if answer.why and not outcome.fault:
            mark = f"survives: {escape(answer.why)}"
        elif answer.kind == OPERATOR and not outcome.fault:
            continue  # omit the hundreds of killed mutants
        lost = f"{outcome.lost:g} of {outcome.worth:g}"
        shown = answer.exercise if answer.exercise != before else ""
        table.add_row(shown, answer.kind, escape(answer.name), lost, named, mark)
        before = answer.exercise
    return table


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """Summary lines: the number of answers of each kind, and how many the checks judged right."""
    lines = []
    wrong, right, mutants = (
        [outcome for outcome in outcomes if outcome.answer.kind == kind]
        for kind in (WRONG, RIGHT, OPERATOR)
    )
    if wrong:
        caught = sum(outcome.lost > 0 for outcome in wrong)
        named = sum(outcome.lost > 0 and outcome.named for outcome in wrong)
        lines.append(
            f"{len(wrong)} wrong answers: {caught} lost points, {named} with their mistake named"
        )
    if right:
        full = sum(not outcome.lost for outcome in right)
        lines.append(f"{len(right)} right answers: {full} got every point")
    if mutants:
        killed = sum(outcome.lost > 0 for outcome in mutants)
        left = [outcome for outcome in mutants if not outcome.lost]
        explained = sum(bool(outcome.answer.why) for outcome in left)
        lines.append(
            f"{len(mutants)} operator mutants: {killed} killed ({100 * killed / len(mutants):.1f} %), "
            f"{len(left)} survived, {explained} of them explained"
        )
    return lines


def told(outcome: Outcome) -> str:
    """The check's fault in a sentence."""
    answer = outcome.answer
    known = f"{answer.exercise}, {answer.kind} answer {answer.name!r}"
    if outcome.fault == "false alarm":
        return (
            f"false alarm: {known} should get every point, but lost {outcome.lost:g}: {outcome.message}"
        )
    if outcome.fault == "not named":
        return f"not named: {known} should say {answer.says!r}, but says: {outcome.message}"
    if outcome.fault == "survivor":
        return f"survivor: {known} should lose points, but got every one"
    return f"{outcome.fault}: {known}. Take it out of SURVIVORS."


def faults(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with a fault: survivors, false alarms, mistakes not named."""
    return [outcome for outcome in outcomes if outcome.fault]
