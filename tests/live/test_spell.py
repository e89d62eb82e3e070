"""A word pronounced in the page has PyTorch's phonemes and map."""

from __future__ import annotations

import numpy
import pytest

from seqcourse import data, live, zoo

from .sites import said, site_of

pytestmark = pytest.mark.browser
MODEL, LABEL, WORDS = "g2p-transformer", "An English word", ["knight", "transformer"]
PRONOUNCE = """async texts => { await seqlive.load("g2p-transformer", () => {}); const found = [];
    for (const text of texts)
        found.push(await seqlive.send("pronounce", { name: "g2p-transformer", text }));
    return found; }"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return site_of(tmp_path_factory.mktemp("spell"), lambda: live.pronounce(MODEL, LABEL, WORDS))


@pytest.fixture
def page(opened, address):
    page = opened(address)
    ask(page, WORDS[1])
    return page


def ask(page, text: str) -> str:
    page.get_by_role("combobox", name=LABEL).fill(text)
    page.keyboard.press("Enter")
    return said(page)


@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.nightly)])
def test_every_word_is_pronounced_as_by_pytorch(page, count):
    entries = data.load_pronunciations("test")
    words = ["seqcourse", "Café 12", "don't", "x", "pneumonoultramicroscopic"]
    words += [entry.word for entry in entries[:: len(entries) // count]][: count - len(words)]
    system = zoo.load(MODEL)
    for mine, theirs in zip(page.evaluate(PRONOUNCE, words), system.translate(words), strict=True):
        assert (mine["source"], mine["target"]) == (theirs.source, theirs.target)
        assert mine["text"] == theirs.text
        assert mine["score"] == pytest.approx(theirs.score, abs=1e-4)
        assert mine["unknown"] == [letter for letter in theirs.source if letter not in system.source]
        numpy.testing.assert_allclose(mine["weights"], theirs.weights, atol=1e-5)


def test_a_reader_types_a_word_and_sees_its_map(page):
    assert ask(page, "ghoti").startswith("ghoti: G OW T IY.")
    assert page.locator(".sq-live tbody th").all_text_contents() == ["G", "OW", "T", "IY"]
    assert "OW as in oat" in page.inner_text(".sq-live")
    assert "It does not know: é." in ask(page, "café")
    came = page.inner_html(".sq-live")
    assert "Write a word" in ask(page, " ?! ")
    assert "at most 30 letters; this one has 400" in ask(page, "a" * 400)
    assert page.inner_html(".sq-live") == came
    ask(page, "<img src=x onerror=alert(1)>")
    assert page.locator(".sq-live img").count() == 0


def test_the_example_that_came_with_the_page_is_what_the_page_makes(opened, address):
    page = opened(address)
    came = page.inner_text(".sq-live")
    assert "N AY T" in came
    ask(page, WORDS[0])
    assert page.inner_text(".sq-live") == came


def test_without_javascript_the_first_word_is_there(opened, address):
    page = opened(address, javascript=False)
    assert page.get_by_text("N AY T").is_visible() and not page.get_by_role("button").is_visible()
