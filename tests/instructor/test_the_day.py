"""The instructor's day, from releasing an assignment to the marks: real nbgrader, JupyterLab, browser.

The steps follow each other and share one class; a step whose forerunner failed says so.
"""

from __future__ import annotations

import csv
import filecmp
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course

from .classroom import COPIED, NAME, NOTEBOOK, ROSTER, adas_week, hours, the_others_hand_in, write_roster
from .lab import Notebook, Window, open_window
from .people import Person, make_exchange, make_instructor, make_student

pytestmark = pytest.mark.browser

ADAS_STEP = """def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T)
"""
ADAS_BETTER_STEP = ADAS_STEP.replace("w_hh.T", "w_hh.T + b_hh")
ADAS_WORDS = "The LSTM's cell state is added to, not multiplied, so its gradient fades more slowly."
COMMENT = "Right about the sum. What does the *forget gate* do to it, step by step?"
HAND = 3.5


@dataclass
class Day:
    """Who takes part, and which steps are done."""

    instructor: Person
    ada: Person
    course: Course
    done: list[str] = field(default_factory=list)

    def after(self, step: str) -> None:
        assert step in self.done, f"the step before this one should have ended well: {step}"


@pytest.fixture(scope="module")
def day(tmp_path_factory) -> Day:
    folder = tmp_path_factory.mktemp("day")
    exchange = make_exchange(folder / "exchange")
    instructor = make_instructor(folder / "instructor", exchange)
    return Day(instructor, make_student("ada", folder / "ada", exchange), Course(instructor.work))


@pytest.fixture(scope="module")
def students_window(day, chrome) -> Iterator[Window]:
    """Ada's JupyterLab."""
    with day.ada.lab() as address, open_window(chrome, address) as window:
        yield window


@pytest.fixture(scope="module")
def instructors_window(day, chrome) -> Iterator[Window]:
    with day.instructor.lab() as address, open_window(chrome, address) as window:
        yield window


def test_release(day):
    """Solutions become an assignment, and the exchange hands it out with a date."""
    day.instructor.seqcourse("release", NAME)
    write_roster(day.instructor.work / "roster.csv")
    day.instructor.nbgrader("db", "student", "import", "roster.csv")
    day.instructor.nbgrader(
        "db", "assignment", "add", NAME, f"--duedate={hours(-2):%Y-%m-%d %H:%M:%S UTC}"
    )
    said = day.instructor.nbgrader("release_assignment", NAME)
    assert "Released as: seqcourse ps1" in said
    day.done.append("release")


def test_fetch(day, students_window):
    """A student fetches it with a click."""
    day.after("release")
    students_window.assignment_list()
    students_window.picture("fetch")
    students_window.click_in_list("Fetch")
    students_window.page.wait_for_selector("#fetched_assignments_list >> text=ps1")
    fetched = day.ada.work / NAME / NOTEBOOK
    assert filecmp.cmp(fetched, day.course.assignments / NAME / NOTEBOOK, shallow=False)
    day.done.append("fetch")


def test_edit_and_run(day, students_window):
    """She types an answer, runs it and the self-check below, which names her mistake, and saves."""
    day.after("fetch")
    adas_week(day.course, day.ada.work / NAME / NOTEBOOK)
    notebook = students_window.open_notebook(f"{NAME}/{NOTEBOOK}")
    notebook.run("import matplotlib")
    notebook.type_into("def rnn_step", ADAS_STEP)
    notebook.run("def rnn_step")
    said = notebook.run("check.ps1.rnn_step")
    assert "bias of the hidden part" in said
    students_window.picture("selfcheck")
    notebook.save()
    assert ADAS_STEP.strip() in answers(day.ada.work / NAME / NOTEBOOK)["rnn_step"]
    day.done.append("edit")


def test_validate(day):
    """nbgrader's own validator says what is still missing: the written answer."""
    day.after("edit")
    said = day.ada.nbgrader("validate", f"{NAME}/{NOTEBOOK}")
    assert "VALIDATION FAILED ON 1 CELL" in said
    assert "You did not provide a response" in said


def test_submit_twice(day, students_window):
    """She hands in, corrects her answer, writes the last one, and hands in again."""
    day.after("edit")
    students_window.assignment_list()
    students_window.submit(NAME, count=1)
    notebook = students_window.open_notebook(f"{NAME}/{NOTEBOOK}")
    notebook.type_into("def rnn_step", ADAS_BETTER_STEP)
    notebook.run("def rnn_step")
    assert "✓" in notebook.run("check.ps1.rnn_step")
    notebook.type_into("Your answer goes here", ADAS_WORDS)
    notebook.save()
    students_window.assignment_list()
    students_window.submit(NAME, count=2)
    students_window.picture("submit")
    day.done.append("submit")


def answers(path: Path) -> dict[str, str]:
    cells = notebooks.read(path)["cells"]
    return {notebooks.mark(cell).get("grade_id", ""): notebooks.text(cell) for cell in cells}
