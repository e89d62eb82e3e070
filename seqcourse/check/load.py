"""Load what grades an assignment, and what tests that: plain texts in solutions/checks/psN.

checks.txt lists the hidden checks (`listing`), every other text the answers to one exercise (`corpus`).
A course may define its own exercises in solutions/checks/psN.py, as EXERCISES or as whole CHECKS.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from seqcourse.check.corpus import answers_to, read
from seqcourse.check.exercise import with_mistakes
from seqcourse.check.listing import read_checks
from seqcourse.errors import CourseError


def load_checks(root: Path, assignment: str) -> ModuleType:
    """CHECKS of an assignment in the notebook's order, and the answers that test them.

    WRONG, HELD_OUT, RIGHT and SURVIVORS give a list for each exercise (``corpus.Answers``); they are
    empty where the texts are missing, as in a worker's copy.

    Raises:
        CourseError: there are no checks, or a text cannot be read.
    """
    folder = root / "solutions" / "checks" / assignment
    module, listed = _own(folder.with_suffix(".py")), folder / "checks.txt"
    if listed.is_file():
        exercises = getattr(module, "EXERCISES", None)
        if exercises is None:
            exercises = importlib.import_module(f"seqcourse.check.{assignment}").EXERCISES
        else:
            texts = {name: folder / f"{name}.txt" for name in exercises}
            with_mistakes(exercises, {n: read(t).mistakes for n, t in texts.items() if t.is_file()})
        module.CHECKS = read_checks(listed, exercises)
    if not hasattr(module, "CHECKS"):
        raise CourseError(
            f"The hidden checks of {assignment} should be in solutions/checks/{assignment}/checks.txt, "
            f"but there is no such file in {root}."
        )
    answers = answers_to(module.CHECKS, folder)
    module.WRONG = {name: found.wrong for name, found in answers.items()}
    module.HELD_OUT = {name: found.held_out for name, found in answers.items()}
    module.RIGHT = {name: found.right for name, found in answers.items() if found.right}
    module.SURVIVORS = {name: found.survives for name, found in answers.items() if found.survives}
    return module


def _own(path: Path) -> ModuleType:
    """The module in a file; an empty one if there is no file."""
    if not path.is_file():
        return ModuleType(path.stem)
    specification = importlib.util.spec_from_file_location(f"seqcourse_checks_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look themselves up there
    specification.loader.exec_module(module)
    return module
