"""A small assignment of the tests' own, and copies of the real ones."""

from __future__ import annotations

import base64
import io
import json
import shutil
from functools import cache
from pathlib import Path

from cellgrader.course.folders import Course

ROOT = Path(__file__).resolve().parents[2]

TOY_CHECKS = """
from seqcourse.check.exercise import Exercise
from seqcourse.check.hidden import HiddenCheck, Poll
from seqcourse.check.calls.inputs import literal


def check(name, cases, reference):
    return HiddenCheck(f"{name}-test", Exercise(name, literal, reference), cases)


CHECKS = [
    check("double", {"a number": {"x": 2}, "a secret fraction": {"x": 3.5}}, lambda x: 2 * x),
    check("half", {"an odd number": {"x": 3}}, lambda x: x / 2),
    check("quadruple", {"a number": {"x": 5}}, lambda x: 4 * x),
    Poll("poll-test", "poll", "yes"),
]
DEPENDS = {"quadruple": ["double"]}
"""
TOY_ANSWERS = {
    "double": "=== wrong: adds two instead\ndef double(x):\n    return x + 2\n",
    "half": "=== wrong: rounds down\ndef half(x):\n    return x // 2\n",
}


# A cell that is not run again when work is graded.
SHOWN = {"tags": ["show"]}


@cache
def picture() -> str:
    """A real figure, as it stands in a notebook's file."""
    from matplotlib.figure import Figure

    figure, png = Figure(figsize=(2, 1)), io.BytesIO()
    figure.subplots().plot([0, 2, 4])
    figure.savefig(png, format="png")
    return base64.encodebytes(png.getvalue()).decode()


def drawn(notebook: dict) -> dict:
    """A submission in which the figure was drawn, beside what no page may show, and an error."""
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "figure")
    data = {"image/png": picture(), "text/plain": ["<Figure ", "2x1>"], "text/html": "<b>no</b>"}
    cell["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": data},
        {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["it failed there"]},
    ]
    return notebook


def answer(name: str, source: str) -> dict:
    flags = {"solution": True, "grade": False, "locked": False, "task": False}
    return code(f"{name}-answer", source, name, flags)


def hidden_test(name: str, points: float) -> dict:
    flags = {"solution": False, "grade": True, "locked": True, "task": False, "points": points}
    here = f"from seqcourse.check import verdict\n\nverdict.here('ps1', '{name}-test', globals())"
    source = f"# {name} is graded here.\n### BEGIN HIDDEN TESTS\n{here}\n### END HIDDEN TESTS"
    return code(f"{name}-test", source, f"{name}-test", flags)


def code(identifier: str, source: str, grade_id: str, flags: dict) -> dict:
    mark = {"grade_id": grade_id, "schema_version": 3, "cell_type": "code", **flags}
    return {
        "cell_type": "code",
        "id": identifier,
        "metadata": {"nbgrader": mark},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


def solved(function: str, argument: str, result: str) -> str:
    begin, end = "    ### BEGIN SOLUTION", "    ### END SOLUTION"
    return f"def {function}({argument}):\n{begin}\n    return {result}\n{end}"


def toy_notebook() -> dict:
    """Four exercises, ten automatic points, and a written answer for two more."""
    written = {"solution": True, "grade": True, "locked": False, "task": False, "points": 2}
    mark = {"grade_id": "why", "schema_version": 3, "cell_type": "markdown", **written}
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A toy"},
        answer("double", solved("double", "x", "x * 2")),
        hidden_test("double", 3),
        answer("half", solved("half", "x", "x * 0.5")),
        hidden_test("half", 3),
        answer("quadruple", solved("quadruple", "x", "double(double(x))")),
        hidden_test("quadruple", 3),
        answer("poll", "poll = 'yes'"),
        hidden_test("poll", 1),
        {**code("figure", "plt.plot([double(x) for x in range(3)])", "", {}), "metadata": SHOWN},
        {
            "cell_type": "markdown",
            "id": "why",
            "metadata": {"nbgrader": mark},
            "source": "Because of this and that.",
        },
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def make_toy_course(root: Path) -> Course:
    """A course folder with the toy as ps1."""
    (root / "solutions" / "ps1").mkdir(parents=True)
    (root / "solutions" / "checks" / "ps1").mkdir(parents=True)
    (root / "solutions" / "checks" / "ps1.py").write_text(TOY_CHECKS)
    for exercise, answers in TOY_ANSWERS.items():
        (root / "solutions" / "checks" / "ps1" / f"{exercise}.txt").write_text(answers)
    (root / "solutions" / "ps1" / "ps1.ipynb").write_text(json.dumps(toy_notebook(), indent=1))
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return Course(root)


def copy_real_course(folder: Path) -> Course:
    """The solutions and settings of this repository, elsewhere, without what was generated."""
    shutil.copytree(ROOT / "solutions", folder / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return Course(folder)
