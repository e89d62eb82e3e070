"""Load what grades an assignment, and what tests that: the cards in solutions/checks/psN.

A course may define its own exercises in solutions/checks/psN.py, as EXERCISES or as whole CHECKS.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from seqcourse.check.cards import card, listing
from seqcourse.check.cards.corpus import Answers, poll_answers
from seqcourse.check.cards.shipped import fill
from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import Check, HiddenCheck, Poll
from seqcourse.errors import CourseError


def load_checks(root: Path, assignment: str) -> ModuleType:
    """CHECKS of an assignment in the notebook's order, and the answers that test them.

    WRONG, HELD_OUT, RIGHT and SURVIVORS give a list for each exercise (``corpus.Answers``), EXPLAINED
    its explanation with the style beside the solution, REASONS those of a poll's options.

    Raises:
        CourseError: there are no checks, or a text cannot be read.
    """
    folder = root / "solutions" / "checks" / assignment
    module, cards = _own(folder.with_suffix(".py")), card.cards(folder)
    polls, module.REASONS = listing.polls(folder / card.POLLS)
    hidden = [*_hidden(module, assignment, cards), *polls]
    if hidden:
        module.CHECKS = _in_order(hidden, root / "solutions" / assignment / f"{assignment}.ipynb")
    if not hasattr(module, "CHECKS"):
        raise CourseError(
            f"The hidden checks of {assignment} should be in the cards of its exercises, "
            f"solutions/checks/{assignment}/EXERCISE.txt, but there are none in {root}."
        )
    answers = answers_to(module.CHECKS, cards, assignment)
    module.WRONG = {name: found.wrong for name, found in answers.items()}
    module.HELD_OUT = {name: found.held_out for name, found in answers.items()}
    module.RIGHT = {name: found.right for name, found in answers.items() if found.right}
    module.SURVIVORS = {name: found.survives for name, found in answers.items() if found.survives}
    module.EXPLAINED = {name: one.explained for name, one in cards.items() if one.explained}
    return module


def answers_to(
    checks: Sequence[Check], cards: Mapping[str, card.Card], assignment: str
) -> dict[str, Answers]:
    """The answers that test these checks, by exercise, in the order of the checks.

    Wrong answers to a poll need no card: they are made from its letter.

    Raises:
        CourseError: a card belongs to no check.
    """
    found = {}
    for name, check in {check.answer: check for check in checks}.items():
        if name in cards:
            found[name] = cards[name].answers
        elif isinstance(check, Poll):
            found[name] = Answers(poll_answers(check), [], [], [], [])
    for name in cards.keys() - found.keys():
        raise CourseError(
            f"{assignment}/{name}.txt should be named after an exercise, but no check has that name."
        )
    return found


def _hidden(module: ModuleType, assignment: str, cards: Mapping[str, card.Card]) -> list[HiddenCheck]:
    """The hidden checks on the cards."""
    listed = {name: one for name, one in cards.items() if one.hidden}
    if not listed:
        return []
    exercises: Mapping[str, Exercise] | None = getattr(module, "EXERCISES", None)
    if exercises is None:
        exercises = importlib.import_module(f"seqcourse.check.{assignment}").EXERCISES
    else:
        fill(exercises, {name: one.told for name, one in listed.items()})
    found = []
    for name, one in listed.items():
        try:
            if name not in exercises:
                raise CourseError(f"it should belong to an exercise, but there is no {name}.")
            checks = [listing.hidden_check(*each, exercises[name]) for each in one.hidden.items()]
        except CourseError as error:
            raise CourseError(f"{assignment}/{name}.txt: {error}") from error
        found += checks
    return found


def _in_order(checks: Sequence[Check], notebook: Path) -> list[Check]:
    """The checks as their grade cells come in the notebook; what has no cell there, behind them."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"] if notebook.is_file() else []
    marks = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    places = {cell: place for place, cell in enumerate(marks)}
    return sorted(checks, key=lambda check: places.get(check.cell, len(marks)))


def _own(path: Path) -> ModuleType:
    """The module in a file; an empty one if there is no file."""
    if not path.is_file():
        return ModuleType(path.stem)
    specification = importlib.util.spec_from_file_location(f"seqcourse_checks_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look themselves up there
    specification.loader.exec_module(module)
    return module
