"""All heads of a Transformer in the page: their maps are PyTorch's, and a head can be switched off."""

from __future__ import annotations

import numpy
import pytest
import torch

from seqcourse import data, zoo
from seqcourse.tokens import SOS

from .conftest import EXAMPLES, answered, ask, load, sentences

pytestmark = pytest.mark.browser
NAME = "en-es-transformer"
SENTENCES = ["the red house is big", "She was wearing a black hat.", "no"]
ASK = (
    """([text, options]) => seqlive.send("translate", { name: "en-es-transformer", text, ...options })"""
)


def press(page, act) -> str:
    """What the figure says after an act."""
    act()
    return answered(page, "heads")


@pytest.mark.nightly
def test_every_map_of_many_sentences_is_pytorchs(page):
    for text in sentences(300):
        test_every_map_is_pytorchs(page, text)


@pytest.mark.parametrize("text", SENTENCES)
def test_every_map_is_pytorchs(page, text):
    load(page, NAME)
    system = zoo.load(NAME)
    found = page.evaluate(ASK, [text, {"maps": True}])
    ids, lengths = data.pad([system.source.encode(found["source"])])
    written = torch.tensor([[SOS, *system.target.encode(found["target"], eos=False)[:-1]]])
    with torch.inference_mode():
        maps = system.model.maps(ids, lengths, written)
    for kind, name in [
        ("encoder", "encoder.{}.self"),
        ("decoder", "decoder.{}.self"),
        ("cross", "decoder.{}.cross"),
    ]:
        for layer, heads in enumerate(getattr(maps, kind)[0]):
            mine = found["maps"][f"{name.format(layer)}_attention"]
            for head, theirs in enumerate(heads.numpy()):
                for row, weights in zip(mine[head], theirs, strict=True):
                    numpy.testing.assert_allclose(row, weights[: len(row)], atol=1e-5)
                    assert not weights[len(row) :].any()


@pytest.mark.parametrize("head", ["encoder.0.self_attention.1", "decoder.1.cross_attention.0"])
def test_without_a_head_it_says_what_pytorch_says_without_its_output(page, head):
    load(page, NAME)
    system = zoo.load(NAME)
    stack, layer, attention, number = head.split(".")
    out = getattr(getattr(system.model, stack)[int(layer)], attention).out.weight
    size = out.shape[1] // 4
    kept = out.detach().clone()
    try:
        with torch.no_grad():
            out[:, int(number) * size : (int(number) + 1) * size] = 0
        for text in SENTENCES:
            found, theirs = page.evaluate(ASK, [text, {"off": [head]}]), system.translate([text])[0]
            assert found["text"] == theirs.text and found["score"] == pytest.approx(
                theirs.score, abs=1e-4
            )
    finally:
        with torch.no_grad():
            out.copy_(kept)
    assert page.evaluate(ASK, [SENTENCES[0], {}])["text"] == system.translate(SENTENCES[:1])[0].text


def test_the_maps_that_came_with_the_page_are_what_the_page_makes(page):
    shown = page.locator("#heads .sq-live")
    came = shown.inner_html()
    ask(page, "heads")
    names = "node => [...node.querySelectorAll('button')].map(b => [b.dataset.head, b.ariaLabel])"
    assert came.count("<i ") == shown.inner_html().count("<i ") > 500
    assert shown.evaluate(names)[0] == [
        "decoder.0.cross_attention.0",
        "Decoder, source, layer 1, head 1, on",
    ]


def test_a_reader_switches_heads_off_and_on_with_the_keyboard(page):
    head = page.get_by_role("button", name="Decoder, source, layer 2, head 1, on")
    assert head.get_attribute("aria-pressed") == "true"
    head.focus()
    assert "Without one head: " in press(page, lambda: page.keyboard.press("Space"))
    assert head.get_attribute("aria-pressed") == "false"
    assert head.evaluate("node => node === document.activeElement")
    large = page.locator("#heads table")  # the head that is held, with its words
    assert large.locator("caption").text_content() == "Decoder, source, layer 2, head 1"
    assert page.locator("#heads").get_by_text("Without it: ").is_visible()
    assert large.locator("thead th").all_text_contents()[:2] == EXAMPLES[0].split()[:2]
    assert "Click a head" in press(page, lambda: page.keyboard.press("Space"))
    assert "la casa roja es grande." in ask(page, "heads", SENTENCES[0])
    assert EXAMPLES[0] not in page.locator("#heads .sq-live").text_content()


def test_the_page_counts_how_many_heads_are_off_while_the_sentence_is_the_same(page):
    said, stays = ask(page, "heads", "we are eating bread"), {"1, head 1", "2, head 4"}
    assert "Most heads off" not in said
    names = page.locator("#heads button[data-head]").evaluate_all("all => all.map(one => one.ariaLabel)")
    off = [name for name in names if not any(f"source, layer {one}," in name for one in stays)]
    assert len(off) == 22
    for name in off:
        page.get_by_role("button", name=name, exact=True).focus()
        said = press(page, lambda: page.keyboard.press("Space"))
    assert said.endswith(
        "Without 22 heads: estamos comiendo pan. Most heads off with the same sentence: 22 of 24."
    )
    page.get_by_role("button", name="Decoder, source, layer 1, head 1, on", exact=True).focus()
    said = press(page, lambda: page.keyboard.press("Space"))
    assert "Without 23 heads: estamos comiendo pan." not in said and said.endswith("22 of 24.")
    assert "Most heads off" not in ask(page, "heads", SENTENCES[0])
