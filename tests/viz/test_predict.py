"""Predictions: every guess has its sentence, in Python and in the page; figures open, and never lock."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz
from seqcourse.viz.html import Shown
from seqcourse.viz.poll import check_poll
from seqcourse.viz.predict import widget_form
from seqcourse.viz.predictions import (
    PREDICTIONS,
    Prediction,
    judge,
    load_prediction,
    predicted,
    shares,
)
from tests.sizes import nightly_but

NAMES = [
    f"{path.stem}-{key}"
    for path in sorted(PREDICTIONS.glob("*.toml"))
    for key in tomllib.loads(path.read_text(encoding="utf-8"))
]
RECORDS = {name: load_prediction(name) for name in NAMES}
DRAWN = [name for name, record in RECORDS.items() if isinstance(record, Prediction)]
NUMBERS = [name for name in DRAWN if not RECORDS[name].row]
ROWS = [name for name in DRAWN if RECORDS[name].row]


def guesses(record: Prediction) -> list[float]:
    """All places of the slider."""
    return list(np.arange(record.low, record.high + record.step / 2, record.step))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DRAWN])
def test_options_are_those_of_a_poll(name):
    record = dict(RECORDS[name])
    truth = record.pop("truth")
    check_poll(**record)
    predicted(name, truth)
    with pytest.raises(CourseError, match=f"{name}.*but this run measured"):
        predicted(name, "another")


@pytest.mark.parametrize("name", DRAWN)
def test_a_record_is_whole(name):
    record = RECORDS[name]
    assert record.question.rstrip().endswith(("?", "."))
    assert len(record.truth) == len(record.columns) > record.given
    assert record.given or not record.line, "a line begins somewhere"
    assert all(record.low <= x <= record.high for x in record.truth)
    texts = [record.so, *(why for _, why in record.wrong)]
    assert all(text.endswith(".") and "$$" not in text for text in texts) and len({*texts}) == len(texts)
    predicted(name, record.truth)
    off = [x + record.tolerance + 1 for x in record.truth[:1]]
    with pytest.raises(CourseError, match=f"{name}.*but this run measured"):
        predicted(name, [*off, *record.truth[1:]] if not record.row else record.truth[::-1])
    with pytest.raises(CourseError):
        predicted(name, [*record.truth, 1.0])


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_its_sentence_and_every_sentence_a_number(name):
    record = RECORDS[name]
    limits = [to for to, _ in record.wrong]
    assert limits == sorted(limits)
    found = {judge(record, [guess]) for guess in guesses(record)}
    assert found == set(range(len(record.wrong) + 1))
    assert judge(record, [record.truth[-1]]) == 0
    assert judge(record, [record.start]) != 0, "where the slider begins is no answer"


@pytest.mark.parametrize("name", ROWS)
def test_every_named_row_has_its_sentence(name):
    record = RECORDS[name]
    assert judge(record, record.truth) == 0 and judge(record, [7 * x for x in record.truth]) == 0
    rows = [like for like, _ in record.wrong]
    for number, like in enumerate(rows, 1):
        assert len(like) == len(record.truth) and judge(record, like) == number
        heights = [round(10 * x / max(like)) for x in like]  # as sliders give it
        assert judge(record, heights) == number


def test_a_row_without_heights_is_even():
    assert shares([0, 0]) == [50, 50] and shares([1, 3]) == [25, 75]


def test_no_such_prediction():
    with pytest.raises(CourseError, match="A prediction should be one of 05-race"):
        viz.predict("05-rase")


def test_without_a_script_the_answer_is_folded_and_nothing_is_dead(static):
    for name in ("05-race", "05-estamos", "08-leak"):
        page = BeautifulSoup(viz.predict(name)._repr_html_(), "html.parser")
        assert page.select_one("details.sq-show > summary").text == "Show me"
        assert page.select_one("details.sq-show p").text
        assert all(control.has_attr("hidden") for control in page.select(".sq-controls"))
    page = BeautifulSoup(viz.predict("05-race")._repr_html_(), "html.parser")
    assert page.select_one("details svg")["aria-label"].startswith("Measured: 4 100 %")


def test_the_widget_lays_the_answer_over_the_guess():
    pytest.importorskip("ipywidgets")
    record = RECORDS["05-race"]
    asked, drawn, slider, button, said, shown = widget_form(record).children
    assert "sq-truth" not in drawn.value and "52 %" not in drawn.value and slider.value == 0
    slider.value = 100
    button.click()
    assert "sq-truth" in drawn.value and "✗" in said.value and "practice" in said.value
    slider.value = 50
    button.click()
    assert "✓ Right." in said.value
    assert "<details" in shown.value and record.question[:20] in asked.value


# In a browser ----------------------------------------------------------------------------------------

PAGE = """<main class="bd-article"><h2>Title</h2><div class="cell">{card}</div>
<div class="cell"><div class="cell_input">code</div><div class="cell_output">printed</div></div>
<div class="cell"><div class="cell_input">more code</div><div class="cell_output"><figure id="fig-one">
<figcaption>The caption of the figure.</figcaption></figure></div></div><p>What follows.</p></main>"""


@pytest.fixture
def open_card(static, open_page):
    def opened(name: str, **options):
        body = PAGE.format(card=viz.predict(name)._repr_html_())
        return open_page(Shown(body, ""), **options)

    return opened


def folded(page) -> list[bool]:
    """Whether what was printed, and the picture with its caption, are folded."""
    assert page.get_by_text("more code").is_visible() and page.get_by_text("What follows.").is_visible()
    places = page.locator(".cell_output").all()
    return [place.get_attribute("hidden") == "until-found" for place in places]


pages = pytest.mark.browser


@pages
@pytest.mark.parametrize("name", nightly_but(NUMBERS[1:2], NUMBERS[:2]))
def test_the_page_says_of_every_guess_what_python_says(open_card, name):
    record = RECORDS[name]
    for guess in guesses(record)[:: max(len(guesses(record)) // 5, 1)]:
        page = open_card(name)
        page.locator("input").fill(f"{guess:g}")
        page.get_by_role("button", name="This is my guess").click()
        number = judge(record, [guess])
        text = record.so if not number else record.wrong[number - 1][1]
        said = page.get_by_role("status").text_content()
        assert text[:40] in said and f"your guess: {guess:g}{record.unit}" in said
        assert said.startswith("✗ Not this." if number else "✓ Right.")


@pages
def test_the_page_names_the_nearest_row(open_card):
    record = RECORDS["05-estamos"]
    for heights in [(10, 10, 0, 0, 0, 0), (1, 10, 8, 1, 1, 1), (3, 3, 3, 3, 3, 3), (0, 9, 1, 0, 0, 0)]:
        page = open_card("05-estamos")
        for box, height in zip(page.locator("input").all(), heights, strict=True):
            box.fill(str(height))
        page.get_by_role("button", name="This is my guess").click()
        number = judge(record, heights)
        text = record.wrong[number - 1][1] if number else record.so
        assert text.replace("*", "")[:40] in page.get_by_role("status").text_content()


@pages
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "name", nightly_but(["05-race", "08-leak"], ["05-race", "05-estamos", "08-leak"])
)
def test_show_me_and_a_guess_open_the_figure_by_keyboard(open_card, name, width):
    for act in ("Show me", "guess"):
        page = open_card(name, width=width)
        assert folded(page) == [True] * 2
        if act == "guess" and name != "08-leak":
            page.keyboard.press("Tab")
            page.keyboard.press("End")
            page.get_by_role("button", name="This is my guess").press("Enter")
            assert page.get_by_role("status").evaluate("said => said === document.activeElement")
            assert "Your guess" in page.locator("svg").get_attribute("aria-label")
            assert "Measured" in page.locator("svg").get_attribute("aria-label")
        else:
            page.locator("summary").nth(-1 if act == "Show me" else 0).press("Enter")
            page.wait_for_function("() => !document.querySelector('[hidden=until-found]')")
        assert folded(page) == [False] * 2
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}
        assert Axe().run(page, options=options).response["violations"] == []


@pages
def test_a_link_into_the_folded_figure_opens_it(open_card):
    page = open_card("05-race")
    page.evaluate("location.hash = '#fig-one'")
    page.wait_for_function("() => !document.querySelector('[hidden=until-found]')")
    assert folded(page) == [False] * 2


@pages
def test_before_the_guess_the_answer_is_nowhere_to_be_seen_or_heard(open_card):
    page = open_card("05-race")
    assert not page.locator(".sq-truth").is_visible()
    assert page.locator("svg").get_attribute("aria-label") == "Your guess: 0 %."
    assert not page.get_by_text("The caption of the figure.").is_visible()
    page.emulate_media(media="print")  # on paper all is open
    assert page.locator(".sq-truth").is_visible()
    assert page.get_by_text("The caption of the figure.").is_visible()
    assert page.locator("input:visible, button:visible").count() == 0


@pages
def test_without_javascript_nothing_is_folded_but_the_answer(open_card):
    page = open_card("05-race", javascript=False)
    assert folded(page) == [False] * 2
    page.get_by_text("Show me").click()
    assert page.locator(".sq-truth").is_visible() and not page.locator(".sq-guess").is_visible()
    assert page.locator("input:visible, button:visible").count() == 0
