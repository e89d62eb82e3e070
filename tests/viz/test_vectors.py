"""Dragging vectors: the first state by Python, what follows by the browser, and both by the formula."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from seqcourse import CourseError, viz
from seqcourse import functional as F
from seqcourse.viz.vectors import attend

KEYS = {"we": (2.0, 0.0), "eating": (1.0, 1.5), "bread": (-0.5, 2.0)}
QUERY = (0.5, 1.5)
SHOWN = viz.vectors(KEYS, QUERY)


def by_formula(query=QUERY, keys=KEYS, factor=1.0):
    """Weights and output by the course's attention."""
    k = torch.tensor(list(keys.values()))
    q = factor * torch.tensor([query])
    y, a = F.attention(q, k, k, need_weights=True)
    return a[0], y[0]


@pytest.mark.parametrize("factor", [0.25, 1, 8])
def test_it_computes_the_attention_of_the_course(factor):
    scores, weights, output = attend(np.array(list(KEYS.values())), np.array(QUERY), factor)
    expected_weights, expected_output = by_formula(factor=factor)
    assert np.allclose(weights, expected_weights, atol=1e-6)
    assert np.allclose(output, expected_output, atol=1e-6)
    assert scores.argmax() == weights.argmax()


def test_large_scores_do_not_overflow():
    weights = attend(np.array([[3.0, 3.0], [-3.0, -3.0]]), np.array([3.0, 3.0]), 1000)[1]
    assert np.array_equal(weights, [1.0, 0.0])


def test_it_reads_as_text_and_needs_nothing_from_elsewhere():
    shown = viz.vectors(KEYS, QUERY)
    assert "bread" in repr(shown) and f"{by_formula()[0][2]:.2f}" in repr(shown)
    assert not re.search(r"https?://", shown._repr_html_())
    assert viz.vectors({"<b>": (1, 0), "c": (0, 1)}, (1, 1)).body.count("<b>") == 0


@pytest.mark.parametrize(
    ("keys", "query", "words"),
    [
        ({"one": (1, 0)}, (1, 0), "two to eight"),
        ({"one": (1, 0), "two": (1, 0, 0)}, (1, 0), "'two' should be two numbers"),
        ({"one": (1, 0), "two": (4, 0)}, (1, 0), "from -3 to 3"),
        ({"one": (1, 0), "two": (0, 1)}, (float("nan"), 0), "query should be two numbers"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(keys, query, words):
    with pytest.raises(CourseError, match=words):
        viz.vectors(keys, query)


def seen(page) -> list[float]:
    """The weights that the table shows."""
    cells = page.locator("tbody tr td:nth-of-type(2)").all_text_contents()
    return [float(text) for text in cells]


def expected(query, keys=KEYS, factor=1.0) -> list[float]:
    return [round(float(a), 2) for a in by_formula(query, keys, factor)[0]]


def test_the_mouse_moves_the_query_and_the_weights_follow(open_page):
    page = open_page(SHOWN)
    assert seen(page) == pytest.approx(expected(QUERY), abs=0.011)
    box = page.get_by_role("slider", name="query").locator(".sq-dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y + 100, steps=4)  # 50 pixels are one unit, and down is minus
    page.mouse.up()
    assert page.get_by_role("slider", name="query").get_attribute("aria-valuetext") == "x 1.5, y -0.5"
    assert seen(page) == pytest.approx(expected((1.5, -0.5)), abs=0.011)
    assert "we 0." in page.get_by_role("status").text_content()


def test_the_keyboard_moves_a_key_and_stops_at_the_edge(open_page):
    page = open_page(SHOWN)
    bread = page.get_by_role("slider", name="bread")
    bread.focus()
    bread.press("ArrowLeft")
    bread.press("Shift+ArrowDown")
    assert bread.get_attribute("aria-valuetext") == "x -0.6, y 1.5"
    moved = {**KEYS, "bread": (-0.6, 1.5)}
    assert seen(page) == pytest.approx(expected(QUERY, moved), abs=0.011)
    for _ in range(8):
        bread.press("Shift+ArrowUp")
    assert bread.get_attribute("aria-valuetext") == "x -0.6, y 3.0"


def test_the_factor_sharpens(open_page):
    page = open_page(SHOWN)
    page.get_by_label("multiply all scores by").select_option("8")
    assert seen(page) == pytest.approx(expected(QUERY, factor=8), abs=0.011)


def test_a_finger_drags_on_a_narrow_page_and_nothing_is_wider(open_page):
    page = open_page(SHOWN, width=320, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    handle = page.get_by_role("slider", name="query")
    box = handle.locator(".sq-dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    for kind, dy in (("touchStart", 0), ("touchMove", 20), ("touchMove", 40), ("touchEnd", None)):
        points = [] if dy is None else [{"x": x, "y": y + dy}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    before = f"x {QUERY[0]:.1f}, y {QUERY[1]:.1f}"
    moved = "([handle, before]) => handle.getAttribute('aria-valuetext') !== before"
    page.wait_for_function(moved, arg=[handle.element_handle(), before])


def test_without_javascript_the_first_state_is_shown(open_page):
    page = open_page(SHOWN, javascript=False)
    assert seen(page) == pytest.approx(expected(QUERY), abs=0.011)
    assert not page.locator("select").is_visible()
