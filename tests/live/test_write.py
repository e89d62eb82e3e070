"""Language models that run in the page write what PyTorch writes."""

from __future__ import annotations

import re

import pytest
import torch

from seqcourse import data, zoo
from seqcourse.tokens import EOS, SPECIALS

from .conftest import BEGINNINGS, LAYER, WRITERS, answered, ask, load

pytestmark = pytest.mark.browser
PROMPTS = [
    "A",
    "Alice was beginning to get very tired of ",
    '"What',
    "ñ said the Hatter, ",
    "\n\nCHAPTER",
]


def passages(count: int, words: int) -> list[str]:
    """Beginnings of sentences of the books, of one to so many words."""
    text = " ".join(data.load_books("test").values()).split()
    return [" ".join(text[k * len(text) // count :][: 1 + k % words]) for k in range(count)]


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


@torch.no_grad()
@pytest.mark.parametrize("more", [0, pytest.param(45, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("cache", [True, pytest.param(False, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", [*WRITERS, "books-gpt"])
def test_the_likeliest_text_is_pytorchs(page, name, cache, more):
    load(page, name)
    count = (60 if more else 20) if cache else 10
    system, prompts = zoo.load(name), PROMPTS + passages(more, 12)
    for prompt, found in zip(prompts, page.evaluate(GREEDY, [name, prompts, count, cache]), strict=True):
        ids, likeliest = system.target.encode(system.tokens(prompt), eos=False), []
        for _ in range(count):
            log_probs = system.model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
            log_probs[: len(SPECIALS)] = float("-inf")
            likeliest.append(log_probs.max().item())
            ids.append(log_probs.argmax().item())
        assert found["text"].strip() == system.text(system.target.decode(ids[-count:])).strip()
        assert found["logProbs"] == pytest.approx(likeliest, abs=1e-4)


DRAW = """async ([text, cache, count]) => {
    await seqlive.send("begin", { name: "alice-transformer", text, temperature: 0.8, seed: 7, cache });
    return seqlive.send("goOn", { name: "alice-transformer", count }); }"""


def test_without_kept_keys_the_text_is_the_same(page):
    load(page, "alice-transformer")
    kept, anew = (page.evaluate(DRAW, [BEGINNINGS[0], cache, 40]) for cache in (True, False))
    assert kept["text"] == anew["text"] and kept["logProbs"] == anew["logProbs"]


CELLS = """text => seqlive.send("cells", { name: "char-alice", text }).then(
    ({ cells }) => cells.map(cell => [...cell]))"""


@torch.no_grad()
def test_cells_are_pytorchs_and_colour_the_characters(page):
    load(page, "char-alice")
    system, text = zoo.load("char-alice"), "'Oh! ñ,' said the Queen."
    state, wanted = system.model.start(batch_size=1), []
    for number in system.target.encode(list(text), eos=False):
        state = system.model.step(torch.tensor([number]), state).state
        wanted.append(state[1].flatten())
    found = torch.tensor(page.evaluate(CELLS, text))
    assert torch.allclose(found, torch.stack(wanted), atol=1e-4)
    root = page.locator("#cells")
    said = ask(page, "cells", text)
    column = found[:, 5]

    def until(place):
        return text[max(0, place - 9) : place + 1]

    assert said == (
        f"Entry 5: highest ({column.max():.1f}) after “{until(column.argmax())}”, lowest "
        f"({column.min():.1f}) after “{until(column.argmin())}”. It does not know: ñ."
    )
    letters = root.locator(".sq-cells span")
    assert letters.all_text_contents() == list(text)
    cold = letters.evaluate_all("all => all.map(span => span.className === 'sq-low')")
    assert cold == (column < 0).tolist()
    share = letters.evaluate_all("all => all.map(span => Number(span.style.getPropertyValue('--w')))")
    assert share == pytest.approx((column.abs() / column.abs().max()).tolist(), abs=0.006)
    root.locator("[name=entry]").fill("17")  # a figure that has answered follows its slider
    page.wait_for_function(
        "document.querySelector('#cells [role=status]').textContent.includes('Entry 17')"
    )


MERGE = """([text, counts]) => Promise.all(counts.map(count =>
    seqlive.send("merge", { name: "books-gpt", text, count }).then(({ pieces }) => pieces)))"""


def joined(text: str, pairs: list[str]) -> list[str]:
    """The pieces of a text of letters and spaces by the definition: join pair after pair, everywhere."""
    words = [list("▁" + word) for word in text.split()]
    for pair in pairs:
        first, second = pair.split()
        for word in words:
            place = 0
            while place + 1 < len(word):
                if word[place : place + 2] == [first, second]:
                    word[place : place + 2] = [first + second]
                place += 1
    return [piece for word in words for piece in word]


def test_pieces_are_joined_pair_by_pair(page):
    load(page, "books-gpt")
    vocabulary, text = zoo.load("books-gpt").source, "the unbelievable caterpillars were talking"
    counts = [0, 1, 7, 100, 900, len(vocabulary.merges)]
    found = page.evaluate(MERGE, [text, counts])
    assert found == [joined(text, vocabulary.merges[:count]) for count in counts]
    assert found[-1] == vocabulary.tokenize(text) and len(found[0]) > 2 * len(found[-1])
    assert ask(page, "merge", text).startswith(f"{len(found[-1])} pieces. The latest pair joined: ")
    assert page.locator("#merge .sq-pieces span").all_text_contents() == found[-1]
    page.locator("#merge [name=merges]").fill("0")  # a figure that has answered follows its slider
    page.wait_for_function("document.querySelector('#merge').textContent.includes('Nothing is joined')")


FILL = """async texts => { const found = [];
    for (const text of texts) found.push(await seqlive.send("fill", { name: "books-bert", text }));
    return found.map(({ blanks }) => blanks); }"""


@pytest.mark.parametrize("count", [3, pytest.param(300, marks=pytest.mark.nightly)])
def test_bert_fills_blanks_as_pytorch_does(page, count):
    # A text of its own: the page is that of the other size, whose last text had no blank.
    assert ask(page, "fill", "the ___ ran").startswith("Likeliest: ")
    system = zoo.load("books-bert")
    texts = ["the little ___ ran into the wood.", "'oh <mask> !' said the ____, and went on", "__"]
    texts += [f"{text} ___ {text[::-1]} <mask>." for text in passages(count - 3, 12)]
    for text, blanks in zip(texts, page.evaluate(FILL, texts), strict=True):
        wanted = system.fill(re.sub("_{2,}", "<mask>", text))
        assert [[word for word, _ in words] for words in blanks] == [[w for w, _ in ws] for ws in wanted]
        mine, theirs = ([share for words in found for _, share in words] for found in (blanks, wanted))
        assert mine == pytest.approx(theirs, abs=1e-5)
    assert ask(page, "fill", "nothing is missing") == "Put ___ where a word is missing."


CLASSIFY = """([texts, layer]) => Promise.all(texts.map(text =>
    seqlive.send("sort", { name: "books-gpt", text, layer, longest: 24 })))"""


@torch.no_grad()
@pytest.mark.parametrize("count", [3, pytest.param(300, marks=pytest.mark.nightly)])
def test_a_text_has_the_classes_that_pytorch_gives_it(page, count):
    said = ask(page, "classify", "the little fox ran home and said nothing. " * 4)
    assert re.fullmatch(
        r"Likeliest: (one|two) \(0\.\d\d\)\. The last \d+ pieces of words were not read\.", said
    )
    system = zoo.load("books-gpt")
    texts = ["the little fox said", "Ünknown 汉字!", "alice looked at the " * 12]
    texts += passages(count - 3, 30)
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
    assert list(rates) == names and min(rates.values()) > 0
    figure.get_by_label("Keys and values").select_option("anew")
    answered(page, "write")  # it follows the list
    assert figure.locator(".sq-text").all_text_contents() == [texts[0], texts[2]]
    assert ask(page, "write", "łódź").endswith("It does not know: ł, ó, ź.")


@pytest.mark.parametrize(
    ("text", "words"), [("", "at least one character"), ("a" * 300, "128 characters")]
)
def test_what_cannot_be_continued_is_a_sentence(page, text, words):
    assert words in ask(page, "write", text)
