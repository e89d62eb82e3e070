"""A drawing in a real browser: stepped by button and key, whole in print and without JavaScript."""

from __future__ import annotations

import pytest

from seqcourse.viz import drawing
from seqcourse.viz.drawing import page as page_of_drawings

from .test_drawing import ALT, STEPS, encoder

# The smallest text of the form that is seen, in pixels.
SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg")]
    .filter(s => s.clientWidth).flatMap(s => {
    const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;
    const size = text => parseFloat(getComputedStyle(text).fontSize) * scale;
    return [...s.querySelectorAll('text, tspan')].map(size); }))"""


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.nightly)], ids=["book", "lab"])
def shown(request, monkeypatch):
    monkeypatch.setattr(page_of_drawings, "_given", False)
    if request.param:
        monkeypatch.setenv("SEQCOURSE_STATIC", "1")
    else:
        monkeypatch.delenv("SEQCOURSE_STATIC", raising=False)
    return [drawing.show(encoder, "An encoder", ALT, STEPS) for _ in range(2)]


def sentences(root) -> list[str]:
    return [li.text_content()[:4] for li in root.locator(".sq-said li").all() if li.is_visible()]


def test_arrow_keys_and_buttons_step_through_one_drawing(open_page, shown):
    page = open_page(*shown)
    first, second = page.locator(".sq-drawing").all()
    assert sentences(first) == []
    first.get_by_role("button", name="All steps").press("ArrowRight")
    assert sentences(first) == ["Read"]
    assert first.locator("svg.wide .later").count() > 0
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Step 1: Read"
    page.keyboard.press("ArrowRight")
    assert sentences(first) == ["Sum "]
    word = first.locator("svg.wide text", has_text="bread").locator("xpath=ancestor::*[@data-at]")
    assert "dim" in word.get_attribute("class")
    assert first.locator("[aria-live]").text_content().startswith("Step 2 of 2. Sum up.")
    page.keyboard.press("ArrowRight")
    assert sentences(first) == [] and first.locator(".dim, .later").count() == 0
    first.get_by_role("button", name="Previous step").click()
    assert sentences(first) == ["Sum "]
    assert sentences(second) == [] and second.locator(".dim, .later").count() == 0


def test_a_button_begins_at_the_first_step_and_hands_the_focus_on(open_page, shown):
    page = open_page(shown[0])
    begin = page.get_by_role("button", name="Build it in 2 steps")
    begin.press("Enter")
    assert sentences(page) == ["Read"] and not begin.is_visible()
    page.keyboard.press("ArrowRight")
    assert sentences(page) == ["Sum "]


def test_in_print_it_is_whole_whatever_the_step(open_page, shown):
    page = open_page(shown[0])
    page.get_by_role("button", name="Step 1: Read").click()
    page.emulate_media(media="print")
    assert sentences(page) == ["Read", "Sum "]
    assert not page.get_by_role("button", name="All steps").is_visible()
    assert not page.locator(".sq-whole").is_visible()
    late = page.locator("svg.wide [data-at='2 99'] .c").first
    assert late.evaluate("node => getComputedStyle(node).opacity") == "1"
    ring = page.locator("svg.wide .ring")
    assert ring.evaluate("node => getComputedStyle(node).visibility") == "hidden"


def test_without_javascript_there_is_a_picture_and_no_dead_button(open_page, shown):
    page = open_page(shown[0], javascript=False)
    assert page.locator(".sq-drawing :is(svg, img)").first.is_visible()
    assert not page.locator("button").first.is_visible()
    assert sentences(page) == ["Read", "Sum "]


@pytest.mark.parametrize(("width", "form"), [(390, "narrow"), (1280, "wide")])
def test_the_form_fits_the_page_and_its_text_can_be_read(open_page, shown, width, form):
    page = open_page(shown[0], width=width)
    assert [svg.get_attribute("class") for svg in page.locator("svg").all() if svg.is_visible()] == [
        form
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALLEST) >= 11


def test_reduced_motion_is_respected(open_page, shown):
    page = open_page(shown[0])
    duration = "getComputedStyle(document.querySelector('.sq-drawing .st')).transitionDuration"
    assert page.evaluate(duration) != "0s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(duration) == "0s"
