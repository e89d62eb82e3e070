"""JupyterLab and nbgrader's pages in a window of the browser: what a person does with them."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import TimeoutError

from .people import TOKEN

SIZE = {"width": 1120, "height": 700}
PATIENCE = 90_000  # ms, in so many tries
TRIES = 6
# Where the pictures of the page "Teaching with this course" go; none are taken without it.
PICTURES = "SEQCOURSE_SCREENSHOTS"


class Window:
    """One person's JupyterLab in the browser."""

    def __init__(self, page: object, address: str, query: str = f"?token={TOKEN}") -> None:
        self.page = page
        self.address = address
        self.query = query
        self.others: list[object] = []

    def picture(self, name: str, of: object = None) -> None:
        """Keep a picture of the window for the book, when somebody asked for pictures."""
        folder = os.environ.get(PICTURES)
        if folder:
            clip = {"x": 0, "y": 0, **SIZE}
            save_picture(of or self.page, Path(folder) / f"{name}.png", clip=clip)

    def assignment_list(self) -> None:
        """Open the list of assignments that nbgrader adds to JupyterLab."""
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        self.page.locator(".lm-Menu-item", has_text="Assignment List").click()
        self.page.wait_for_selector("#course_list_default:has-text('seqcourse')")

    def click_in_list(self, button: str) -> None:
        self.page.locator("#nbgrader-assignment-list").get_by_role(
            "button", name=button, exact=True
        ).first.click()

    def submit(self, name: str, count: int) -> None:
        """Click on Submit and wait until the list shows so many submissions."""
        self.click_in_list("Submit")
        rows = self.page.locator("#submitted_assignments_list .nested_list_item")
        rows.nth(count - 1).wait_for()
        assert rows.count() == count

    def formgrader(self, path: str) -> object:
        """One of the formgrader's pages, in place of JupyterLab."""
        self.page.goto(f"{self.address}/formgrader/{path}{self.query}")
        return self.page

    def read_file(self, path: Path) -> object:
        """A file of this machine in a window beside JupyterLab."""
        page = self.page.context.browser.new_page(viewport=SIZE, reduced_motion="reduce")
        self.others.append(page)
        page.goto(path.as_uri())
        return page

    def open_notebook(self, path: str) -> Notebook:
        """Open a notebook, or go to its tab, and wait for its kernel."""
        self.page.goto(f"{self.address}/lab/tree/{path}{self.query}")
        self.page.wait_for_selector(".jp-NotebookPanel:visible .jp-Cell")
        self.page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
        return Notebook(self.page)


class Notebook:
    """The notebook in front."""

    def __init__(self, page: object) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:visible")

    def cell(self, words: str) -> object:
        return self.panel.locator(".jp-Cell", has_text=words).first

    def type_into(self, words: str, source: str) -> None:
        """Replace the source of the cell that holds these words."""
        cell = self.cell(words)
        cell.scroll_into_view_if_needed()
        editor = cell.locator(".cm-content").element_handle()
        cell = cell.element_handle()  # its words change
        longest = max(source.splitlines(), key=len).strip()
        there = "([editor, words]) => editor.innerText.includes(words)"
        for _ in range(TRIES):
            # On a busy machine a note that was opened may close again under the pointer: then once more.
            if not editor.is_visible():
                cell.dblclick()
            try:
                editor.click(timeout=PATIENCE / TRIES)
                self.page.keyboard.press("Control+A")
                self.page.keyboard.insert_text(source)
                self.page.wait_for_function(there, arg=[editor, longest], timeout=PATIENCE / TRIES)
            except TimeoutError:
                continue
            return
        raise AssertionError(f"the cell with {words!r} should have taken what was typed")

    def run(self, words: str) -> str:
        """Run the cell with these words and return what stands below it."""
        cell = self.cell(words)
        cell.locator(".cm-content").click()
        number = cell.locator(".jp-InputPrompt").inner_text()
        self.page.keyboard.press("Control+Enter")
        handle = cell.element_handle()
        self.page.wait_for_function(
            """([cell, before]) => {
                const now = cell.querySelector('.jp-InputPrompt').innerText;
                return now !== before && /\\[\\d+\\]/.test(now); }""",
            arg=[handle, number],
        )
        return cell.locator(".jp-Cell-outputWrapper").inner_text()

    def save(self) -> None:
        """Save and wait until the tab no longer shows that something is unsaved."""
        self.page.keyboard.press("Control+S")
        self.page.wait_for_selector(".lm-TabBar-tab.jp-mod-current:not(.jp-mod-dirty)")


def wait_for_fields(page: object) -> None:
    """Wait until the formgrader's page of a submission has asked for the grades and comments."""
    # Playwright's own waiting would be a program that the page's policy forbids.
    deadline = time.monotonic() + PATIENCE / 1000
    loaded = "() => Boolean(formgrader.grades?.loaded && formgrader.comments?.loaded)"
    while not page.evaluate(loaded):
        assert time.monotonic() < deadline, "the formgrader should have its grades by now"
        page.wait_for_timeout(100)


@contextmanager
def open_window(chrome: object, address: str) -> Iterator[Window]:
    """A new window with JupyterLab in it."""
    page = chrome.new_page(viewport=SIZE, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    try:
        page.goto(f"{address}/lab?token={TOKEN}&reset")
        page.wait_for_selector("#jp-main-dock-panel")
        window = Window(page, address)
        yield window
        for other in window.others:
            other.close()
    finally:
        page.close()


def save_picture(page: object, path: Path, **options: object) -> None:
    """A picture in a palette of 256 colours, which for pages of text is a quarter of the size."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
