"""The cell for Google Colab: the same in every notebook, still elsewhere, and modest there."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.notebooks.finding import notebooks, read, text

ROOT = Path(__file__).resolve().parents[2]
# The appendix reads the repository's benchmarks/, and so stays at home.
WITH_CELL = [name for name in notebooks("book", "solutions", "assignments") if "appendix" not in name]
# Stands in for pip: writes down what it is asked for, and what a constraints file says.
RECORDER = """
import json, os, sys

told = sys.argv[1:]
if "--constraint" in told:
    told.append(open(told[told.index("--constraint") + 1]).read())
with open(os.environ["RECORD"], "a") as file:
    file.write(json.dumps(told) + "\\n")
"""
# Lets some packages look as if they were absent.
HIDDEN = """
from importlib import metadata

asked = metadata.version
def version(name):
    if name in {hidden!r}:
        raise metadata.PackageNotFoundError(name)
    return asked(name)
metadata.version = version
"""


def cell(name: str) -> dict:
    return next(cell for cell in read(name)["cells"] if cell["cell_type"] == "code")


def test_every_notebook_begins_with_the_same_cell():
    assert len({text(cell(name)) for name in WITH_CELL}) == 1
    for name in WITH_CELL:
        assert cell(name)["id"].endswith("-colab") and cell(name)["metadata"]["jupyter"]["source_hidden"]
        if name.startswith("book/"):
            assert "remove-cell" in cell(name)["metadata"]["tags"], f"{name}: the site shows the cell"


@pytest.fixture
def run(tmp_path):
    """Run the cell in a Python of its own whose pip only writes down; returns the orders it got."""

    def go(before: str) -> list[list[str]]:
        (tmp_path / "pip").mkdir()
        (tmp_path / "pip" / "__init__.py").touch()
        (tmp_path / "pip" / "__main__.py").write_text(RECORDER)
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        environment = os.environ | {"RECORD": str(tmp_path / "record"), "PYTHONPATH": path}
        command = [sys.executable, "-c", f"{before}\n{text(cell(WITH_CELL[0]))}"]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stdout + done.stderr, done.stderr
        record = tmp_path / "record"
        return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []

    return go


def test_elsewhere_the_cell_does_nothing(run):
    assert run("") == []


COLAB = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"
COURSE = ["install", "--quiet", "--no-deps", "seqcourse"]


def test_on_colab_the_course_is_all_that_is_asked_for_where_nothing_else_is_absent(run):
    assert run(COLAB) == [COURSE]


def test_on_colab_only_what_is_absent_is_asked_for_and_pytorch_is_held(run):
    absent = ["sacrebleu", "jiwer", "torch", "jupyterlab", "jupyterlab-myst", "nbgrader"]
    needed = {Requirement(one).name: one for one in importlib.metadata.requires("seqcourse")}
    course, rest = run(COLAB + HIDDEN.format(hidden=set(absent) - {"torch"}))
    assert course == COURSE
    assert rest[:3] == ["install", "--quiet", "--constraint"]
    named = sorted(map(str, map(Requirement, rest[4:-1])))
    assert named == sorted(str(Requirement(needed[name])) for name in ("sacrebleu", "jiwer"))
    assert rest[-1] == f"torch=={importlib.metadata.version('torch')}\n"


def test_on_colab_pytorch_is_never_asked_for(run):
    _, rest = run(COLAB + HIDDEN.format(hidden={"torch", "jiwer"}))
    assert rest[-1] == "" and not any("torch" in word for word in rest)
