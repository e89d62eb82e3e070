"""The picture that goes with a link to a chapter: its title above one of its drawings.

The drawings are part of the page, so a browser draws all pictures at once, below each other. Where
there is none, or a page has no drawing, the plain card of `front` stays.
"""

from __future__ import annotations

import html
import re
import subprocess
import tempfile
from pathlib import Path

from seqcourse.pages.browser import command, installed_browser

WIDTH, HEIGHT = 1200, 630
SECONDS = 120
STYLE = f"""<style>
html, body {{ margin: 0; background: #fff }}
.card {{ box-sizing: border-box; width: {WIDTH}px; height: {HEIGHT}px; padding: 36px 48px;
  overflow: hidden; display: flex; flex-direction: column; gap: 20px; color: #16324a; background: #fff }}
.card h1 {{ margin: 0; font: 700 46px/1.15 system-ui, sans-serif; color: inherit }}
.card p {{ margin: 0; font: 22px system-ui, sans-serif; color: inherit }}
.card .sq-drawing {{ flex: 1; min-height: 0; max-width: none; width: 100%; padding: 0; border: 0 }}
.card svg {{ display: block !important; width: 100% !important; max-width: none !important;
  height: 100% !important; max-height: none !important }}
</style>"""


def draw_all(pages: dict[Path, Path], titles: dict[Path, str], book: str) -> None:
    """Replace the pictures of those pages that have a drawing.

    Args:
        pages: the HTML file of each page, and its picture.
        titles: the title of each page.
        book: the name of the book.
    """
    from PIL import Image

    browser = installed_browser()
    made = {page: card for page in pages if (card := _card(page, titles[page], book))}
    if browser is None or not made:
        return
    first = next(iter(made))
    head = "".join(
        re.findall(r'<link\b[^>]*rel="stylesheet"[^>]*>|<style.*?</style>', _read(first), re.S)
    )
    sheet = first.with_name("cards.html")  # beside the page, so that its style sheets are found
    with tempfile.TemporaryDirectory(prefix="seqcourse-cards-") as folder:
        picture = Path(folder) / "all.png"
        size = f"--window-size={WIDTH},{HEIGHT * len(made)}"
        run = command(browser, sheet, Path(folder) / "profile", size, f"--screenshot={picture}")
        try:
            sheet.write_text(
                '<!DOCTYPE html><html data-theme="light"><meta charset="utf-8">'
                f"{head}{STYLE}{''.join(made.values())}</html>",
                encoding="utf-8",
            )
            subprocess.run(run, capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return
        finally:
            sheet.unlink(missing_ok=True)
        if not picture.is_file():
            return
        with Image.open(picture) as whole:
            for row, page in enumerate(made):
                one = whole.crop((0, HEIGHT * row, WIDTH, HEIGHT * (row + 1))).convert("RGB")
                one.quantize(64).save(pages[page], optimize=True)


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _card(page: Path, title: str, book: str) -> str:
    """The HTML of a page's picture, or nothing: of its drawings the one that is nearest its title."""
    from bs4 import BeautifulSoup

    if 'class="sq-drawing' not in (text := _read(page)):
        return ""
    drawings = BeautifulSoup(text, "html.parser").select(".sq-drawing")
    words = set(title.lower().split())
    drawing = max(drawings, key=lambda one: len(words & set(one["aria-label"].lower().split())))
    for part in drawing.find_all(True, recursive=False):
        if part.name != "svg" or "wide" not in part.get("class", ()):
            part.decompose()
    return f'<div class="card"><p>{html.escape(book)}</p><h1>{html.escape(title)}</h1>{drawing}</div>'
