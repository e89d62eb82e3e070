"""What a reader meets of a chapter's code: its steps, one mark for what draws a figure, no guards."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from seqcourse.pages.code import without_guards

from .conftest import chapter_names

CELL = """\
found = measure()
assert found < 3  # the sentence below says so
for name in found:
    print(name)
    assert name in known, (
        "and over several lines")
for each in found:
    assert each > 0
assert torch.allclose(found, by_hand)
y = 1"""
KEPT = """\
found = measure()
for name in found:
    print(name)
assert torch.allclose(found, by_hand)
y = 1"""


def test_guards_are_left_out_and_what_shows_that_two_ways_agree_stays():
    assert without_guards(CELL) == KEPT
    assert without_guards(KEPT) == KEPT
    assert without_guards("%matplotlib inline\nassert x") == "%matplotlib inline\nassert x"


@pytest.mark.parametrize("name", chapter_names())
def test_a_chapter_shows_its_steps_without_guards_or_a_stack_of_marks(site, name):
    soup = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "lxml")
    sources = [each.get_text() for each in soup.select("article .cell_input pre")]
    assert sources and all(without_guards(source) == source.strip("\n") for source in sources)
    assert soup.select("article details.hide"), "what draws the figures is folded"
    for cell in soup.select("article div.cell:has(> details.hide)"):
        follows = cell.find_next_sibling()
        alone = cell.select_one(":scope > .cell_output") is None
        assert not (alone and follows is not None and follows.select_one(":scope > details.hide"))
