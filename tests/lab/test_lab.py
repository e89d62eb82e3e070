"""JupyterLab as `make lab` opens it, in a real browser: run a notebook, move a slider, answer a poll."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.browser

TOKEN = "a-token-of-the-test"
CHAPTER = Path(__file__).resolve().parents[2] / "book" / "08_masking.ipynb"
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
    """A folder that the command takes for a course, with a small notebook and a chapter in it."""
    root = tmp_path_factory.mktemp("course")
    (root / "nbgrader_config.py").touch()
    (root / "solutions").mkdir()
    (root / "book").mkdir()
    cells = [
        nbformat.v4.new_markdown_cell(QUESTION),
        nbformat.v4.new_code_cell(SLIDER),
        nbformat.v4.new_code_cell(POLL),
        nbformat.v4.new_code_cell(PARTS),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), root / "book" / "try.ipynb")
    shutil.copy(CHAPTER, root / "book")
    return root


@pytest.fixture(scope="module")
def address(course: Path) -> Iterator[str]:
    """`seqcourse lab` on a free port, ended with everything it started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--no-browser", f"--ServerApp.port={port}", f"--IdentityProvider.token={TOKEN}"]
    options.append(f"--LabApp.workspaces_dir={course / 'workspaces'}")
    command = [sys.executable, "-m", "seqcourse.cli", "lab", *options]
    with (course / "lab.log").open("w") as log:
        process = subprocess.Popen(command, cwd=course, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", process, course / "lab.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not answer within 90 s:\n{log.read_text()}")


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


def test_a_chapter_shows_its_admonition_and_equation_reference(page, address):
    page.goto(f"{address}/lab/tree/book/{CHAPTER.name}?reset&token={TOKEN}")
    question = page.locator(".jp-MarkdownCell aside", has_text="The question").first
    question.wait_for()
    assert ":::" not in question.inner_text()
    # the number beside the equation and the reference in the text lead to the equation
    numbers = page.locator("a[href='#eq-causal-mask']")
    numbers.nth(1).wait_for()
    assert set(numbers.all_inner_texts()) == {"(1)"}
    assert page.locator("#eq-causal-mask math").count() == 1


def test_a_notebook_runs_and_its_widgets_answer(page, address):
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
    page.locator(".noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        """before => {
            const node = document.querySelector('.jp-OutputArea-output img, .jp-OutputArea-output svg');
            return node && node.outerHTML !== before;
        }""",
        arg=before,
    )

    # the poll gives the reason of the option that was chosen
    page.locator(".jp-OutputArea").get_by_label("No", exact=True).click()
    reason = page.locator(".jp-OutputArea", has_text="Look again.").first
    reason.wait_for()
    assert "Because it is." not in reason.inner_text()
