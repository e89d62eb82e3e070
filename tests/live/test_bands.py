"""Attention as bands: as wide as PyTorch's weights, for the mouse, the keyboard and a phone."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from seqcourse import live, zoo
from seqcourse.live.bands import LEAST, UNIT, WIDEST, bands_of
from seqcourse.live.figure import percent
from seqcourse.live.sphinx import RUNTIME
from seqcourse.viz.html import STYLE
from seqcourse.viz.roles import ROLES

from .conftest import EXAMPLES, LABEL, answered, ask

LONG = "he put the bag on the table, but he did not find the key of the house."
LONGER = "he said that the red house is big and that we are eating bread and drinking water there."
WEIGHTS = [[0.7, 0.3, 0.0], [0.01, 0.98, 0.01]]
# Every drawing with the words, numbers and lines that it has.
DRAWN = """root => [...root.querySelectorAll(".sq-bands svg, .sq-bands svg *")].map(node => [
    node.tagName, node.textContent, ...["class", "aria-label", "viewBox", "d", "stroke-width", "x", "y",
    "width", "text-anchor", "style"].map(name => node.getAttribute(name))])"""
# How large the letters are that a reader sees.
SIZES = """() => [...document.querySelectorAll("#bands .sq-bands text")]
    .filter(node => node.checkVisibility())
    .map(node => parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a)"""
SEEN = """() => [...document.querySelectorAll("#bands .sq-percent")].filter(node =>
    node.checkVisibility({ visibilityProperty: true })).map(node => node.textContent)"""


def widths(drawn: str) -> list[float]:
    return [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', drawn)]


def test_a_weight_is_a_width_and_small_ones_are_left_out():
    drawn = bands_of(["a", "b", "<eos>"], ["x", "y"], WEIGHTS)
    wide, narrow = drawn.split("</svg>")[:2]
    assert widths(wide) == widths(narrow) == [round(UNIT * w, 1) for w in (0.7, 0.3, 0.98)]
    assert 'aria-label="x: 70\u00a0% a, 30\u00a0% b"' in wide
    assert "<eos>" not in drawn and drawn.count("&lt;eos&gt;") == 2
    # the bands lie side by side at the word that they go to
    ends = [float(d.split()[-2]) for d in re.findall(r' d="([^"]+)"', wide)[:2]]
    assert ends[1] - ends[0] == pytest.approx(UNIT * (0.7 + 0.3) / 2, abs=0.11)


def test_what_is_too_long_for_a_line_stands_in_columns():
    words = ["word"] * 30
    drawn = bands_of(words, words, [[1 / 30] * 30] * 30)
    assert 'class="sq-across"' not in drawn and 'class="sq-down"' in drawn
    cut = bands_of(["x" * 40], ["y" * 40], [[1.0]])
    assert ">" + "x" * 12 + "…<" in cut and f"{'y' * 40}: >99" in cut.replace("&gt;", ">")
    assert float(re.search(r'viewBox="0 0 (\d+)', cut)[1]) <= WIDEST


def test_the_colour_is_that_of_the_drawings():
    sheet = (RUNTIME / "live.css").read_text(encoding="utf-8")
    assert re.search(r"\.sq-bands path \{[^}]*stroke: var\(--sq-k\)", sheet)
    assert re.findall(r"--sq-k:(#\w+)", STYLE) == [ROLES["k"].light[1], ROLES["k"].dark[1]]


def test_a_model_without_attention_has_no_bands(monkeypatch):
    monkeypatch.setenv("SEQCOURSE_STATIC", "1")
    made = live.translate({"en-es-fixed": "Without"}, LABEL, EXAMPLES, bands=True)._repr_html_()
    assert "estamos comiendo pan." in made and "<svg" not in made


@pytest.mark.browser
def test_the_page_draws_what_python_draws(page):
    root = page.locator("#bands")
    came = root.evaluate(DRAWN)
    ask(page, "bands", EXAMPLES[0])
    assert root.evaluate(DRAWN) == came and len(came) > 50
    system = zoo.load("en-es-attention")
    for text in (LONG, LONGER, "the cat"):
        said = ask(page, "bands", text)
        (found,) = system.translate([text], beam=5)
        assert said.startswith(found.text)
        mine = [float(row[6]) for row in root.evaluate(DRAWN) if row[0] == "path"]
        theirs = [max(UNIT * w, 1) for row in found.weights.tolist() for w in row if w >= LEAST]
        count = root.locator("svg").count()
        assert count == (1 if text == LONGER else 2)
        assert mine == pytest.approx(theirs * count, abs=0.06)


@pytest.mark.browser
def test_the_mouse_and_the_keyboard_show_the_weights_of_a_word(page):
    ask(page, "bands", EXAMPLES[0])
    (found,) = zoo.load("en-es-attention").translate([EXAMPLES[0]], beam=5)
    wanted = [[percent(w) for w in row if w >= LEAST] for row in found.weights.tolist()]
    assert page.evaluate(SEEN) == []
    page.locator("#bands form button").last.focus()
    for shown in wanted:
        page.keyboard.press("Tab")
        assert page.evaluate(SEEN) == shown
    page.locator("#bands [tabindex]:visible").first.hover()  # the mouse goes before the keyboard
    assert page.evaluate(SEEN) == wanted[0]
    name = page.locator("#bands [tabindex]:visible").nth(1).get_attribute("aria-label")
    best = int(found.weights[1].argmax())
    assert name.startswith(f"{found.target[1]}: {percent(found.weights[1, best])} {found.source[best]}")
    page.mouse.move(0, 0)


@pytest.mark.nightly
@pytest.mark.browser
def test_a_phone_has_columns_that_can_be_read(opened, over_http):
    page = opened(over_http)
    assert page.locator("#bands .sq-across").is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#bands [name=text]").fill(LONGER)
    page.locator("#bands [name=text]").press("Enter")
    answered(page, "bands")
    assert page.locator("#bands .sq-down").is_visible()
    assert not page.locator("#bands .sq-across").count()
    assert min(page.evaluate(SIZES)) >= 11
    box = page.locator("#bands .sq-bands")
    assert box.evaluate("node => node.scrollWidth <= node.clientWidth")
    report = Axe().run(page, context="#bands", options={"resultTypes": ["violations"]}).response
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []


@pytest.mark.browser
def test_without_javascript_the_bands_are_there_and_answer_the_mouse(opened, address):
    page = opened(address, javascript=False)
    word = page.locator("#bands [tabindex]:visible").first
    assert page.locator("#bands").get_by_text("estamos comiendo pan.").is_visible()
    shown = page.locator("#bands .sq-goal:visible").first.locator(".sq-percent").first
    assert shown.evaluate("node => getComputedStyle(node).visibility") == "hidden"
    word.hover()
    assert shown.evaluate("node => getComputedStyle(node).visibility") == "visible"
