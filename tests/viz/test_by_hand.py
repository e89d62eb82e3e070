"""Calculations for a pencil: right results against torch, every mistake by its name, page and kernel."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import islice

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz
from seqcourse.viz.by_hand import DRAWS, static_form, widget_form
from seqcourse.viz.paper import (
    EMPTY,
    PAPER,
    UNKNOWN,
    Calculation,
    _fields,
    draws,
    filled,
    judge,
    load_question,
    parse,
    with_fields,
)
from seqcourse.viz.paper.names import written_out

from .by_hand_references import REFERENCES

NAMES = [
    f"{path.stem}-{name}"
    for path in sorted(PAPER.glob("*.toml"))
    for name in tomllib.loads(path.read_text(encoding="utf-8"))
]
MORE = DRAWS + 16  # draws that are looked at: those of the page, and some of a notebook
IN_BROWSER = ("05-context", "06-rows")


@cache
def drawn(name: str, number: int = MORE):
    return list(islice(draws(load_question(name)), number))


def typed(result, question: Calculation | None = None) -> list[str]:
    """A result as a reader writes it: two decimals, or three where small numbers need them."""
    digits = 3 if question and question.tolerance < 0.005 else 2
    return [f"{x:.{digits}f}" for x in result]


def texts(question: Calculation, fields) -> list[str]:
    return [filled(text, fields) for text in with_fields(question)]


@pytest.mark.parametrize("name", NAMES)
def test_the_right_result_is_that_of_torch(name):
    for draw in drawn(name):
        numbers = {
            key: value if isinstance(value, str | list) else torch.as_tensor(value, dtype=torch.double)
            for key, value in draw.numbers.items()
        }
        expected = torch.as_tensor(REFERENCES[name](numbers), dtype=torch.double).flatten()
        torch.testing.assert_close(torch.tensor(draw.right).double(), expected, atol=6e-5, rtol=0)


def test_every_calculation_has_a_reference_and_no_other():
    assert sorted(REFERENCES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_taken_for_two(name):
    question = load_question(name)
    for draw in drawn(name):
        results = [draw.right, *draw.mistakes]
        for place, one in enumerate(results):
            for other in results[:place]:
                apart = max(abs(a - b) for a, b in zip(one, other, strict=True))
                assert apart > 2 * question.tolerance, f"{name}: {draw.fields}"
    page = [(draw.fields, draw.right) for draw in drawn(name, DRAWS)]
    assert all(one != other for one, other in zip(page, page[1:], strict=False))


@pytest.mark.parametrize("name", NAMES)
def test_every_mistake_is_named_and_the_right_answer_is_right(name):
    question = load_question(name)
    asked = with_fields(question)[-len(question.mistakes) :]
    for draw in drawn(name):
        assert judge(question, draw, typed(draw.right, question), 0)[0] == "right"
        for result, ask in zip(draw.mistakes, asked, strict=True):
            kind, first = judge(question, draw, typed(result, question), 0)
            assert kind == "wrong" and ask not in first, "at first only where to look"
            assert ask in judge(question, draw, typed(result, question), 1)[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_a_calculation(name):
    question = load_question(name)
    assert len(question.mistakes) >= 3
    assert question.asked.rstrip(".").endswith("?") or "." in question.asked or ":" in question.asked
    for draw in drawn(name, 8):
        for text in texts(question, draw.fields):
            assert "nan" not in text and not re.search(r"[\ue000\ue001]|−0\b(?!\.)", text), text
            assert text.count("(") == text.count(")"), text
    for _, ask in question.mistakes:
        assert ask.count("?") == 1 and ask.startswith(("Did ", "Is ", "Are ", "Was ", "Does "))
    assert not any("$" in part for part, _ in _fields(question)), "no number inside a formula"
    assert len(static_form(question)._repr_html_()) < 30_000


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.25", 0.25),
        ("0,25", 0.25),
        (" −3 ", -3),
        ("- 3", -3),
        ("+.5", 0.5),
        ("5.", 5),
        ("1/4", 0.25),
        ("-1/2", -0.5),
        ("1/0", None),
        ("", None),
        ("1.2.3", None),
        ("abc", None),
        ("1e3", None),
        ("nan", None),
    ],
)
def test_a_number_is_read_as_readers_write_it(text, number):
    assert parse(text) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.001, "0"), (2.0, "2"), (-0.5, "−0.5"), ([1, -2.25], "(1, −2.25)"), ("a", "a")],
)
def test_a_number_is_written_out(value, text):
    assert written_out(value) == text


def test_three_stages_and_what_is_malformed():
    question = load_question("05-context")
    draw = drawn("05-context", 1)[0]
    where, worked = with_fields(question)[1 + len(question.given) :][:2]
    wrong = typed(draw.mistakes[0])
    one, two, three = (judge(question, draw, wrong, tries)[1] for tries in range(3))
    assert where in one and "of 2 numbers are right." in one and worked not in two and worked in three
    assert UNKNOWN in judge(question, draw, ["77", "77"], 1)[1]
    assert judge(question, draw, ["1", " "], 0) == ("malformed", EMPTY)
    kind, said = judge(question, draw, ["1", "one"], 0)
    assert kind == "malformed" and "should be a number such as" in said and "“one”" in said


def test_a_calculation_that_cannot_tell_its_mistakes_apart_is_refused():
    same = Calculation("x", "?", ["a"], {"a": "whole(1, 3)"}, "a", [("a + 0", "Did you?")], "", "")
    with pytest.raises(CourseError, match="no draw that tells its mistakes apart"):
        next(draws(same))
    with pytest.raises(CourseError, match="should give 1 numbers"):
        next(draws(Calculation("x", "?", ["a"], {"a": "ones(2)"}, "a", [], "", "")))
    with pytest.raises(CourseError, match="A calculation should be one of 05-context"):
        viz.by_hand("05-contexts")


def test_without_a_script_there_is_the_question_and_its_worked_sum(static):
    page = BeautifulSoup(viz.by_hand("05-context")._repr_html_(), "html.parser")
    assert page.select_one("details p").text.count("=") >= 4
    assert all(box.has_attr("hidden") and box["aria-label"] for box in page.select("input"))
    assert page.select_one(".sq-controls").has_attr("hidden")
    assert repr(viz.by_hand("05-context")).startswith("By hand: Which context")


def test_the_widget_answers(monkeypatch):
    widgets = pytest.importorskip("ipywidgets")
    question = load_question("05-context")
    box = widget_form(question)
    asked, grid, buttons, said = box.children
    check, other = buttons.children
    draw = drawn("05-context", 1)[0]
    assert isinstance(grid.children[0], widgets.Text) and draw.fields[0] in asked.value
    for _ in range(2):
        for field, text in zip(grid.children, typed(draw.mistakes[1]), strict=True):
            field.value = text
        check.click()
    assert "Did you add the states without their weights?" in said.value
    for field, text in zip(grid.children, typed(draw.right), strict=True):
        field.value = text.replace(".", ",")
    check.click()
    assert "✓ Right." in said.value and "sq-is-right" in said.value
    other.click()
    assert said.value == "" and draw.fields[0] not in asked.value and grid.children[0].value == ""


# In a browser ----------------------------------------------------------------------------------------


def fill(page, result) -> None:
    for place, text in enumerate(typed(result)):
        page.locator("input").nth(place).fill(text)


@pytest.mark.browser
@pytest.mark.parametrize("number", [3, pytest.param(DRAWS, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", IN_BROWSER)
def test_the_page_names_every_mistake_of_its_draws(static, open_page, name, number):
    question = load_question(name)
    page = open_page(viz.by_hand(name))
    check, other = (page.get_by_role("button", name=text) for text in ("Check", "Other numbers"))
    said = page.get_by_role("status")
    for draw in drawn(name, number):
        plain = [re.sub(r"<[^>]+>", "", text) for text in texts(question, draw.fields)]
        where, worked, so, *asked = plain[1 + len(question.given) :]
        assert plain[1] in page.locator(".sq-given").text_content()
        fill(page, draw.mistakes[0])
        check.click()
        assert where in said.text_content()
        for result, ask in zip(draw.mistakes, asked, strict=True):
            fill(page, result)
            check.click()
            assert ask in said.text_content()
        assert worked in said.text_content()
        fill(page, draw.right)
        check.click()
        assert said.text_content().split() == f"✓ Right. {so}".split()
        other.click()
        assert page.locator("input").first.input_value() == ""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.nightly)])
def test_the_page_by_keyboard_alone_and_for_a_screen_reader(static, open_page, width):
    page = open_page(viz.by_hand("05-context"), viz.by_hand("06-rows"), width=width)
    draw = drawn("05-context", 1)[0]
    first = page.locator(".sq-by-hand").first
    said = first.get_by_role("status")
    page.keyboard.press("Tab")
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    assert said.text_content().strip() == EMPTY
    assert first.locator("input").nth(1).evaluate("box => box === document.activeElement")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    assert "c_t,1 should be a number" in said.text_content()
    assert first.locator("input").first.get_attribute("aria-invalid") == "true"
    for text in typed(draw.right):
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(text.replace(".", ","))
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on the button
    assert said.text_content().startswith("✓ Right.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said.text_content() == "Here are other numbers."
    assert first.locator("input").first.evaluate("box => box === document.activeElement")
    page.locator(".sq-by-hand details").evaluate_all("all => all.forEach(fold => { fold.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}
    assert Axe().run(page, options=options).response["violations"] == []


@pytest.mark.browser
def test_on_paper_the_boxes_are_empty_and_nothing_is_to_press(static, open_page):
    page = open_page(viz.by_hand("06-rows"))
    page.emulate_media(media="print")
    assert page.locator(".sq-box").first.bounding_box()["width"] > 40
    assert page.locator("input:visible").count() == 0
