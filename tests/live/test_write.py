"""Language models that run in the page write what PyTorch writes."""

from __future__ import annotations

import re

import pytest
import torch

from seqcourse import zoo
from seqcourse.tokens import SPECIALS

from .conftest import BEGINNING, BEGINNINGS, WRITERS, answered

pytestmark = pytest.mark.browser
TIMEOUT = 120_000  # milliseconds, for a busy machine
PROMPTS = [
    "A",
    "Alice was beginning to get very tired of ",
    '"What',
    "ñ said the Hatter, ",
    "\n\nCHAPTER",
]

GREEDY = """async ([name, prompts, count, cache]) => {
    const found = [];
    for (const text of prompts) {
        await seqlive.send("begin", { name, text, temperature: 0, seed: 1, cache });
        found.push(await seqlive.send("goOn", { name, count }));
    }
    return found; }"""
DRAWN = """([logProbs, temperature, count]) => {
    const own = {}; seqlive.parts.forEach(part => part(own));
    const random = own.random(5), seen = logProbs.map(() => 0);
    for (let k = 0; k < count; k++) seen[own.draw(Float64Array.from(logProbs), temperature, random)]++;
    return seen; }"""


@pytest.fixture
def page(opened, address):
    page = opened(address.replace("index", "write"))
    write(page, BEGINNINGS[0])
    return page


def write(page, text: str) -> str:
    page.get_by_role("combobox", name=BEGINNING).fill(text)
    page.get_by_role("button", name="Run").click()
    answered(page, TIMEOUT)
    return page.locator("p[role=status]").text_content()


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("name", WRITERS)
def test_the_likeliest_text_is_pytorchs(page, name, cache):
    count = 60 if cache else 15
    system = zoo.load(name)
    for prompt, found in zip(PROMPTS, page.evaluate(GREEDY, [name, PROMPTS, count, cache]), strict=True):
        ids = torch.tensor([system.target.encode(list(prompt + found["text"]), eos=False)])
        with torch.no_grad():
            log_probs = system.model(ids).logits[0].log_softmax(-1)
        log_probs[:, : len(SPECIALS)] = float("-inf")
        best = log_probs.max(-1)
        places = slice(len(prompt) - 1, len(prompt) - 1 + count)
        assert ids[0, len(prompt) :].tolist() == best.indices[places].tolist()
        assert found["logProbs"] == pytest.approx(best.values[places].tolist(), abs=1e-4)


FILL = """async texts => { const found = [];
    for (const text of texts) found.push(await seqlive.send("fill", { name: "books-bert", text }));
    return found; }"""


def test_bert_fills_blanks_as_pytorch_does(opened, address):
    page = opened(address.replace("index", "fill"))
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("document.querySelector('[role=status]').textContent.startsWith('Lik')")
    system = zoo.load("books-bert")
    texts = ["the little ___ ran into the wood.", "'oh <mask> !' said the ____, and went on", "__"]
    for text, blanks in zip(texts, page.evaluate(FILL, texts), strict=True):
        wanted = system.fill(re.sub("_{2,}", "<mask>", text))
        assert [[word for word, _ in words] for words in blanks] == [[w for w, _ in ws] for ws in wanted]
        mine, theirs = ([share for words in found for _, share in words] for found in (blanks, wanted))
        assert mine == pytest.approx(theirs, abs=1e-5)
    page.get_by_role("combobox").fill("nothing is missing")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Put ___ where a word is missing.").wait_for()


def test_characters_are_drawn_with_their_probabilities(page):
    shares = torch.tensor([0.0, 0, 0, 0, 0.5, 0.3, 0.2])
    for temperature in (1.0, 0.5):
        wanted = (shares.log() / temperature).softmax(0) * 20_000
        seen = page.evaluate(DRAWN, [shares.clamp_min(1e-30).log().tolist(), temperature, 20_000])
        spread = (wanted * (1 - wanted / 20_000)).sqrt()
        assert all(abs(a - b) <= 5 * s for a, b, s in zip(seen, wanted, spread, strict=True))


def test_a_reader_sees_the_text_and_the_time(page):
    page.get_by_label("Temperature").fill("0")
    assert page.locator("output").text_content() == "0"
    said = write(page, "The Mouse")
    text = page.locator(".sq-live section").nth(1).locator(".sq-text").text_content()
    assert text.startswith("The Mouse") and len(text) == len("The Mouse") + 40
    assert "The LSTM: 40 characters" in said and "The Transformer: 40 characters" in said
    page.get_by_label("keep keys and values").uncheck()
    write(page, "The Mouse")
    assert page.locator(".sq-live section").nth(1).locator(".sq-text").text_content() == text


@pytest.mark.parametrize(
    ("text", "words"), [("", "at least one character"), ("a" * 300, "at most 128 char")]
)
def test_what_cannot_be_continued_is_a_sentence(page, text, words):
    assert words in write(page, text)
