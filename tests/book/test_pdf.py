"""The book as one PDF: printed by the same Chromium that the other tests look with."""

from __future__ import annotations

import pytest
from pypdf import PdfReader

from seqcourse.cli import pdf
from seqcourse.errors import CourseError
from seqcourse.pages import browser

from .conftest import ROOT, page_names

FIRST = """<title>One — Course</title><h1>One</h1><h2>A section</h2>
<p>bread <a href="two.html#end">on</a> <a href="one.png">large</a></p>
<style>h2 { break-before: page }</style>"""
SECOND = "<title>Two — Course</title><h1>Two</h1><p id='end'>estamos comiendo pan</p>"


def _titles(entries) -> list:
    return [_titles(entry) if isinstance(entry, list) else entry.title for entry in entries]


@pytest.mark.browser
def test_pages_become_one_document_with_bookmarks_and_links(tmp_path, chrome):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page, text in zip(pages, (FIRST, SECOND), strict=True):
        page.write_text(text, encoding="utf-8")
    if browser.installed_browser() is None:
        pytest.skip("Chromium is here only as Playwright's")
    said = []
    book = PdfReader(pdf.print_pages(pages, tmp_path / "book.pdf", said.append))
    texts = [sheet.extract_text() for sheet in book.pages]
    assert len(texts) == 4 and "bread" in texts[2] and "estamos comiendo pan" in texts[3]
    assert [text.split()[0] for text in texts[1:]] == ["2", "3", "4"], "the numbers of the sheets"
    assert texts[0].split()[-4:] == ["One", "2", "Two", "4"]
    assert _titles(book.outline) == ["Contents", "One", ["A section"], "Two"]
    (link,) = [note.get_object() for note in book.pages[2]["/Annots"]]
    assert link["/Dest"][0].get_object() == book.pages[3] and "/A" not in link
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.pdf", "one.html", "two.html"]
    assert said == ["one: 2 sheets", "two: 1 sheets"]


def test_without_a_browser_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match="needs Chromium or Chrome, but none was found"):
        pdf.print_pages([], tmp_path / "book.pdf", print)


def test_a_book_that_is_not_rendered_is_not_printed(tmp_path):
    (tmp_path / "_toc.yml").write_text("root: index\nparts: []\n")
    (tmp_path / "index.md").write_text("# Index\n")
    with pytest.raises(CourseError, match="render the book first"):
        pdf.whole_book(tmp_path, print)


@pytest.mark.browser
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_the_whole_book_is_printed(site, tmp_path, chrome):
    said = []
    book = PdfReader(pdf.whole_book(ROOT, said.append))
    tops = [entry for entry in book.outline if not isinstance(entry, list)]
    assert len(tops) - 1 == len(page_names()) == len(said)
    assert len(book.pages) > 200
    text = "".join(sheet.extract_text() for sheet in book.pages[:40])
    assert "hide the code" not in text and "Skip to main content" not in text
