"""The instructor's day, from releasing an assignment to the marks: real nbgrader, JupyterLab, browser.

Nightly: in every run tests/lab has the real JupyterLab, test_two_graders and test_safe_pages the real
formgrader, and tests/grading the steps on a small class. The steps follow each other and share one
class; a step whose forerunner failed says so.
"""

from __future__ import annotations

import csv
import filecmp
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.marks.export import Line, read_course
from cellgrader.notebook import document as notebooks
from seqcourse.progress import read

from .classroom import (
    NAME,
    NOTEBOOK,
    ROSTER,
    adas_week,
    canvas_export,
    hours,
    the_others_hand_in,
    write_roster,
)
from .lab import Window, open_window, wait_for_fields
from .people import COURSE_ID, Person, make_exchange, make_instructor, make_student

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
ADAS_STEP = """def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T)
"""
ADAS_BETTER_STEP = ADAS_STEP.replace("w_hh.T", "w_hh.T + b_hh")
ADAS_WORDS = "The LSTM's cell state is added to, not multiplied, so its gradient fades more slowly."
COMMENT = "Right about the sum. What does the *forget gate* do to it, step by step?"
HAND = 3.5
# What a day costs in this class.
SHARE = 0.1


@dataclass
class Day:
    """Who takes part, and which steps are done."""

    instructor: Person
    ada: Person
    exchange: Path
    course: Course
    done: list[str] = field(default_factory=list)

    def after(self, step: str) -> None:
        assert step in self.done, f"the step before this one should have ended well: {step}"


@pytest.fixture(scope="module")
def day(tmp_path_factory) -> Day:
    folder = tmp_path_factory.mktemp("day")
    exchange = make_exchange(folder / "exchange")
    instructor = make_instructor(folder / "instructor", exchange)
    ada = make_student("ada", folder / "ada", exchange)
    return Day(instructor, ada, exchange, Course(instructor.work))


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
    students_window.click_in_list("Fetch")
    students_window.page.wait_for_selector("#fetched_assignments_list >> text=ps1")
    fetched = day.ada.work / NAME / NOTEBOOK
    assert filecmp.cmp(fetched, day.course.assignments / NAME / NOTEBOOK, shallow=False)
    day.done.append("fetch")


def test_edit_and_run(day, students_window):
    """She types an answer, runs it and the self-check below, which names her mistake, and saves.

    The panel at the top tells how far she is.
    """
    day.after("fetch")
    adas_week(day.course, day.ada.work / NAME / NOTEBOOK)
    notebook = students_window.open_notebook(f"{NAME}/{NOTEBOOK}")
    panel = notebook.run("import matplotlib")
    assert (
        f"0 of {len(read(day.course.solution(NAME)).tasks)} exercises" in panel
        and "Next: exercise 1" in panel
        and "✗" not in panel
    )
    notebook.type_into("def rnn_step", ADAS_STEP.replace("torch.tanh", "1.0 * torch.tanh"))
    notebook.run("def rnn_step")
    said = notebook.run("check.ps1.rnn_step")
    assert "the numbers are not" in said and "bias of the hidden part" not in said
    notebook.type_into("def rnn_step", ADAS_STEP)
    notebook.run("def rnn_step")
    said = notebook.run("check.ps1.rnn_step")  # a changed answer gets a hint
    assert "bias of the hidden part" in said
    assert "✗" in notebook.cell("import matplotlib").inner_text()
    assert read(day.ada.work / NAME / NOTEBOOK).tasks[0].state is False
    notebook.save()
    assert ADAS_STEP.strip() in answers(day.ada.work / NAME / NOTEBOOK)["rnn_step"]
    day.done.append("edit")


def test_validate(day):
    """nbgrader's own validator names what is missing or wrong, but for what only hidden checks see."""
    day.after("edit")
    said = day.ada.nbgrader("validate", f"{NAME}/{NOTEBOOK}")
    for wrong in ("rnn_step", "lstm_step", "gradient_norms"):
        assert f"check.ps1.{wrong}.validate(" in said
    assert "You did not provide a response" in said
    assert "VALIDATION FAILED ON 4 CELL" in said and "poll_2" not in said


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
    day.done.append("submit")


def test_collect(day):
    """The instructor collects the newest of Ada's two, and what the others handed in in time."""
    day.after("submit")
    the_others_hand_in(day.course, day.exchange / COURSE_ID / "inbound", hours(-4))
    said = day.instructor.nbgrader("collect", NAME)
    assert "Processing 5 submissions" in said
    collected = day.course.submitted / "ada" / NAME / NOTEBOOK
    assert ADAS_BETTER_STEP.strip() in answers(collected)["rnn_step"]
    assert ADAS_WORDS in answers(collected)["why"]
    assert day.course.students(NAME) == sorted(ROSTER)
    day.done.append("collect")


def test_grade(day):
    """One command grades the class: a word for everybody, and points where they were earned."""
    day.after("collect")
    settings = f"[late]\nshare_per_day = {SHARE}\n"
    (day.instructor.work / "course.local.toml").write_text(settings, encoding="utf-8")
    said = day.instructor.seqcourse("grade", NAME)
    assert all(who in said for who in ROSTER)
    marks = read_marks(day)
    assert [who for who in ROSTER if not marks[who].has_grade] == [], said
    graded = map(notebooks.mark, notebooks.read(day.course.solution(NAME))["cells"])
    full = {mark["grade_id"]: mark["points"] for mark in graded if mark.get("grade")}
    shares = {who: marks[who].cells["rnn_step-grade"] / full["rnn_step-grade"] for who in ROSTER}
    assert shares == {"ada": 1, "jose": 1, "pat": 0, "bob": 1, "zoë": 1}
    ada = marks["ada"].cells
    assert ada["poll_2-grade"] == 0 and ada["lstm_step-grade"] < full["lstm_step-grade"]
    assert ada["forward-grade"] == full["forward-grade"]
    assert [who for who in ROSTER if marks[who].waits] == ["ada", "jose", "bob", "zoë"]
    day.done.append("grade")


def test_grade_by_hand(day, instructors_window):
    """A written answer gets points and a comment in the formgrader, in the browser."""
    day.after("grade")
    desk = instructors_window
    desk.formgrader(f"gradebook/{NAME}/{NAME}")
    desk.page.wait_for_selector("#main-table >> text=Submission #5")
    grading = desk.formgrader(f"submissions/{submission_id(day, 'ada')}")
    wait_for_fields(grading)
    answer = grading.locator(".nbgrader_cell", has_text=ADAS_WORDS)
    beside = grading.locator(".cell", has_text="Rubric and model answer").last.inner_text()
    assert beside.index("Rubric (5 points)") < beside.index("One step back")
    answer.locator("input.score").fill(str(HAND))
    answer.locator("textarea.comment").fill(COMMENT)
    with grading.expect_response(lambda got: "/api/comment/" in got.url and got.request.method == "PUT"):
        answer.locator("textarea.comment").blur()
    desk.picture("formgrader")
    ada = read_marks(day)["ada"]
    assert ada.cells["why"] == HAND and not ada.waits
    day.done.append("hand")


def test_late_penalty(day):
    """Ada was two hours late: a tenth of her points, those given by hand included. Nobody else pays."""
    day.after("hand")
    marks = read_marks(day)
    ada = marks["ada"]
    assert ada.penalty == pytest.approx(SHARE * ada.points, abs=0.006)
    assert ada.total == pytest.approx(ada.points - ada.penalty)
    assert not any(marks[who].penalty for who in ROSTER if who != "ada")
    day.done.append("late")


def test_feedback(day, students_window):
    """Pages are written and released; Ada fetches hers with a click and reads it."""
    day.after("late")
    day.instructor.seqcourse("feedback", NAME, "--release")
    students_window.assignment_list()
    students_window.click_in_list("Fetch Feedback")
    students_window.page.wait_for_selector("#submitted_assignments_list >> text=(view feedback)")
    (page,) = (day.ada.work / NAME / "feedback").glob(f"*/{NAME}.html")
    read = students_window.read_file(page)
    words = read.locator("body").inner_text()
    assert COMMENT.replace("*", "") in words
    assert "HIDDEN TESTS" not in words
    students_window.picture("feedback", of=read)
    assert read.locator(".card", has_text="def lstm_step").count()
    day.done.append("feedback")


def test_export(day):
    """A table with everybody's name as it is, and Canvas's own file with one column filled in."""
    day.after("late")
    day.instructor.seqcourse("export", NAME, "--csv", "marks.csv")
    marks = {line["student"]: line for line in read_csv(day.instructor.work / "marks.csv")}
    assert {who: (line["first_name"], line["last_name"]) for who, line in marks.items()} == {
        **ROSTER, "bob": ("Bob", "'=1+1"),
    }  # fmt: skip
    ada = read_marks(day)["ada"]
    assert float(marks["ada"]["total"]) == pytest.approx(ada.total, abs=0.006)
    assert float(marks["ada"]["late_penalty"]) == pytest.approx(ada.penalty, abs=0.006)
    canvas_export(day.instructor.work / "canvas.csv")
    said = day.instructor.seqcourse("export", NAME, "--canvas", "canvas.csv")
    assert "waits for a grade by hand: bob, jose" in said
    rows = read_csv(day.instructor.work / f"canvas-{NAME}.csv")
    filled = {row["SIS Login ID"]: row[f"{NAME} (4711)"] for row in rows if row["SIS Login ID"]}
    assert filled["ada"] == marks["ada"]["total"]
    assert filled["jose"] == ""
    day.done.append("export")


def test_similar(day, instructors_window):
    """Two handed in the same work under other names of variables."""
    day.after("collect")
    said = day.instructor.seqcourse("similar", NAME)
    # (Who wrote what the course's own answer says stands in a line without anybody else.)
    named = {
        line: [who for who in ("ada", "bob", "jose", "zoë") if who in line] for line in said.splitlines()
    }
    ((line, pair),) = ((line, who) for line, who in named.items() if len(who) > 1)
    assert pair == ["bob", "zoë"] and "training_pairs" in line
    page = instructors_window.read_file(day.course.folder / f"similar-{NAME}.html")
    assert page.locator("mark").count() > 0
    instructors_window.picture("similar", of=page)


def answers(path: Path) -> dict[str, str]:
    cells = notebooks.read(path)["cells"]
    return {notebooks.mark(cell).get("grade_id", ""): notebooks.text(cell) for cell in cells}


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def read_marks(day: Day) -> dict[str, Line]:
    """What an export would hold now, by student."""
    return {line.student: line for line in read_course(day.course, NAME)}


def submission_id(day: Day, student: str) -> str:
    """nbgrader's number of a student's notebook, which stands in the formgrader's address."""
    with Gradebook(day.course.gradebook_url) as gradebook:
        return gradebook.find_submission_notebook(NAME, NAME, student).id
