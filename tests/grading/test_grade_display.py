"""What is seen while a class is graded: on a terminal a bar, in a pipe only the lines."""

from __future__ import annotations

import io
import re
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cellgrader.course.records import Record
from cellgrader.marks.scores import Row, Scores
from seqcourse.cli import grading as commands
from seqcourse.cli.app import app
from seqcourse.cli.grading import Display, in_folders
from seqcourse.cli.steps import Steps


def shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False)
    steps = Steps(1, console)
    with steps.step("Grading ps2"):
        display = Display(steps, "ps2", 3)
        display.begun("ada")
        display.begun("[b]")
        steps._moving.refresh()
        remarks = tuple(f"Code cell {k}, line 1: exec runs code from a text." for k in range(1, 6))
        display.told(Record("ps2", "ada", "crashed", "An error.", 1.23, to_review=remarks))
        display.told(Record("ps2", "carla", "graded", "", 4.0, before=True))
        steps._moving.refresh()
        display.end()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())


def test_lines_in_a_pipe():
    told = shown(terminal=False)
    assert "ps2 1/3  ada: crashed (1.2 s): An error." in told
    assert "look at the work of ada: Code cell 3, line 1" in told and "Code cell 4" not in told
    assert "carla" not in told, "what an earlier run did is counted only"
    assert "1 of 3 were graded before" in told and "--again" in told
    assert "━" not in told


def test_a_bar_on_a_terminal():
    told = shown(terminal=True)
    assert re.search(r"ada, \[b\] +━+.* 0/3 .*left", told)
    assert re.search(r"\[b\] +━+.* 2/3 .*left", told)
    assert not re.search("Grading ps2.*━", told), "the step itself counts nothing"


@pytest.mark.parametrize(("status", "code"), [("graded", 0), ("unreadable", 0), ("failed", 1)])
def test_a_failed_grading_is_in_the_exit_code(toy, monkeypatch, status, code):
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    (toy.root / "book").mkdir()
    monkeypatch.chdir(toy.root)
    scores = Scores("ps1", (), (Row("ada", status, "", None),))
    monkeypatch.setattr(commands, "grade_assignment", lambda *work, **how: scores)
    assert CliRunner().invoke(app, ["grade", "ps1"]).exit_code == code


def test_a_name_that_is_not_utf8_is_printed(monkeypatch):
    from seqcourse.cli import app, main

    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(app, "app", lambda: print("J\udcf6rg", flush=True))
    main()
    assert out.buffer.getvalue().split() == [rb"J\udcf6rg"]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (["ada", "ben"], ["ada", "ben"]),
        (["ada,ben", "carla"], ["ada", "ben", "carla"]),
        (["ada, ben,"], ["ada", "ben"]),
        (["Li, Wei"], ["Li, Wei"]),
    ],
)
def test_students_may_be_named_in_one_word(tmp_path, named, found):
    from cellgrader.course.folders import Course

    course = Course(tmp_path)
    for student in ("ada", "ben", "carla", "Li, Wei"):
        (course.submitted / student / "ps2").mkdir(parents=True)
    assert in_folders(course, "ps2", named) == found
