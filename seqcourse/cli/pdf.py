"""The whole book as one PDF: Chromium prints every page of the site, and the parts are joined."""

from __future__ import annotations

import html
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqcourse.cli.execute import Report
from seqcourse.cli.site import contents
from seqcourse.errors import CourseError
from seqcourse.pages.browser import command, installed_browser

NAME = "seqcourse.pdf"
# Virtual time passes at once while nothing loads: pictures that come late are waited for.
FLAGS = ("--no-pdf-header-footer", "--generate-pdf-document-outline", "--virtual-time-budget=20000")
PAGE_SECONDS = 300
NUMBERS = """<style>@page { @bottom-center {
  content: counter(page); font: 8pt system-ui, sans-serif; color: #5c6670 } }</style>"""
CONTENTS = """<meta charset="utf-8"><style>
@page { size: A4; margin: 16mm 15mm } body { font: 11pt/1.6 system-ui, sans-serif; margin: 25mm 20mm }
h1 { font-size: 28pt; line-height: 1.2 } ul { padding: 0; list-style: none }
li { display: flex; justify-content: space-between; border-bottom: 1px dotted #b6bcc4 }
a { color: inherit; text-decoration: none }</style>"""


def whole_book(root: Path, report: Report) -> Path:
    """Print the rendered book of `root` into one PDF beside its pages; returns its path.

    The pages come in the order of the contents, each under a bookmark of its own with its sections
    below, and links between them lead to the printed pages.

    Raises CourseError: the book is not rendered, or what `print_pages` raises.
    """
    site = root / "_build" / "html"
    pages = [site / page.relative_to(root).with_suffix(".html") for page in contents(root)]
    if missing := [page for page in pages if not page.is_file()]:
        raise CourseError(
            f"There should be a page {missing[0]}: render the book first (seqcourse book)."
        )
    return print_pages(pages, site.parent / NAME, report)


def print_pages(pages: Sequence[Path], target: Path, report: Report) -> Path:
    """Print HTML files into one PDF.

    Raises CourseError: there is no browser, the browser fails on a page, or pypdf is missing.
    """
    try:
        from pypdf import PdfReader, PdfWriter
    except ImportError:
        raise CourseError(
            "Joining the pages needs pypdf, but it is not installed. "
            "Install it: pip install 'seqcourse[site]'"
        ) from None
    browser = installed_browser()
    if browser is None:
        raise CourseError(
            "Printing the book needs Chromium or Chrome, but none was found. Install one of them "
            "(on Debian and Ubuntu: apt install chromium) and run the command again."
        )
    whole = PdfWriter()
    starts = {}
    with tempfile.TemporaryDirectory(prefix="seqcourse-pdf-") as name:
        folder, before = Path(name), 1  # the first sheet is the list of contents
        for number, page in enumerate(pages, start=1):
            part = folder / f"{number}.pdf"
            _print(browser, page, part, before)
            starts[page.resolve().as_uri()] = before
            sheets = len(PdfReader(part).pages)
            before += sheets
            report(f"{page.stem}: {sheets} sheets")
        first = folder / "contents.html"
        first.write_text(_contents(pages, starts), encoding="utf-8")
        _print(browser, first, folder / "0.pdf", 0)
        for number, page in enumerate([first, *pages]):
            _append(whole, folder / f"{number}.pdf", _title(page))
        _link(whole, starts)
        whole.add_metadata({"/Title": _title(pages[0])})
        whole.compress_identical_objects()
        whole.write(target)
    return target


def _print(browser: str, page: Path, part: Path, before: int) -> None:
    """Print a page whose sheets are numbered on from those before it."""
    numbered = page.with_name(f"print-{page.name}")  # beside it, so that what it loads is found
    start = f"<style>html {{ counter-reset: page {before} }}</style>"
    numbered.write_text(f"{page.read_text(encoding='utf-8')}{NUMBERS}{start}", encoding="utf-8")
    try:
        _run(browser, numbered, part)
    finally:
        numbered.unlink()


def _run(browser: str, page: Path, part: Path) -> None:
    run = command(browser, page, part.with_suffix(""), *FLAGS, f"--print-to-pdf={part}")
    try:
        done = subprocess.run(run, capture_output=True, text=True, timeout=PAGE_SECONDS)
    except subprocess.TimeoutExpired:
        raise CourseError(f"{browser} did not print {page} within {PAGE_SECONDS} seconds.") from None
    if done.returncode or not part.is_file():
        raise CourseError(f"{browser} could not print {page}:\n{done.stderr.strip()[-500:]}")


def _contents(pages: Sequence[Path], starts: dict[str, int]) -> str:
    """The first sheet: where each page begins."""
    rows = "".join(
        f'<li><a href="{page.resolve().as_uri()}">{html.escape(_title(page))}</a>'
        f"<span>{starts[page.resolve().as_uri()] + 1}</span></li>"
        for page in pages
    )
    name = html.escape(_title(pages[0])) if pages else ""
    return f"<title>Contents</title>{CONTENTS}<h1>{name}</h1><p>Contents</p><ul>{rows}</ul>"


def _title(page: Path) -> str:
    """What stands in the title of the window, before the name of the book."""
    found = re.search(r"<title>(.*?)</title>", page.read_text(encoding="utf-8"), re.DOTALL)
    return html.unescape(found.group(1)).split(" — ")[0].strip() if found else page.stem


def _append(whole: Any, part: Path, title: str) -> None:
    """The sheets of a part; its sections become bookmarks below the part's own."""
    from pypdf import PdfReader

    reader = PdfReader(part)
    start = len(whole.pages)
    whole.append(reader, import_outline=False)
    top = whole.add_outline_item(title=title, page_number=start)

    def add(entries: Sequence[Any], parent: Any) -> None:
        made = parent
        for entry in entries:
            if isinstance(entry, list):
                add(entry, made)
            else:
                sheet = start + reader.get_destination_page_number(entry)
                name = entry.title.strip("# \n")
                made = whole.add_outline_item(title=name, page_number=sheet, parent=parent)

    sections = reader.outline
    if sum(not isinstance(entry, list) for entry in sections) == 1:  # the page's title, said already
        sections = sections[1] if len(sections) > 1 else []
    add(sections, top)


def _link(whole: Any, starts: dict[str, int]) -> None:
    """Links to a page of the site lead to the sheet where its part starts; those to other files go."""
    from pypdf.generic import ArrayObject, NameObject

    for sheet in whole.pages:
        notes = sheet.get("/Annots", ArrayObject())
        for reference in list(notes):
            note = reference.get_object()
            address = note.get("/A", {}).get("/URI", "").split("#")[0]
            if address.startswith("file:") and address not in starts:
                notes.remove(reference)
            elif address in starts:
                del note["/A"]
                goal = whole.pages[starts[address]].indirect_reference
                note[NameObject("/Dest")] = ArrayObject([goal, NameObject("/Fit")])
