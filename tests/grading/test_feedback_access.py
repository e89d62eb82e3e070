"""A feedback page with all that it can say: with a screen reader, in the dark, on a phone."""

from __future__ import annotations

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook

from cellgrader.appeals.answering import answer
from cellgrader.course.folders import Course
from cellgrader.course.records import Record, write_record
from cellgrader.course.small_files import APPEAL
from cellgrader.marks.history import note
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback, page_path
from cellgrader.processes.forked import done_now
from cellgrader.watch.feedback_pages import show_reason
from tests.sizes import nightly_but

from .test_feedback import as_graded, settings, words
from .toy import picture

WIDTHS = (390, 1366)
LATE = "[late]\nshare_per_day = 0.1\ndays = 3\ndays_per_assignment = 1\n"
NOTICE = "This is version 3. Graded today: 2 of 5."
GIVEN = """## Notes

| shape | of what |
|---|---|
| $(B, N, D)$ | `a_long_name_that_does_not_break_anywhere_on_a_small_screen_of_a_phone_at_all` |

| a | table | of | many | columns | each | of | which | has | a | word | more |
|---|---|---|---|---|---|---|---|---|---|---|---|
| 0.123456 | 0.123456 | 0.123456 | 0.123456 | 0.123456 | 0.123456 | 0.12 | 0.12 | 0.1 | 0.1 | 0.1 | 0.1 |

$$p(y_1, \\dots, y_T) = p(y_1) \\cdot p(y_2 \\mid y_1) \\cdot p(y_3 \\mid y_1, y_2)
\\cdots p(y_T \\mid y_1, y_2, y_3)$$

And in a line $p(y_1, \\dots, y_T) = p(y_1) \\cdot p(y_2 \\mid y_1) \\cdot p(y_3 \\mid y_1, y_2)
\\cdots p(y_T)$.

$$\\mathrm{softmax}\\left(\\frac{QK^\\top}{\\sqrt{d_k}}\\right)V = \\sum_i \\alpha_i v_i$$
"""


@pytest.fixture(scope="module")
def course(empty_toy, tmp_path_factory) -> Course:
    return as_graded(empty_toy, tmp_path_factory.mktemp("feedback") / "course")


@pytest.fixture(scope="module")
def everything(course) -> str:
    """A page on which everything happens at once."""
    path = course.autograded / "ada" / "ps1" / "ps1.ipynb"
    book = nbformat.read(path, as_version=4)
    code = new_code_cell("import torch  # " + 40 * "wide ", id="setup")
    code.outputs = [
        new_output("stream", name="stderr", text="a warning " * 20),
        new_output("display_data", {"image/png": picture(), "text/plain": "<Figure 2x1>"}),
        new_output("error", ename="ValueError", evalue="no", traceback=["ValueError: no " + 90 * "x"]),
    ]
    book.cells[1:1] = [new_markdown_cell(GIVEN, id="given"), code]
    nbformat.write(book, path)
    settings(course, 'title = "Sequence models"', LATE)
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ben", first_name="Ben", last_name="Long-Hyphenated-Surname")
        gradebook.find_grade("double-test", "ps1", "ps1", "ada").auto_score = 1.0
        gradebook.db.commit()
    notebooks.write_text(course.submitted / "ada" / "ps1" / APPEAL, f"2: rows {90 * 'x'}\n1: this, too")
    write_record(course, Record("ps1", "ada", "graded", "", partners=("ben",), attempt=3))
    note(course, "ps1")
    answer(course, "ps1", "ada", "2", 3, "You are right: no row is empty there.")
    return make_feedback(course, "ps1", "ada", NOTICE).read_text(encoding="utf-8")


def test_it_says_everything(everything):
    text = words(everything)
    for said in (
        NOTICE, "handed in with Ben Long-Hyphenated-Surname", "Late days: 1 used here", "are taken off",
        "Your appeals", "Answer of", "It waits for an answer.", "Changes of this mark 4.95 → 6.3 points",
        "half-test Notes 3 of 3 given by hand", "· given by hand; the hidden checks said:",
        "A part is not graded yet", "your notebook was put in order", "the cell was deleted",
        "the hidden checks passed", "Each kind of input is worth the same share",
    ):  # fmt: skip
        assert said in text, said


def faults(chrome, path, theme: str) -> list[tuple]:
    """What axe finds at two widths, and what is wider than the window."""
    page = chrome.new_page(color_scheme=theme)
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        report = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        found += [(width, rule["id"], node["html"][:200]) for rule in report for node in rule["nodes"]]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append((width, "too wide"))
    page.close()
    return found


@pytest.mark.browser
@pytest.mark.parametrize("theme", nightly_but(["light"], ["light", "dark"]))
def test_everybody_can_read_it(chrome, tmp_path, everything, theme):
    (tmp_path / "page.html").write_text(everything, encoding="utf-8")
    assert faults(chrome, tmp_path / "page.html", theme) == []


@pytest.mark.browser
@pytest.mark.parametrize("theme", nightly_but(["dark"], ["light", "dark"]))
def test_who_was_not_graded_can_read_why(chrome, course, theme):
    why = "cleo and dan are partners, but handed in different work, and only one can count."
    done_now(show_reason(course, "ps1", "cleo", why))
    page = page_path(course, "ps1", "cleo")
    assert why in words(page.read_text(encoding="utf-8"))
    assert faults(chrome, page, theme) == []
