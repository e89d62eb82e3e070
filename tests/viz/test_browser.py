"""The static forms in a real browser, from a file, without a network."""

from __future__ import annotations

from functools import cache

import pytest

from seqcourse import viz

pytestmark = pytest.mark.usefixtures("static")


def draw(temperature: float, kind: str):
    return viz.bars({kind: temperature, "other": 1.0}, ylabel="value")


@cache
def figure_with_choices(*kinds: str):
    """Drawn once for all tests; a page that has two of them has one with fewer kinds."""
    return viz.explore(
        draw,
        alt="{kind} at {temperature}.",
        start={"temperature": 2},
        temperature=[1, 2, 4],
        kind=kinds or ["rnn", "gru"],
    )


def seen(page) -> list[str]:
    """The alternative texts of the images that can be seen."""
    return [image.get_attribute("alt") for image in page.locator("img").all() if image.is_visible()]


def test_a_slider_and_a_list_change_the_frame_with_the_keyboard(open_page):
    page = open_page(figure_with_choices(), figure_with_choices("rnn"))
    assert seen(page) == ["rnn at 2."] * 2
    first = page.locator(".sq-explore").first
    first.get_by_label("temperature").press("ArrowRight")
    assert seen(page) == ["rnn at 4.", "rnn at 2."]
    assert first.locator("output").text_content() == "4"
    assert first.get_by_label("temperature").get_attribute("aria-valuetext") == "4"
    first.get_by_label("kind").select_option("gru")
    assert seen(page) == ["gru at 4.", "rnn at 2."]
    first.get_by_label("temperature").press("Home")
    assert seen(page) == ["gru at 1.", "rnn at 2."]


def test_without_javascript_the_start_is_shown_and_no_dead_control(open_page):
    page = open_page(figure_with_choices(), javascript=False)
    assert seen(page) == ["rnn at 2."]
    assert not page.locator("input, select").first.is_visible()


def test_a_poll_opens_one_option_at_a_time_with_the_keyboard(open_page):
    page = open_page(viz.ask("Q?", {"Yes": "Because.", "No": "Pruning loses it."}, answer="No"))
    yes, no = page.locator("summary").all()
    assert not page.get_by_text("Because.").is_visible()
    yes.press("Enter")
    assert page.get_by_text("Because.").is_visible()
    no.press("Enter")
    assert page.get_by_text("Pruning loses it.").is_visible()
    assert not page.get_by_text("Because.").is_visible()


def test_typed_examples_can_be_chosen(open_page):
    page = open_page(viz.type_in(str.upper, "A text", ["we are eating bread", "she reads"]))
    assert page.get_by_text("WE ARE EATING BREAD", exact=True).is_visible()
    page.get_by_label("A text").select_option("she reads")
    assert page.get_by_text("SHE READS", exact=True).is_visible()
    assert not page.get_by_text("WE ARE EATING BREAD", exact=True).is_visible()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_page(open_page, width):
    long = "a rather long option with averyveryveryverylongwordthatcannotbebroken" * 2
    page = open_page(
        figure_with_choices(),
        viz.ask(long, {long: long, "b": "c"}, answer="b"),
        viz.type_in(str.upper, "A label of some length for a text", [long, "b"]),
        viz.table([[long, *range(10**6, 10**6 + 12)]], list("abcdefghijklm"), "A wide table."),
        width=width,
    )
    for details in page.locator("summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    image = page.locator("img:visible").first.bounding_box()
    assert image["width"] <= width
