"""Which picture a caption fits: the page computes PyTorch's log-probabilities, and Bayes' rule."""

from __future__ import annotations

import numpy
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from seqcourse import data, live, zoo
from seqcourse.errors import CourseError
from seqcourse.live.figure import percent
from seqcourse.live.fitting import fits, words_of
from seqcourse.tokens import EOS, SOS
from seqcourse.viz import html

from .conftest import BAD, CAPTIONS, SCENES, answered, ask, load

NAME, PAIR = "captions-soft", "scenes-pair"
TEXTS = [*CAPTIONS, "a tiger", "Two Camels.", "an elephant above a green bus", "four  yellow lemons"]
SEND = """async ([section, name, texts]) => {
    const figure = document.querySelector(`#${section} [data-live]`);
    const pictures = figure.pictures.map(bytes => Array.from(bytes));
    return [pictures, await seqlive.send("fits", { name, texts, pictures })]; }"""


@pytest.fixture(scope="module")
def system():
    return zoo.load(NAME)


@pytest.fixture(scope="module")
def pictures():
    return [data.arrange(things).image for things in SCENES]


def test_scores_are_those_of_teacher_forcing_and_shares_follow_bayes_rule(system, pictures):
    per_word, shares = fits(system, pictures, TEXTS)
    x = data.to_tensor(numpy.stack(pictures)).to(system.device)
    for text, mine, row in zip(TEXTS, per_word, shares, strict=True):
        ids = system.target.encode(words_of(system, text), eos=False)
        given = torch.tensor([[SOS, *ids]] * len(pictures), device=system.device)
        with torch.inference_mode():
            logits = system.model(x, None, given).logits.double().cpu()
        said = logits.log_softmax(-1)[:, range(len(ids) + 1), [*ids, EOS]].sum(-1)
        numpy.testing.assert_allclose(mine, said / (len(ids) + 1), atol=1e-5)
        likely = said.exp()
        numpy.testing.assert_allclose(row, likely / likely.sum(), atol=1e-4)


def test_a_pair_scores_by_the_scaled_cosine_and_shares_are_its_softmax(pictures):
    pair = zoo.load(PAIR)
    scores, shares = fits(pair, pictures, TEXTS)
    for text, mine, row in zip(TEXTS, scores, shares, strict=True):
        ids = torch.tensor([[SOS, *pair.target.encode(words_of(pair, text), eos=False)]])
        with torch.inference_mode():
            caption = pair.model.read(ids.to(pair.device), torch.tensor([ids.shape[1]]))
            seen = pair.model.see(data.to_tensor(numpy.stack(pictures)).to(pair.device))
            wanted = (pair.model.scale() * seen @ caption.T)[:, 0].cpu()
        numpy.testing.assert_allclose(mine, wanted, atol=1e-4)
        numpy.testing.assert_allclose(row, wanted.softmax(0), atol=1e-5)
    with pytest.raises(CourseError, match="reads at most 23 words; these are 24"):
        fits(pair, pictures, ["camel " * 24])


def test_what_the_chapter_says_of_the_figure(system, pictures):
    per_word, shares = fits(system, pictures, ["two camels", "a tiger"])
    assert shares.argmax(1).tolist() == [2, 2]  # a share is no sign that a caption fits
    assert shares[1, 2] > 0.9 and per_word[0].max() > -1 > -5 > per_word[1].max()


REFUSED = [
    ("", "Write a caption with at least one word."),
    (" . ", "Write a caption with at least one word."),
    ("the camel", 'The model does not know the word "the". It knows a, an, two'),
    ("a <b>camel</b>", 'does not know the word "<b>camel</b>"'),
    ("camel " * 30, "This model reads at most 24 words; these are 30."),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_the_captioner_cannot_read_is_refused_with_a_sentence(system, text, words):
    with pytest.raises(CourseError) as refused:
        words_of(system, text)
    assert words in str(refused.value)


@pytest.mark.browser
@pytest.mark.parametrize(("section", "name"), [("fit", NAME), ("pair", PAIR)])
def test_the_page_has_pytorchs_numbers(page, pictures, section, name):
    ask(page, section, CAPTIONS[0])
    load(page, name)
    seen, found = page.evaluate(SEND, [section, name, TEXTS])
    assert seen == [picture.ravel().tolist() for picture in pictures]
    scores, shares = fits(zoo.load(name), pictures, TEXTS)
    numpy.testing.assert_allclose([row["scores"] for row in found], scores, atol=1e-3)
    numpy.testing.assert_allclose([row["shares"] for row in found], shares, atol=1e-3)


@pytest.mark.browser
def test_a_reader_types_two_captions(page, system, pictures):
    page.locator("#fit").get_by_label("Second caption").fill("two camels")
    said = ask(page, "fit", "a pink flamingo")
    _, shares = fits(system, pictures, ["a pink flamingo", "two camels"])
    best = shares.argmax(1)
    for text, row, k in zip(("a pink flamingo", "two camels"), shares, best, strict=True):
        assert f"“{text}” fits picture {k + 1} best ({percent(row[k])})." in said
    page.locator("#fit").get_by_role("button", name=CAPTIONS[2]).click()
    answered(page, "fit")
    assert page.locator("#fit").get_by_label("First caption").input_value() == CAPTIONS[2]


@pytest.mark.browser
def test_what_cannot_be_read_gets_the_same_sentence_in_the_page(page):
    for text, words in [*REFUSED, (BAD["a script"], 'does not know the word "<script>')]:
        said = ask(page, "fit", text)
        assert words in said and len(said) < 400
        assert page.locator("#fit .sq-stale").count() == 1
    ask(page, "fit", CAPTIONS[0])
    page.locator("#fit").get_by_label("Second caption").fill("xyzzy")
    assert '"xyzzy"' in ask(page, "fit")
    page.locator("#fit").get_by_label("Second caption").fill(CAPTIONS[1])


@pytest.mark.nightly
@pytest.mark.browser
def test_on_a_phone_nothing_is_too_wide_and_axe_finds_nothing(opened, over_http):
    page = opened(over_http)
    page.set_viewport_size({"width": 390, "height": 844})
    ask(page, "fit", CAPTIONS[0])
    right = page.locator("#fit table").evaluate("node => node.getBoundingClientRect().right")
    assert right <= page.evaluate("document.documentElement.clientWidth")
    report = Axe().run(page, context="#fit", options={"resultTypes": ["violations"]}).response
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []


def test_with_a_kernel_pytorch_answers(monkeypatch):
    monkeypatch.setattr(html, "has_widgets", lambda: True)
    form = live.fit(NAME, "Captions and pictures", SCENES, CAPTIONS)
    (first, _), shown = form.children[0].children, form.children[1]
    assert shown.value.count('class="sq-best"') == 2
    first.value = "the camel"
    assert "does not know the word" in shown.value
