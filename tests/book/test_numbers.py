"""The site's numbers are those that the pages' texts hold for every other viewer."""

from __future__ import annotations

from bs4 import BeautifulSoup

from seqcourse.pages import plain

from .conftest import ROOT, page_names


def test_figures_tables_and_formulas_have_the_numbers_of_the_text(site):
    book, found = plain.read_book(ROOT), {}
    for name in page_names():
        page = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for link in page.select(".eqno a.headerlink, figcaption a.headerlink, caption a.headerlink"):
            number = link.find_parent(class_="eqno") or link.find_parent(
                ["figcaption", "caption"]
            ).select_one(".caption-number")
            found[link["href"].removeprefix("#").removeprefix("equation-")] = number.text.strip(" #\n")
    numbered = {label: text for label, text in book.texts.items() if not label.startswith("sec")}
    numbered = {label: text for label, text in numbered.items() if text[0] == "(" or text[-1].isdigit()}
    assert len(numbered) > 200
    assert {label: found.get(label) for label in numbered} == numbered
