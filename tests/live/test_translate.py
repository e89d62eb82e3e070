"""Translators that run in the page say what PyTorch says, and a reader can use them."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from functools import cache

import numpy
import pytest

from seqcourse import data, live, zoo
from seqcourse.errors import CourseError
from seqcourse.live import pack, sphinx

from .conftest import EXAMPLES, LABEL, SUBWORDS, TRANSLATORS, answered, ask, load, sentences

pytestmark = pytest.mark.browser

# Texts of every kind, for which the page and Python must find the same tokens.
STRANGE = [
    "", " ", "a\u00a0b\u2003c\x1cd\x85e", "p.m. U.S. 2:30 1,000.5 3.", "don't, far-off; l'homme qu'elle",
    "avez-vous dites-le-moi a-t-il rendez-vous -là", "“so” ‘it’ … «c'est»", "ﬁ ½ ² Ⅷ ٣٤ x²+y²",
    "İstanbul ΣΑΣ", "____ a_b __init__", "汉字 かな ไทย",
    "👩\u200d👩\u200d👧 🙂!", "<script>alert(1)</script>", "e\u0301te\u0301 o\ufeffk\u00ad",
]  # fmt: skip

ASK = """async ([name, texts, options]) => {
    const found = [];
    for (const text of texts) found.push(await seqlive.send("translate", { name, text, ...options }));
    return found; }"""
TOKENS = """([kind, texts, merges, tokens]) => {
    const own = {}; seqlive.parts.forEach(part => part(own));
    const { split } = own.kinds[kind]({ merges }, new Set(tokens));
    return texts.map(split); }"""
JOINED = """([language, texts]) => { const own = {}; seqlive.parts.forEach(part => part(own));
    return texts.map(text => own.detokenize(own.tokenize(text), language)); }"""
# Models for each kind of vocabulary.
KINDS = {
    "words": "en-es-attention",
    "subwords": "en-es-subwords",
    "characters": "char-alice",
    "letters": "g2p-transformer",
}
# Signs that tokenizers treat apart, and marks that join, combine or turn the way of writing.
SIGNS = (
    "aàb̧cçdeéiıİoœsſßΣσςDŽﬁ½²Ⅷ٣0123456789.,:;!?¿¡…'’‘´`“”\"«»()[]{}<>&$€%#@/\\|_-–—‐▁ "
    " \t\n\r\x1c\x85\xa0\u2003\u2028\u3000\u0301\u0308\u0327\u200b\u200d\u200e\xad\ufeff\x00"
    "汉か가ไกัमिअ🙂👩🇪"
)


@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("names", [TRANSLATORS, SUBWORDS], ids=["words", "subwords"])
def test_every_translation_is_pytorchs(page, names, count):
    load(page, *names)
    texts = sentences(count)
    for name in names:
        system = zoo.load(name)
        for options, beam, some in [({}, 5, texts), ({"width": 1}, 1, texts[: count // 3])]:
            found = page.evaluate(ASK, [name, some, options])
            for mine, theirs in zip(found, system.translate(some, beam=beam), strict=True):
                assert (mine["source"], mine["target"]) == (theirs.source, theirs.target)
                assert mine["text"] == theirs.text
                assert mine["score"] == pytest.approx(theirs.score, abs=1e-4)
                assert mine["unknown"] == [t for t in theirs.source if t not in system.source]
                if theirs.weights is not None and theirs.target:
                    numpy.testing.assert_allclose(mine["weights"], theirs.weights, atol=1e-5)


@cache
def some_texts(count: int) -> list[str]:
    """Sentences of three languages, and as many texts of random signs."""
    draw, texts = random.Random(17), list(STRANGE)
    anything = [
        chr(k) for k in range(sys.maxunicode) if unicodedata.category(chr(k)) not in ("Cn", "Cs")
    ]
    for name in ("en-es", "en-fr"):
        pairs = data.load_pairs(name, "train")[: count // 8]
        texts += [pair.source for pair in pairs] + [pair.target for pair in pairs]
    while len(texts) < count:
        signs = draw.choices(draw.choice((SIGNS, SIGNS, anything)), k=draw.randint(1, 30))
        texts.append("".join(signs))
    return texts


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_text_has_pythons_tokens(page, kind, count):
    load(page, KINDS[kind])
    vocabulary, texts = zoo.load(KINDS[kind]).source, some_texts(count)
    split = {
        "words": data.tokenize,
        "subwords": getattr(vocabulary, "tokenize", None),
        "characters": list,
        "letters": zoo.load(KINDS[kind]).tokens,
    }[kind]
    given = [kind, texts, getattr(vocabulary, "merges", None), vocabulary.tokens]
    differ = [
        (text, mine, split(text))
        for text, mine in zip(texts, page.evaluate(TOKENS, given), strict=True)
        if mine != split(text)
    ]
    assert differ == [], (len(differ), differ[:5])


@pytest.mark.parametrize("language", ["es", "fr"])
def test_tokens_become_the_text_that_python_makes_of_them(page, language):
    load(page, "en-es-fixed")
    texts = some_texts(600)
    for text, mine in zip(texts, page.evaluate(JOINED, [language, texts]), strict=True):
        assert mine == data.detokenize(data.tokenize(text), language), text


def test_words_that_not_all_translators_write_are_marked(page):
    marked = "node => [...node.querySelectorAll('mark')].map(mark => mark.textContent)"
    shown = page.locator("#translate .sq-live")
    assert shown.evaluate(marked) == []  # all three write the same
    ask(page, "translate", EXAMPLES[1])
    texts = [zoo.load(name).translate([EXAMPLES[1]])[0].text.split() for name in TRANSLATORS]
    common = set.intersection(*map(set, texts))
    wanted = [word for text in texts for word in text if word not in common]
    assert wanted and shown.evaluate(marked) == wanted
    made = live.translate(TRANSLATORS, LABEL, [EXAMPLES[1]])._repr_html_()
    assert re.findall("<mark>(.*?)</mark>", made) == wanted


def test_a_sentence_is_answered_with_its_map(page):
    page.locator("#translate").get_by_role("button", name=EXAMPLES[1]).click()  # an example to press
    said = answered(page, "translate")
    assert page.locator("#translate").get_by_role("textbox").input_value() == EXAMPLES[1]
    assert said.startswith("la casa rojo es grande. la casa roja es grande.") and said.endswith(" ms.")
    found = zoo.load("en-es-attention").translate(["the red house is big"])[0]
    shown = page.locator("#translate .sq-live section").nth(1)
    rows = shown.locator("tbody tr")
    assert rows.locator("th").all_text_contents() == found.target
    assert rows.nth(2).locator("td").nth(1).text_content() == f"{found.weights[2, 1]:.2f}"
    assert "It does not know: xyzzy." in ask(page, "translate", "the xyzzy is big")
    assert page.locator("#translate").get_by_text("It does not know: xyzzy.", exact=True).count() == len(
        TRANSLATORS
    )


def test_only_what_a_page_names_is_written(tmp_path):
    body = '<div data-live="translate" data-models="{&quot;en-es-fixed&quot;: &quot;A&quot;}">'
    assert (
        sphinx.named_models(body) == {"en-es-fixed"} and sphinx.named_models("<p>data-live</p>") == set()
    )
    sphinx.write_runtime(tmp_path)
    sphinx.write_models(tmp_path, ["en-es-fixed"])
    assert len(list((tmp_path / "models").iterdir())) == pack.PIECES
    assert (tmp_path / "start.js").is_file() and (tmp_path / "live.css").is_file()


def test_a_model_that_the_runtime_does_not_have_is_refused():
    with pytest.raises(CourseError, match="fashion-cnn cannot run in a page"):
        pack.scripts("fashion-cnn")
