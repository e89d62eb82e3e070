"""Live figures in Firefox, from a folder on disk: they answer as PyTorch does."""

from __future__ import annotations

import pytest

from seqcourse import zoo

from .conftest import DIGITS, EXAMPLES, TRANSLATORS

pytestmark = pytest.mark.nightly
READY = "name => !document.querySelector(`#${name} [type=submit][aria-disabled]`)"
SAID = "name => document.querySelector(`#${name} [role=status]`).textContent"
SENTENCE = "the red house is big"


@pytest.fixture(scope="module")
def page(firefox, site):
    firefox.open((site / "index.html").as_uri())
    return firefox


def ask(page, name: str, text: str) -> str:
    """Type a text into a figure as a reader does; what its status says when it has answered."""
    page.run("name => { document.querySelector(`#${name} [name=text]`).value = ''; }", name)
    page.click(f"#{name} [name=text]")
    page.type(f"{text}\ue007")
    page.wait(READY, name)
    said = page.run(SAID, name)
    assert page.troubles == []
    return said


def test_translators_answer(page):
    (expected,) = zoo.load("en-es-attention").translate([SENTENCE], beam=5)
    said = ask(page, "translate", SENTENCE)
    assert expected.text in said and said.endswith(" ms.")
    cells = "() => [...document.querySelectorAll('#translate section:nth-of-type(2) tbody th')]"
    assert page.run(f"{cells}.map(cell => cell.textContent)") == expected.target


def test_an_example_is_translated_at_a_click(page):
    page.click("#translate .sq-examples button:nth-of-type(1)")
    page.wait(READY, "translate")
    (expected,) = zoo.load(next(iter(TRANSLATORS))).translate([EXAMPLES[0]], beam=5)
    assert expected.text in page.run(SAID, "translate") and page.troubles == []


def test_a_tree_grows(page):
    (expected,) = zoo.load("en-es-fixed").translate([SENTENCE], beam=3)
    assert expected.text in ask(page, "tree", SENTENCE)


def test_a_word_is_pronounced(page):
    assert ask(page, "pronounce", "ghoti").startswith("ghoti: G OW T IY.")


def test_a_text_goes_on(page):
    assert "each." in ask(page, "write", "The Mouse")


def test_digits_are_heard(page):
    assert ask(page, "listen", " ".join(DIGITS[0])).startswith("Written: four two seven.")
