"""The form of a figure for a phone: what fits, what moves, and that the figure itself stays."""

from __future__ import annotations

import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from seqcourse import viz
from seqcourse.pages.figures import forms, least_width
from seqcourse.viz import narrow
from seqcourse.viz.style import use_style

PIXELS = narrow.WIDEST * 96


@pytest.fixture(autouse=True)
def style():
    use_style()


def svg(figure) -> str:
    return narrow.narrow(figure, "svg").decode()


def size(drawn: str) -> tuple[float, float]:
    """Width and height in CSS pixels."""
    found = re.search(
        r'width="([\d.]+)pt" height="([\d.]+)pt"|height="([\d.]+)pt".*?width="([\d.]+)pt"', drawn
    )
    first, second, height, width = (float(number) if number else 0 for number in found.groups())
    return (first or width) * 4 / 3, (second or height) * 4 / 3


def test_a_narrow_form_fits_a_phone_with_labels_of_eleven_pixels():
    names = {
        name: np.arange(5) + shift for shift, name in enumerate(("a long name", "another one", "x"))
    }
    ax = viz.curves(
        names, xlabel="step", ylabel="loss", title="A title that is longer than a phone is wide"
    )
    ax.tick_params(labelsize=6)
    drawn = svg(ax.figure)
    width, _ = size(drawn)
    assert 300 < width <= PIXELS
    assert least_width(drawn) * 1.09 <= width  # 10 pixels are asked for there


def test_the_figure_itself_is_not_changed_and_no_other_is_opened():
    figure, axes = plt.subplots(1, 2, figsize=(9, 3))
    before = io.BytesIO(), io.BytesIO()
    figure.savefig(before[0], format="rgba")
    narrow.narrow(figure, "png")
    figure.savefig(before[1], format="rgba")
    assert before[0].getvalue() == before[1].getvalue()
    assert plt.get_fignums() == [figure.number] and figure.canvas.manager is not None


def test_panels_side_by_side_come_below_each_other_with_their_names():
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
    axes[0].set_ylabel("loss")
    for ax in axes:
        ax.plot([1, 2])
    width, height = size(svg(figure))
    assert height > 1.2 * width
    copy = narrow.pickle.loads(narrow.pickle.dumps(figure))
    narrow._rearrange(copy)
    places = [ax.get_position() for ax in copy.axes]
    assert places[0].x0 == pytest.approx(places[1].x0) and places[0].y0 > places[1].y1
    assert [ax.get_ylabel() for ax in copy.axes] == ["loss", "loss"]
    plt.close(copy)


def test_a_figure_that_is_narrow_or_does_not_fit_has_no_other_form():
    assert narrow.narrow(plt.subplots(figsize=(3.5, 3))[0], "svg") is None
    figure, ax = plt.subplots(figsize=(9, 3))
    ax.text(0, 0, "one word that nothing can break " * 4)
    assert narrow.narrow(figure, "svg") is None
    figure, ax = plt.subplots(figsize=(9, 3))
    ax.xaxis.set_major_formatter(lambda value, place: "x")  # cannot be copied
    assert narrow.narrow(figure, "svg") is None


def test_the_narrow_form_travels_at_the_end_of_the_wide_one():
    import base64

    figure, ax = plt.subplots(figsize=(8, 3))
    ax.plot([1, 2])
    wide, small = forms(narrow.with_narrow("<svg></svg>", figure, "svg").encode())
    assert wide == b"<svg></svg>" and small.startswith(b"<?xml")
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    shown = base64.b64encode(drawn.getvalue()).decode()
    wide, small = forms(base64.b64decode(narrow.with_narrow(shown, figure, "png")))
    assert wide == drawn.getvalue() and Image.open(io.BytesIO(small)).width <= 2 * PIXELS


def test_a_notebook_of_the_book_shows_both_forms(monkeypatch, static):
    from seqcourse.viz import html

    figure, ax = plt.subplots(figsize=(8, 3))
    ax.plot([1, 2])
    tag = html.image_tag(figure, "a line")
    assert tag.startswith("<picture><source media=") and tag.count("data:image/png") == 2
    monkeypatch.delenv("SEQCOURSE_STATIC")
    assert html.image_tag(figure, "a line").startswith("<img ")
