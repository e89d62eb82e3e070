"""Self-checks and hidden tests of every assignment against right and wrong answers.

Right and wrong answers stand in solutions/checks/psN.py. An answer takes the place of the solution
cell; the self-check cell and the hidden test cells of its exercise are then run as they stand.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from seqcourse.check import Mistake

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = sorted(path.stem for path in ROOT.glob("solutions/ps*/ps*.ipynb"))


@cache
def _cells(assignment: str) -> dict[str, nbformat.NotebookNode]:
    """The cells of the source notebook that nbgrader knows, by grade_id, in order."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    known = [cell for cell in book.cells if "nbgrader" in cell.metadata]
    return {cell.metadata.nbgrader.grade_id: cell for cell in known}


@cache
def _answers(assignment: str):
    path = ROOT / "solutions" / "checks" / f"{assignment}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{assignment}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _exercises(assignment: str) -> list[str]:
    """The exercises that are graded by code: their solution cells' grade_ids."""
    return [
        name
        for name, cell in _cells(assignment).items()
        if cell.metadata.nbgrader.solution and cell.cell_type == "code"
    ]


def _grade_cells(assignment: str, exercise: str) -> list[str]:
    pattern = re.compile(re.escape(exercise) + r"-grade(-\d+)?")
    return [cell.source for name, cell in _cells(assignment).items() if pattern.fullmatch(name)]


def _namespace(assignment: str) -> dict:
    """What a student's kernel holds: imports and the reference answers to all exercises."""
    space = {"__name__": "__main__"}
    for cell in _cells(assignment).values():
        grader = cell.metadata.nbgrader
        wanted = grader.solution or "setup" in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and wanted:
            exec(compile(cell.source, grader.grade_id, "exec"), space)
    return space


def _grade(assignment: str, exercise: str, space: dict) -> list[AssertionError | None]:
    """Run the hidden tests of one exercise; the mistake, or None, for every grade cell."""
    outcomes: list[AssertionError | None] = []
    for source in _grade_cells(assignment, exercise):
        errors = io.StringIO()
        try:
            with contextlib.redirect_stderr(errors):
                exec(compile(source, f"{exercise}-grade", "exec"), dict(space))
            outcomes.append(None)
        except AssertionError as mistake:
            outcomes.append(mistake)
        assert errors.getvalue() == "", "a grade cell wrote to stderr: nbgrader would give 0"
    return outcomes


def _params(kind: str) -> list:
    return list(_each(kind))


def _each(kind: str):
    for assignment in ASSIGNMENTS:
        for exercise, entries in getattr(_answers(assignment), kind).items():
            for entry in entries:
                label = f"{assignment}-{exercise}-{entry[0]}".replace(" ", "_")
                yield pytest.param(assignment, exercise, entry, id=label)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_exercise_has_answers_to_test_it(assignment):
    answers, exercises = _answers(assignment), _exercises(assignment)
    assert exercises, "no solution cell found"
    assert set(answers.WRONG) == set(exercises)
    functions = {name for name in exercises if not name.startswith("poll")}
    assert functions <= set(answers.RIGHT)
    for exercise in exercises:
        assert _grade_cells(assignment, exercise), f"{exercise} is not graded"


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_reference_passes_self_checks_and_hidden_tests(assignment, capsys):
    space = _namespace(assignment)
    for exercise in _exercises(assignment):
        assert set(_grade(assignment, exercise, space)) == {None}
    for name, cell in _cells(assignment).items():
        if name.endswith("-check"):
            exec(compile(cell.source, name, "exec"), dict(space))
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize(("assignment", "exercise", "answer"), _params("WRONG"))
def test_a_wrong_answer_loses_points_and_its_mistake_is_named(assignment, exercise, answer):
    name, source, *says = answer
    space = _namespace(assignment)
    exec(compile(source, name, "exec"), space)
    lost = [mistake for mistake in _grade(assignment, exercise, space) if mistake is not None]
    assert lost, "the hidden tests give full marks to this answer"
    if exercise.startswith("poll"):
        return
    assert says, "a wrong answer needs the words that the self-check must say"
    assert any(says[0] in str(mistake) for mistake in lost), [str(mistake) for mistake in lost]
    check = _cells(assignment)[f"{exercise}-check"].source
    with pytest.raises(Mistake) as caught:
        exec(compile(check, f"{exercise}-check", "exec"), space)
    assert says[0] in str(caught.value)


@pytest.mark.parametrize(("assignment", "exercise", "answer"), _params("RIGHT"))
def test_a_right_answer_in_another_style_gets_every_point(assignment, exercise, answer):
    name, source, *_ = answer
    space = _namespace(assignment)
    exec(compile(source, name, "exec"), space)
    assert set(_grade(assignment, exercise, space)) == {None}
    check = _cells(assignment)[f"{exercise}-check"].source
    exec(compile(check, f"{exercise}-check", "exec"), space)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_empty_answer_earns_nothing(assignment):
    """Release stubs in place of the answers: every grade cell stops, none passes."""
    space = _namespace(assignment)
    region = re.compile(r"( *)### BEGIN SOLUTION.*?### END SOLUTION", flags=re.S)
    for exercise in _exercises(assignment):
        source = _cells(assignment)[exercise].source
        stub = region.sub(r'\1raise NotImplementedError("not solved yet")', source)
        assert stub != source
        with contextlib.suppress(NotImplementedError):
            exec(compile(stub, exercise, "exec"), space)
    for exercise in _exercises(assignment):
        for source in _grade_cells(assignment, exercise):
            with pytest.raises((NotImplementedError, AssertionError)):
                exec(compile(source, f"{exercise}-grade", "exec"), dict(space))
