"""The heads viewer: every map drawn, every row shown as it is, by mouse and by keys."""

from __future__ import annotations

import re

import pytest
import torch
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz

WORDS = ["we", "are", "<eating>", "."]
torch.manual_seed(0)
MAPS = torch.softmax(3 * torch.randn(2, 3, 4, 4), -1)


def shown_weights(page) -> list[str]:
    return page.locator("span.sq-word small").all_text_contents()


def expected(layer: int, head: int, row: int) -> list[str]:
    return [f"{round(100 * x) / 100:.2f}" for x in MAPS[layer, head, row].tolist()]


def test_every_map_is_drawn_without_a_script():
    page = BeautifulSoup(viz.heads(MAPS, WORDS)._repr_html_(), "html.parser")
    pictures = page.select(".sq-map")
    assert [p["aria-label"] for p in pictures] == [
        f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)
    ]
    for picture, weights in zip(pictures, MAPS.flatten(0, 1), strict=True):
        found = torch.zeros(4, 4)
        for square in picture.select("g rect"):
            found[int(square["y"]), int(square["x"])] = float(square["opacity"])
        assert (found - weights).abs().max() < 0.02
    assert "&lt;eating&gt;" in viz.heads(MAPS, WORDS)._repr_html_()
    assert "http" not in viz.heads(MAPS, WORDS)._repr_html_()
    assert repr(viz.heads(MAPS, WORDS)) == "heads: 2 layers of 3 heads on we are <eating> ."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"maps": MAPS[0]}, "4 dimensions"),
        ({"words": WORDS[:3]}, r"\(layers, heads, 3, 3\)"),
        ({"looked_at": WORDS[:3]}, r"\(layers, heads, 4, 3\)"),
        ({"maps": 3 * MAPS}, "between 0 and 1"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        viz.heads(**{"maps": MAPS, "words": WORDS, **arguments})


def test_heads_and_words_are_chosen_by_mouse_and_keys(open_page, static):
    page = open_page(viz.heads(MAPS, WORDS))
    assert shown_weights(page) == expected(0, 0, 2)  # the word in the middle first
    page.get_by_label("layer 2, head 3").click()
    assert shown_weights(page) == expected(1, 2, 2)
    page.get_by_role("button", name="are", exact=True).hover()
    assert shown_weights(page) == expected(1, 2, 1)
    page.get_by_label("layer 1, head 1").hover()
    assert shown_weights(page) == expected(1, 2, 2)  # only pointed at, not chosen
    page.get_by_label("layer 2, head 3").press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert shown_weights(page) == expected(0, 1, 2)
    chosen = page.locator(".sq-map[aria-pressed=true]")
    assert chosen.get_attribute("aria-label") == "layer 1, head 2"
    page.get_by_role("button", name="<eating>").press("ArrowRight")
    assert shown_weights(page) == expected(0, 1, 3)
    best = WORDS[int(MAPS[0, 1, 3].argmax())]
    assert (
        page.get_by_role("status")
        .text_content()
        .startswith(f"Layer 1, head 2: . looks most at {best} (")
    )


@pytest.mark.parametrize("width", [320, 1280])
def test_typed_sentences_have_their_own_viewer(open_page, static, width):
    def run(text):
        words = text.split()
        return viz.heads(torch.full((1, 2, len(words), len(words)), 1 / len(words)), words)

    page = open_page(viz.type_in(run, "A sentence", ["one two", "one two three four"]), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("A sentence").select_option("one two three four")
    assert [w for w in page.locator("small:visible").all_text_contents()] == ["0.25"] * 4


def test_in_a_kernel_a_typed_viewer_comes_with_its_script(monkeypatch):
    widgets = pytest.importorskip("ipywidgets")
    monkeypatch.delenv("SEQCOURSE_STATIC", raising=False)
    shell = type("Shell", (), {"kernel": object()})()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)

    def run(text):
        return viz.heads(MAPS, WORDS) if text == "maps" else text.upper()

    box = viz.type_in(run, "A text", ["maps", "plain"])
    field = next(w for row in box.children for w in getattr(row, "children", ()) if hasattr(w, "value"))
    live = next(w for w in box.children if isinstance(w, widgets.Output))
    still = next(w for w in box.children if isinstance(w, widgets.HTML))
    assert re.search("<script>", live.outputs[0]["data"]["text/html"]) and still.value == ""
    field.value = "plain"
    assert live.outputs == () and "PLAIN" in still.value
