"""The book in Firefox, from a folder on disk: pages, formulas, theme, search."""

from __future__ import annotations

import pytest

from .conftest import page_names

pytestmark = pytest.mark.nightly
SEEN = """async () => {
    await document.fonts.ready;
    const formulas = [...document.querySelectorAll('article .math')];
    return {
        headings: document.querySelectorAll('article h1').length,
        wrong: formulas
            .filter(formula => !formula.querySelector('math') || formula.querySelector('merror'))
            .map(formula => formula.textContent.slice(0, 80)),
        flat: formulas.filter(formula => !formula.closest('.toggle-hidden') &&
            formula.getClientRects().length && !formula.getBoundingClientRect().height).length,
        wide: document.documentElement.scrollWidth > innerWidth}; }"""
LINKS = (
    """() => [...document.querySelectorAll('#search-results li a')].slice(0, 2).map(link => link.href)"""
)


def test_every_page_opens_without_a_complaint(firefox, site):
    wrong = {}
    for name in page_names():
        firefox.open((site / f"{name}.html").as_uri())
        seen = firefox.run(SEEN)
        if seen != {"headings": 1, "wrong": [], "flat": 0, "wide": False} or firefox.troubles:
            wrong[name] = seen, firefox.troubles[:]
        firefox.troubles.clear()
    assert wrong == {}


def test_the_theme_changes_at_a_click(firefox, site):
    firefox.open((site / "book" / "08_masking.html").as_uri())
    look = "() => getComputedStyle(document.body).backgroundColor"
    seen = set()
    for _ in range(3):  # light, dark, as the system has it
        firefox.click("button.theme-switch-button")
        seen.add(firefox.run(look))
    assert len(seen) == 2 and firefox.troubles == []


def test_the_search_finds_a_section(firefox, site):
    firefox.open((site / "search.html").as_uri())
    firefox.click(".bd-search-container input")
    firefox.type("beam search\ue007")
    firefox.wait("() => Boolean(document.querySelector('#search-results li a'))")
    assert any("03_decoding.html#beam-search" in link for link in firefox.run(LINKS))
    assert firefox.troubles == []
