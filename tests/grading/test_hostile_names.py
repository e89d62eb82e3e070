"""Names that a student chose reach the terminal, tables and pages only through the cleaner."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from types import SimpleNamespace

import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from rich.console import Console

from cellgrader.course.records import CRASHED, GRADED, Record, read_record, unfit_name, write_record
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.errors import CourseError
from cellgrader.marks import export, scores
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise
from cellgrader.notebook.search import NotGradable, find_submission
from cellgrader.pages import report
from cellgrader.pages.feedback import make_feedback
from cellgrader.platforms import canvas, moodle
from cellgrader.platforms.template import Grade
from cellgrader.printable import printable
from cellgrader.release.generate import release
from cellgrader.run.hard_to_read import remarks
from cellgrader.run.kernels import Ran
from cellgrader.run.outcome import status_of
from cellgrader.similar import compare, pairs_page
from seqcourse import cli
from seqcourse.cli.grading import Display
from seqcourse.cli.root import tell
from seqcourse.cli.steps import Steps

# Clears the screen, sets the title, colours, turns the direction of writing, begins lines and formulas.
ODD = "=1+1\x1b[2J\x1b]0;owned\x07\u202e\n@SUM(1)\r\x9b31m\u2028[red]<b>"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture
def record(tmp_path) -> Record:
    """What is known of a submission in which everything that can have a name has an odd one."""
    folder = tmp_path / "submitted" / "odd" / "ps1"
    (folder / "ps1.html").mkdir(parents=True)
    (folder / f"{ODD.replace('/', '')}.ipynb").write_text("{")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / f"pipe{ODD}")
        (folder / f"link{ODD}").symlink_to("/dev/zero")
    with pytest.raises(NotGradable) as refused:
        find_submission(folder, "ps1", {"cells": []})
    error = new_output("error", ename=ODD, evalue=ODD, traceback=[ODD])
    book = from_dict(new_notebook(cells=[new_code_cell("1", outputs=[error])]))
    status, sentence = status_of(book, Ran())
    assert status == CRASHED and "?[2J" in sentence
    sentences = (sentence, str(refused.value), folder_snapshot(folder).sentence(), unfit_name(ODD))
    for text in sentences:
        assert not CONTROL.search(text)
    return Record(
        "ps1", ODD, CRASHED, f"{' '.join(sentences)} {ODD}", remarks=(ODD,), messages={"t": ODD},
        to_review=(ODD, *remarks(["import ctypes as \u02b0\nexec" + ".a" * 5000, "%run " + ODD])),
    )  # fmt: skip


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=400, highlight=False, soft_wrap=True)


def test_a_record_is_clean_however_it_is_made(record, tmp_path):
    from cellgrader.course.folders import Course

    course = Course(tmp_path)
    for made in (record, write_record(course, record) or read_record(course, "ps1", ODD)):
        for text in (made.sentence, *made.remarks, *made.messages.values(), *made.to_review):
            assert text.isprintable() and len(text) < 2000


def test_the_terminal(record, console, capsys, monkeypatch):
    row = scores.Row(ODD, record.status, record.sentence, {"double": 1.0}, late=True)
    found = scores.Scores("ps1", (Exercise("double", True, ("t",), 3.0),), (row,))
    console.print(scores.as_table(found))
    pair = compare.SimilarPair((ODD, "ben"), (1.0, 1.0), ())
    console.print(compare.as_table(compare.Similar("ps1", 0.5, 2, (pair,), (f"{ODD}: {ODD}",))))
    steps = Steps(1, console)
    with steps.step("Grading"):
        display = Display(steps, "ps1", 1)
        display.begun(ODD)
        display.told(record)
        for line in report.make_report(found, [record]).summary:
            steps(line)
        steps(ODD)
    assert not CONTROL.search(console.file.getvalue().replace("\r\n", "\n"))
    tell(f"{ODD} may hand in")

    def fail() -> None:
        raise CourseError(f"{ODD} is not a student.")

    monkeypatch.setitem(sys.modules, "seqcourse.cli.app", SimpleNamespace(app=fail))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr()
    assert "owned" in said.out and "owned" in said.err
    assert not CONTROL.search(said.out + said.err)


def test_a_table_for_spreadsheets():
    line = export.Line(ODD, ODD, ODD, ODD, CRASHED, ODD, "", {"double": 1.0}, 0.0, 3.0)
    table = export.as_table([line], "ps1")
    cells = [cell for each in csv.reader(io.StringIO(table)) for cell in each]
    assert sum("owned" in cell for cell in cells) >= 2
    assert not [cell for cell in cells if CONTROL.search(cell) or cell.startswith(("=", "+", "@"))]


def test_pages(record):
    row = scores.Row(ODD, record.status, record.sentence, None)
    found = scores.Scores("ps1", (Exercise("double", True, ("t",), 3.0),), (row,))
    pair = compare.SimilarPair((ODD, "ben"), (1.0, 1.0), ())
    pages = [
        report.as_page(report.make_report(found, [record])),
        pairs_page.as_page(compare.Similar("ps1", 0.5, 2, (pair,), (f"{ODD}: {ODD}",))),
    ]
    for page in pages:
        page.encode()
        assert "owned" in page and "<b>" not in page and not CONTROL.search(page)


# A folder may have this name: only control characters are refused.
FOLDER = "\u202e<b>owned=1+1"


def test_what_leaves_a_graded_class(toy):
    """Names, errors and texts go through nbgrader's gradebook to the page and to every table."""
    release(toy)
    book = from_dict(notebooks.read(toy.released("ps1")))
    book.cells[1].source = book.cells[-1].source = f"x = '{ODD}'"
    book.cells[1].outputs = [
        new_output("error", ename=ODD, evalue=ODD, traceback=[f"\x1b[31m{ODD}\x1b[0m"]),
        new_output("stream", text=ODD),
        new_output("display_data", {"text/plain": ODD}),
    ]
    notebooks.write(book, toy.autograded / FOLDER / "ps1" / "ps1.ipynb")
    (toy.submitted / FOLDER / "ps1").mkdir(parents=True)
    write_record(toy, Record("ps1", FOLDER, GRADED, ODD))
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student(FOLDER, first_name=ODD, last_name=ODD, email=ODD)
        (graded,) = gradebook.update_or_create_submission("ps1", FOLDER).notebooks
        for grade in graded.grades:
            grade.auto_score, grade.needs_manual_grade = 0.0, False
        gradebook.find_comment("why", "ps1", "ps1", FOLDER).manual_comment = f"<script>{ODD}"
        gradebook.db.commit()
    page = make_feedback(toy, "ps1", FOLDER).read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    assert body.count("owned") > 6 and not CONTROL.search(page.replace("\r", ""))
    assert "<b>owned" not in body and "<script" not in body

    lines = export.read_course(toy, "ps1")
    grades = [*export.final_grades(lines), Grade(ODD, 1.0, 12.0)]
    assert [grade.student for grade in grades] == [FOLDER, ODD]
    texts = [export.as_table(lines, "ps1")]
    for platform, header in (
        (canvas, ["Student", "ID", "SIS Login ID", "Section", "ps1 (9)"]),
        (moodle, ["Full name", "Identifier", "Username", "Grade", "Last modified (grade)"]),
    ):
        with (toy.root / "from.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, [ODD, "1", FOLDER, "", ""]])
        filled = platform.fill(toy.root / "from.csv", "ps1", grades)
        assert filled.written == (FOLDER,) and "owned" in " ".join(filled.sentences)
        assert not CONTROL.search("".join(filled.sentences))
        texts.append(filled.text.replace(FOLDER, "the platform's own"))
    for text in texts:
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert any("owned" in cell for cell in cells)
        assert not [cell for cell in cells if CONTROL.search(cell) or cell.startswith(("=", "+", "@"))]


def test_letters_of_all_scripts_stay():
    for name in ("Jörg Müller", "李雷", "محمد", "नमस्ते", "می‌خواهم", "O'Neil-Smith", "Zoë\u0301"):
        assert printable(name) == name
    assert printable("a\u00a0b\tc") == "a b?c"
    assert printable("x" * 99, 60) == "x" * 57 + "..."
