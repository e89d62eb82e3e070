"""The mask that a reader paints: right before JavaScript, right after it, by mouse and by keys."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz
from seqcourse import functional as F
from seqcourse.viz.mask_painter import masked_softmax, ready_masks

WORDS = ["we", "are", "eating", "<pad>"]
SCORES = [[1.0, 0.5, -1.0, 2.0], [0.0, 3.0, 1.0, 1.0], [2.0, 2.0, -50.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


def painter(**options):
    return viz.mask_painter(SCORES, WORDS, **{"padding": 1, **options})


def expected(mask) -> list[list[str]]:
    """What stands in the cells, by the course's own softmax."""
    weights = F.softmax(torch.tensor(SCORES), mask=torch.as_tensor(mask))
    return [[f"{x:.2f}" for x in row] for row in weights.tolist()]


def static_cells(shown) -> list[list[str]]:
    rows = BeautifulSoup(shown._repr_html_(), "html.parser").select("tbody tr")
    return [[cell.text for cell in row.select("button")] for row in rows]


def seen(page) -> list[list[str]]:
    rows = page.locator("tbody tr").all()
    return [row.locator(".sq-cell").all_text_contents() for row in rows]


def cell(page, i: int, j: int):
    return page.locator("tbody tr").nth(i).locator(".sq-cell").nth(j)


def test_weights_without_a_kernel_are_those_of_the_formula():
    for name, (_, mask) in ready_masks(4, 1, 1).items():
        assert static_cells(painter(start=name)) == expected(mask)
    nothing = np.zeros((4, 4), dtype=bool)
    assert (masked_softmax(np.array(SCORES), nothing) == 0).all()


def test_ready_masks_are_those_of_the_package():
    masks = {name: torch.tensor(mask) for name, (_, mask) in ready_masks(4, 1, 1).items()}
    real = F.length_mask(torch.tensor([3]), 4)
    assert torch.equal(masks["causal"], F.causal_mask(4))
    assert torch.equal(masks["padded"], real.expand(4, -1))
    assert torch.equal(masks["both"], F.causal_mask(4) & real)
    assert masks["local"].sum() == 4 + 2 * 3
    assert set(ready_masks(4, 0, 1)) == {"none", "causal", "local"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"scores": torch.zeros(3, 4)}, "for each of the 4 words"),
        ({"scores": torch.full((4, 4), -torch.inf)}, "finite"),
        ({"start": "future"}, "none, causal, local"),
        ({"padding": 4}, "0 to 3"),
        ({"window": -1}, "at least 0"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(arguments, sentence):
    with pytest.raises(CourseError, match=sentence):
        viz.mask_painter(**{"scores": SCORES, "words": WORDS, **arguments})


def test_lists_change_mask_and_way(open_page, static):
    page = open_page(painter())
    assert seen(page) == expected(F.causal_mask(4))
    for name, (label, mask) in ready_masks(4, 1, 1).items():
        page.get_by_label("mask", exact=True).select_option(label)
        assert seen(page) == expected(mask), name
    page.get_by_label("mask", exact=True).select_option("causal")
    page.get_by_label("masked by").select_option("after")
    plain = F.softmax(torch.tensor(SCORES)) * F.causal_mask(4)
    assert seen(page) == [[f"{x:.2f}" for x in row] for row in plain.tolist()]
    assert "do not sum to 1" in page.get_by_role("status").text_content()
    page.get_by_label("masked by").select_option("zero")
    zero = F.softmax(torch.tensor(SCORES).masked_fill(~F.causal_mask(4), 0.0))
    assert seen(page) == [[f"{x:.2f}" for x in row] for row in zero.tolist()]
    assert "still gets weight" in page.get_by_role("status").text_content()


def test_cells_are_painted_by_click_by_stroke_and_by_keys(open_page, static):
    page = open_page(painter())
    mask = F.causal_mask(4)
    cell(page, 0, 1).click()
    mask[0, 1] = True
    assert seen(page) == expected(mask)
    assert page.get_by_label("mask", exact=True).input_value() == "own"
    assert cell(page, 0, 1).get_attribute("aria-pressed") == "true"
    cell(page, 3, 0).hover()  # a stroke over the last row takes all of it away
    page.mouse.down()
    for j in (1, 2, 3):
        cell(page, 3, j).hover()
    page.mouse.up()
    mask[3] = False
    assert seen(page) == expected(mask)
    assert "Nothing to attend to for <pad>" in page.get_by_role("status").text_content()
    cell(page, 0, 0).focus()
    for key in ("ArrowDown", "ArrowRight", "Space"):
        page.keyboard.press(key)
    mask[1, 1] = False
    assert seen(page) == expected(mask)
    assert cell(page, 1, 1).get_attribute("aria-label") == "are may not look at are, weight 0.00"


@pytest.mark.parametrize("width", [320, 1280])
def test_it_is_no_wider_than_the_page_and_complete_without_javascript(open_page, static, width):
    page = open_page(painter(), width=width, javascript=False)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen(page) == expected(F.causal_mask(4))
    assert not page.locator("select").first.is_visible()
