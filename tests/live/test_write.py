"""Language models that run in the page write what PyTorch writes."""

from __future__ import annotations

import re

import pytest
import torch

from seqcourse import zoo
from seqcourse.tokens import EOS, SPECIALS

from .conftest import LAYER, WRITERS, ask, load

pytestmark = pytest.mark.browser
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


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("name", WRITERS)
def test_the_likeliest_text_is_pytorchs(page, name, cache):
    load(page, name)
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


def test_bert_fills_blanks_as_pytorch_does(page):
    assert ask(page, "fill").startswith("Likeliest: ")
    system = zoo.load("books-bert")
    texts = ["the little ___ ran into the wood.", "'oh <mask> !' said the ____, and went on", "__"]
    for text, blanks in zip(texts, page.evaluate(FILL, texts), strict=True):
        wanted = system.fill(re.sub("_{2,}", "<mask>", text))
        assert [[word for word, _ in words] for words in blanks] == [[w for w, _ in ws] for ws in wanted]
        mine, theirs = ([share for words in found for _, share in words] for found in (blanks, wanted))
        assert mine == pytest.approx(theirs, abs=1e-5)
    assert ask(page, "fill", "nothing is missing") == "Put ___ where a word is missing."


CLASSIFY = """([texts, layer]) => Promise.all(texts.map(text =>
    seqlive.send("sort", { name: "books-gpt", text, layer, longest: 24 })))"""


@torch.no_grad()
def test_a_text_has_the_classes_that_pytorch_gives_it(page):
    said = ask(page, "classify", "the little fox ran home and said nothing. " * 4)
    assert re.fullmatch(
        r"Likeliest: (one|two) \(0\.\d\d\)\. The last \d+ pieces of words were not read\.", said
    )
    system = zoo.load("books-gpt")
    texts = ["the little fox said", "Ünknown 汉字!", "alice looked at the " * 12]
    rows = torch.cat([LAYER.weight, LAYER.bias[:, None]], 1).tolist()
    for text, found in zip(texts, page.evaluate(CLASSIFY, [texts, rows]), strict=True):
        ids = system.source.encode(text.lower(), eos=False)
        states = system.model.states(torch.tensor([[*ids[:23], EOS]]))
        assert found["shares"] == pytest.approx(LAYER(states[0, -1]).softmax(-1).tolist(), abs=1e-5)
        assert found["left"] == max(0, len(ids) - 23)


def test_characters_are_drawn_with_their_probabilities(page):
    load(page, "char-alice")
    shares = torch.tensor([0.0, 0, 0, 0, 0.5, 0.3, 0.2])
    for temperature in (1.0, 0.5):
        wanted = (shares.log() / temperature).softmax(0) * 20_000
        seen = page.evaluate(DRAWN, [shares.clamp_min(1e-30).log().tolist(), temperature, 20_000])
        spread = (wanted * (1 - wanted / 20_000)).sqrt()
        assert all(abs(a - b) <= 5 * s for a, b, s in zip(seen, wanted, spread, strict=True))


def test_a_reader_sees_the_text_and_the_time_with_and_without_kept_keys(page):
    figure = page.locator("#write")
    figure.get_by_label("Temperature").fill("0")
    assert figure.locator("output").text_content() == "0"
    said = ask(page, "write", "The Mouse")
    names = [
        "The LSTM",
        *(f"The Transformer, {how}" for how in ("keys and values kept", "everything read anew")),
    ]
    assert [one.split(":")[0].strip() for one in re.split(r"each\.", said)[:-1]] == names
    texts = figure.locator(".sq-text").all_text_contents()
    assert all(text.startswith("The Mouse") and len(text) == len("The Mouse") + 24 for text in texts)
    assert texts[0] != texts[1] == texts[2]
    rows = [row.locator("th, td").all_text_contents() for row in figure.locator("tbody tr").all()]
    rates = {name: int(rate.split()[0]) for name, rate, *_ in rows}
    assert list(rates) == names and rates[names[1]] > rates[names[2]] > 0
    figure.get_by_label("Keys and values").select_option("anew")
    ask(page, "write", "The Mouse")
    assert figure.locator(".sq-text").all_text_contents() == [texts[0], texts[2]]


@pytest.mark.parametrize(
    ("text", "words"), [("", "at least one character"), ("a" * 300, "128 characters")]
)
def test_what_cannot_be_continued_is_a_sentence(page, text, words):
    assert words in ask(page, "write", text)
