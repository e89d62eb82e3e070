"""A word pronounced in the page has PyTorch's phonemes and map."""

from __future__ import annotations

import numpy
import pytest

from seqcourse import data, zoo

from .conftest import ask

pytestmark = pytest.mark.browser
MODEL, SHOWN = "g2p-transformer", "#pronounce .sq-live"
PRONOUNCE = """async texts => { await seqlive.load("g2p-transformer", () => {}); const found = [];
    for (const text of texts)
        found.push(await seqlive.send("pronounce", { name: "g2p-transformer", text }));
    return found; }"""


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


@pytest.mark.nightly
def test_a_reader_types_a_word_and_sees_its_map(page):
    assert ask(page, "pronounce", "ghoti").startswith("ghoti: G OW T IY.")
    assert page.locator(SHOWN + " tbody th").all_text_contents() == ["G", "OW", "T", "IY"]
    assert "OW as in oat" in page.inner_text(SHOWN)
    assert "It does not know: é." in ask(page, "pronounce", "café")
    came = page.inner_html(SHOWN)
    assert "Write a word" in ask(page, "pronounce", " ?! ")
    assert "at most 30 letters; this one has 400" in ask(page, "pronounce", "a" * 400)
    assert page.inner_html(SHOWN) == came
    ask(page, "pronounce", "<img src=x onerror=alert(1)>")
    assert page.locator(SHOWN + " img").count() == 0
