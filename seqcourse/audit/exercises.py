"""Everything that is tried on one exercise, and the record of what came of it."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

from cellgrader.course.folders import Course
from cellgrader.release.sample import load_checks
from seqcourse.audit import forms, second
from seqcourse.audit.answers import HELD_OUT, OPERATOR, RIGHT, WRONG, Answer, corpus, operator_mutants
from seqcourse.audit.in_process import Space, answered_space, handed_over, solved_space
from seqcourse.audit.trial import judge_in, judged, measuring, self_check, try_in
from seqcourse.check.exercise import Exercise
from seqcourse.check.grade.verdict import Judge
from seqcourse.check.hidden import HiddenCheck

KINDS = (RIGHT, WRONG, HELD_OUT, OPERATOR)
SECONDS = 10  # of one probe of a mutant: some never end
ALL_FORMS = (forms.AS_MADE, *forms.FORMS, *[forms.SECOND] * second.available())
# What an answer computes with, by how it looks in its source.
MATRIX_PRODUCTS = {"matmul", "bmm", "mm", "mv", "dot", "linear", "baddbmm"}
Record = dict[str, Any]
Tell = Callable[[int, int], None]


class Desk:
    """One assignment with all that its exercises are tried with.

    Args:
        seed: draws the hidden inputs.
    """

    def __init__(self, course: Course, name: str, seed: int) -> None:
        self.course, self.name, self.seed = course, name, seed
        self.checks = load_checks(course, name)
        self.space: Space = solved_space(course, name, whole=False)
        self._judges: dict[tuple[str, int], Judge] = {}

    def exercises(self) -> dict[str, list[HiddenCheck]]:
        """The checks of every exercise that is answered by code; polls have nothing to measure."""
        found: dict[str, list[HiddenCheck]] = {}
        for check in self.checks.CHECKS:
            if isinstance(check, HiddenCheck):
                found.setdefault(check.answer, []).append(check)
        return found

    def record(self, exercise: str) -> Exercise:
        """The exercise as its self-check has it; hidden checks may have variants."""
        own = getattr(self.checks, "EXERCISES", None)
        return (own or import_module(f"seqcourse.check.{self.name}").EXERCISES)[exercise]

    def measuring(self, checks: list[HiddenCheck], draw: int = 0) -> list[Judge]:
        """The judges that measure how far answers are from right, made once for each draw of inputs."""
        for check in checks:
            if (check.cell, draw) not in self._judges:
                self._judges[check.cell, draw] = Judge(measuring(check), self.seed + draw)
        return [self._judges[check.cell, draw] for check in checks]

    @cached_property
    def mutants(self) -> list[Answer]:
        return operator_mutants(self.course, self.name)

    def answers(self, exercise: str, kind: str) -> list[Answer]:
        """The answers of a kind to an exercise."""
        made = self.mutants if kind == OPERATOR else corpus(self.checks)
        return [one for one in made if (one.exercise, one.kind) == (exercise, kind)]


def audit(
    desk: Desk,
    exercise: str,
    kinds: Collection[str] = KINDS,
    most: int | None = None,
    tell: Tell = lambda done, total: None,
) -> dict[str, Record]:
    """Try all answers to an exercise: a record for each kind, with `faults` in sentences.

    All: how many there are (`made`), and how many were `tried`.

    RIGHT: how many were `accepted` in every form; forms: form -> [accepted, tried]; styles: what they
    compute with -> how many of them do; errors: tolerance -> the largest error of any of them that was
    compared with it.

    WRONG: how many were `refused`, and had their mistake `named` by self-check and grader; nearest: the
    smallest error of one that is wrong by its numbers, and its name; [] if none is. HELD_OUT: the same.

    OPERATOR: the same, with how many that get all points are `explained`.

    Args:
        kinds: the kinds of answers to try.
        most: so many answers of each kind at most, spread over all of them.
        tell: called with how many answers of a kind are done, and of how many.
    """
    checks = desk.exercises()[exercise]
    attempts = {RIGHT: _try_right, WRONG: _try_wrong, HELD_OUT: _try_wrong, OPERATOR: _try_mutants}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            if kind in kinds:
                answers = every = desk.answers(exercise, kind)
                if most is not None:
                    answers = every[:: max(1, -(-len(every) // most))]
                found[kind] = attempts[kind](desk, checks, answers, Path(folder), tell)
                found[kind] |= {"made": len(every)}
    return found


def _try_right(
    desk: Desk, checks: list[HiddenCheck], answers: Sequence[Answer], folder: Path, tell: Tell
) -> Record:
    spaces = [answered_space(desk.space, answer) for answer in answers]
    tried_in: dict[str, list[int]] = {}
    computed: dict[str, int] = {}
    errors: dict[str, float] = {}
    refused: set[str] = set()
    faults: list[str] = []

    def fault(answer: Answer, where: str, message: str) -> None:
        refused.add(answer.name)
        faults.append(f"refused: {answer.name}, {where}: {message}")

    for answer, space in zip(answers, spaces, strict=True):
        for style in styles(answer.source):
            computed[style] = computed.get(style, 0) + 1
        message = self_check(desk.record(answer.exercise), space.get(answer.exercise))
        if message:
            fault(answer, "self-check", message)
    for number, form in enumerate(ALL_FORMS):
        judges = [judge for plain in desk.measuring(checks) if (judge := judge_in(plain, form))]
        for answer, space in zip(answers, spaces, strict=True) if judges else ():
            trials = [trial for judge in judges if (trial := try_in(judge, form, space, folder))]
            counts = tried_in.setdefault(form, [0, 0])
            counts[1] += bool(trials)
            counts[0] += bool(trials) and all(trial.accepted for trial in trials)
            for trial in trials:
                if not trial.accepted:
                    fault(answer, form, trial.message)
                for distance in trial.distances:
                    key = f"{distance.tolerance:g}"
                    errors[key] = max(errors.get(key, 0.0), distance.error)
        tell(number + 1, len(ALL_FORMS))
    accepted = len({answer.name for answer in answers} - refused)
    return {
        "tried": len(answers),
        "accepted": accepted,
        "forms": tried_in,
        "styles": dict(sorted(computed.items())),
        "errors": errors,
        "faults": faults,
    }


def _try_wrong(
    desk: Desk, checks: list[HiddenCheck], answers: Sequence[Answer], folder: Path, tell: Tell
) -> Record:
    judges = [Judge(check, desk.seed) for check in checks]
    record: Record = {"tried": len(answers), "refused": 0, "named": 0, "nearest": [], "faults": []}
    for number, answer in enumerate(answers):
        space = answered_space(desk.space, answer)
        probed = [handed_over(judge.request, space, folder) for judge in judges]
        trials = [judged(judge, *found) for judge, found in zip(judges, probed, strict=True)]
        told = [" ".join(trial.message for trial in trials)]
        told.append(self_check(desk.record(answer.exercise), space.get(answer.exercise)))
        refused = not all(trial.accepted for trial in trials)
        says = answer.says.split(" / ") if answer.says or answer.kind == WRONG else []
        named = refused and all(any(words in message for words in says) for message in told)
        record["refused"] += refused
        record["named"] += named
        if not named:
            what = "not named" if refused else "accepted"
            record["faults"].append(f"{what}: {answer.name}: {' / '.join(told)}")
        _measure(desk.measuring(checks), probed, answer.name, record)
        tell(number + 1, len(answers))
    return record


def _try_mutants(
    desk: Desk, checks: list[HiddenCheck], answers: Sequence[Answer], folder: Path, tell: Tell
) -> Record:
    record: Record = {"tried": len(answers), "refused": 0, "explained": 0, "nearest": [], "faults": []}
    for number, answer in enumerate(answers):
        space = answered_space(desk.space, answer)
        for draw in (0, 1):  # a small change may show on some inputs only
            judges = desk.measuring(checks, draw)
            requests = [{**judge.request, "seconds": SECONDS} for judge in judges]
            probed = [handed_over(request, space, folder) for request in requests]
            refused = _measure(judges, probed, f"mutant {answer.name}", record)
            if refused:
                break
        record["refused"] += refused
        record["explained"] += not refused and bool(answer.why)
        if not refused and not answer.why:
            record["faults"].append(f"accepted: mutant {answer.name}")
        tell(number + 1, len(answers))
    return record


def _measure(judges: Sequence[Judge], probed: Sequence[tuple], name: str, record: Record) -> bool:
    """Whether an answer is refused; the record keeps the nearest to right that is wrong by numbers."""
    trials = [judged(judge, *found) for judge, found in zip(judges, probed, strict=True)]
    if any(trial.wrong_by_numbers for trial in trials):
        error = max(trial.error for trial in trials)  # what the clearest of several checks sees
        if isfinite(error) and (not record["nearest"] or error < record["nearest"][0]):
            record["nearest"] = [error, name]
    return not all(trial.accepted for trial in trials)


def styles(source: str) -> list[str]:
    """What an answer computes with: einsum, loops, matrix products, PyTorch's functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name == "einsum":
            found.add("einsum")
        if name in MATRIX_PRODUCTS or isinstance(getattr(node, "op", None), ast.MatMult):
            found.add("products")
        if isinstance(node, (ast.For, ast.While, ast.comprehension)):
            found.add("loops")
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith(
            ("torch.nn.functional.", "nn.functional.", "nn.", "torch.nn.", "F.")
        ):
            found.add("PyTorch")
    return sorted(found)
