"""Without Jupyter Book, the newest Sphinx makes pages with the same words, anchors and pictures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.book.conftest import ROOT, page_names
from tests.versions.trial import YOUNG, CannotBeHad, make


def article(page: Path) -> BeautifulSoup:
    """What a reader reads: without the site's frame, buttons and scripts."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
    found = soup.select_one("article")
    assert found, page
    for each in found.select("script, style, button, .prev-next-footer, .header-article"):
        each.decompose()
    return found


def content(page: Path) -> dict[str, list[str]]:
    """Words, headings, anchors and the kinds of things to look at, in order."""
    found = article(page)
    return {
        "words": found.get_text(" ").split(),
        "headings": [each.get_text() for each in found.select("h1, h2, h3, h4")],
        "anchors": sorted(each["id"] for each in found.select("[id]")),
        "seen": [each.name for each in found.select("img, svg, math, table, details, pre, iframe")],
    }


@pytest.mark.nightly
def test_the_pages_are_the_same_without_jupyter_book(site, tmp_path):
    try:
        python = make(YOUNG, "sphinx", tmp_path / "python")
    except CannotBeHad as reason:
        pytest.skip(str(reason))
    built = subprocess.run(
        [python, "-m", "tests.book.plain_sphinx", tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SEQCOURSE_STATIC": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0 and "WARNING" not in built.stderr, built.stderr[-4_000:]
    for name in page_names():
        here, there = content(site / f"{name}.html"), content(tmp_path / "html" / f"{name}.html")
        for kind, found in here.items():
            assert there[kind] == found, f"{name}: other {kind}"
