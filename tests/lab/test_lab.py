"""JupyterLab as `make lab` opens it, in a real browser: run a notebook, move a slider, answer a poll."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from seqcourse.cli import handout
from tests.browser import answers, jupyter

pytestmark = pytest.mark.browser

TOKEN = "a-token-of-the-test"
BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTER = "08_masking.ipynb"
QUESTION = ":::{admonition} The question\n:class: question\nDoes it render here?\n:::\n"
SLIDER = """
import matplotlib.pyplot as plt
from seqcourse import viz

def draw(height):
    figure, ax = plt.subplots(figsize=(3, 2))
    ax.set_title(f"height {height}")
    return figure

viz.explore(draw, alt="A frame of height {height}.", height=[1, 2, 3])
"""
POLL = """
viz.ask("Is it true?", {"Yes": "Because it is.", "No": "Look again."}, answer="Yes")
"""
PARTS = """
from seqcourse import own

own.parts("ps5: causal_mask")
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A student's folder, with a small notebook beside the chapters."""
    root = tmp_path_factory.mktemp("course")
    handout.start(root)
    cells = [
        nbformat.v4.new_markdown_cell(QUESTION),
        nbformat.v4.new_code_cell(SLIDER),
        nbformat.v4.new_code_cell(POLL),
        nbformat.v4.new_code_cell(PARTS),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), root / "book" / "try.ipynb")
    return root


@pytest.fixture(scope="module")
def address(course: Path) -> Iterator[str]:
    """`seqcourse lab` on a free port, ended with everything it started."""
    options = ["--no-browser", "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
    options.append(f"--LabApp.workspaces_dir={course / 'workspaces'}")
    command = [sys.executable, "-m", "seqcourse.cli", "lab", *options]
    with (course / "lab.log").open("w") as log:
        process = subprocess.Popen(command, cwd=course, stdout=log, stderr=log, start_new_session=True)
        try:
            address = jupyter(process, course / "lab.log")
            answers(f"{address}/api/status?token={TOKEN}", process, course / "lab.log")
            yield address
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(120)


@pytest.fixture
def page(chrome, address: str) -> Iterator[object]:
    """A window for JupyterLab."""
    opened = chrome.new_page(viewport={"width": 1280, "height": 1400})
    opened.set_default_timeout(90_000)
    yield opened
    opened.close()


def test_no_extension_is_marked_incompatible():
    command = [sys.executable, "-m", "jupyterlab.labextensions", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    told = listed.stdout + listed.stderr
    assert "jupyterlab-myst" in told
    assert "not compatible" not in told, told


def open_notebook(page, address: str, name: str) -> None:
    """Open a notebook of book/ and wait until all its text is rendered."""
    page.goto(f"{address}/lab/tree/book/{name}?reset&token={TOKEN}")
    kinds = [cell.cell_type for cell in nbformat.read(BOOK / name, 4).cells]
    page.wait_for_function(
        """([text, code]) =>
            document.querySelectorAll('.jp-MarkdownCell:has(.myst > *)').length === text
            && document.querySelectorAll('.jp-CodeCell').length === code""",
        arg=[kinds.count("markdown"), kinds.count("code")],
    )


def test_it_opens_on_the_first_page_set_as_a_page(page, address):
    page.goto(f"{address}/?token={TOKEN}")
    page.locator(".jp-MarkdownViewer h1", has_text="Your course").wait_for()
    assert page.locator(".jp-MarkdownViewer table").count() == 2
    assert "**Next**" not in page.locator(".jp-MarkdownViewer").first.inner_text()


@pytest.mark.nightly
def test_a_chapter_shows_its_numbers_sources_boxes_and_captions(page, address):
    open_notebook(page, address, CHAPTER)
    expect_no_marks(page, CHAPTER)
    question = page.locator(".jp-MarkdownCell aside", has_text="The question").first
    assert ":::" not in question.inner_text()
    # a formula has the book's number, and no other; a reference leads to it
    formula = page.locator(".katex-display", has_text="True").first
    assert formula.locator(".tag").inner_text().strip() == "(8.1)"
    assert page.locator("a[aria-label='Link to this Equation']").count() == 0
    page.locator("a[href='#eq-causal-mask']", has_text="(8.1)").last.click()
    expect_in_view(page, formula)
    # a source leads to the paper
    source = page.locator(".jp-MarkdownCell a", has_text="Vaswani et al. (2017)").first
    assert source.get_attribute("href") == "https://arxiv.org/abs/1706.03762"
    # a figure has its caption below it, and a reference leads there
    caption = page.locator(".jp-MarkdownCell", has=page.locator("strong", has_text="Figure 8.1."))
    assert caption.locator("strong").inner_text() == "Figure 8.1."
    assert "jp-CodeCell" in caption.evaluate("node => node.previousElementSibling.className")
    page.locator("a[href='#fig-masks']", has_text="Figure 8.1").first.click()
    expect_in_view(page, caption)


def expect_in_view(page, thing) -> None:
    page.wait_for_function(
        """node => { const { top, bottom } = node.getBoundingClientRect();
                     return bottom > 0 && top < innerHeight; }""",
        arg=thing.element_handle(),
    )


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(path.name for path in BOOK.glob("[0-9]*.ipynb")))
def test_no_chapter_shows_a_mark_of_its_source(page, address, name):
    open_notebook(page, address, name)
    expect_no_marks(page, name)


def expect_no_marks(page, name: str) -> None:
    """No role, label or box of the source is seen; what only draws or asks is folded."""
    seen = page.locator(".jp-MarkdownCell .myst").evaluate_all(
        """nodes => nodes.map(node => {
            const text = node.cloneNode(true);
            text.querySelectorAll('.katex, code').forEach(part => part.remove());
            return text.textContent;
        })"""
    )
    raw = r"\{\w+(?::\w)?\}|^\([\w-]+\)=|:::|\$\$|\((?:eq|sec|fig)-|</?a\b|\\\w+\{"
    assert [text for text in seen if re.search(raw, text, re.M)] == []
    assert len("".join(seen)) > 5000
    assert page.locator(".jp-MarkdownCell .text-red-500, .jp-MarkdownCell .katex-error").count() == 0
    cells = nbformat.read(BOOK / name, 4).cells
    folded = [cell.source for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert page.locator(".jp-CodeCell .jp-InputPlaceholder").count() == len(folded)
    assert "viz.poll(" in "".join(folded)


@pytest.mark.nightly
def test_students_see_no_menus_for_instructors(page, address):
    """On an installation with nbgrader; without it there is nothing to hide."""
    page.goto(f"{address}/lab/tree/book/try.ipynb?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.locator(".lm-Menu-item", has_text="Assignment List").wait_for()
    shown = page.locator(".lm-Menu-item").all_inner_texts()
    assert not [line for line in shown if re.search("Formgrader|Course List", line)], shown
    tabs = page.locator(".jp-SideBar [role=tab]").evaluate_all(
        "tabs => tabs.map(tab => tab.title + tab.textContent)"
    )
    assert len(tabs) > 2 and not [name for name in tabs if "Create Assignment" in name], tabs


def tab_to(page, selector: str) -> None:
    """Press Tab, as the page on the environment says, until such a thing has the focus."""
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not lead to {selector}.")


def test_a_notebook_runs_and_its_widgets_answer_to_the_keyboard(page, address):
    page.goto(f"{address}/lab/tree/book/try.ipynb?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()

    # markdown of the course's kind is rendered, not shown as source
    page.wait_for_selector("aside:has-text('The question')")

    # a cell that asks for a part of another notebook has turned into its source
    page.wait_for_selector(".jp-CodeCell .cm-content:has-text('def causal_mask')")

    # the slider draws another picture
    page.wait_for_selector(".widget-slider, .jupyter-widgets.widget-hslider")
    picture = page.locator(".jp-OutputArea-output img, .jp-OutputArea-output svg").first
    picture.wait_for()
    before = picture.evaluate("node => node.outerHTML")
    page.locator(".jp-MarkdownCell").first.click()
    page.keyboard.press("ArrowDown")
    tab_to(page, ".noUi-handle")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        """before => {
            const node = document.querySelector('.jp-OutputArea-output img, .jp-OutputArea-output svg');
            return node && node.outerHTML !== before;
        }""",
        arg=before,
    )

    # the poll gives the reason of the option that was chosen, here the second
    page.wait_for_selector("input[type=radio]")
    tab_to(page, "input[type=radio]")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    reason = page.locator(".jp-OutputArea", has_text="Look again.").first
    reason.wait_for()
    assert "Because it is." not in reason.inner_text()


@pytest.mark.nightly  # in every run: the button without a browser, tests/publish
def test_the_panel_publishes_or_says_why_not(page, address):
    """Assignment 6 before its cell with TASK: the button gives the sentence of `seqcourse publish`."""
    page.goto(f"{address}/lab/tree/assignments/ps6/ps6.ipynb?reset&token={TOKEN}")
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
    page.locator(".jp-CodeCell", has_text="check.progress()").locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("No page yet. ps6.ipynb should set TASK").wait_for()
