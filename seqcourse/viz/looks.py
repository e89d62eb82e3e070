"""Where a captioner looks: each word's weights over the picture, and the boxes they should hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array, as_labels
from seqcourse.viz.style import COLOURS

PHOTOGRAPH = "photograph"  # label of figures whose colours no dark page may turn round
_DARK = 0.32  # what is left of a pixel that is not looked at
Box = Sequence[float]


def looks(
    picture: Any,
    tokens: Sequence[str],
    weights: Any,
    *,
    boxes: Mapping[int, Sequence[Box]] | None = None,
    columns: int = 6,
) -> list[Axes]:
    """A caption word by word over its picture: bright where the decoder looked.

    ``picture`` (S, S, 3), from 0 to 255 or 0 to 1; ``weights`` (T', N) or (T', G, G), one map of a
    square grid for each of ``tokens``. Each map is brightened by its own largest weight, which stands
    above it. ``boxes`` gives for the number of a word, counted from 0, the boxes (x0, y0, x1, y1) in
    pixels that it names: they are outlined, and a cross shows the peak, green and drawn through where
    it lies in one of them, vermillion and dashed where it does not.

    Returns the axes, the bare picture's first. Raises CourseError for shapes that do not fit.
    """
    picture, tokens = as_picture(picture), as_labels(tokens, "tokens")
    maps = as_maps(weights, len(tokens))
    import matplotlib.pyplot as plt

    columns = min(columns, len(tokens) + 1)
    rows = ceil((len(tokens) + 1) / columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(1.5 * columns, 1.72 * rows), squeeze=False, layout="constrained"
    )
    figure.set_label(PHOTOGRAPH)
    axes = list(grid.flat)
    for ax in axes:
        ax.set_axis_off()
    axes[0].imshow(picture, interpolation="nearest")
    axes[0].set_title("the picture", fontsize=9)
    for number, (word, weight) in enumerate(zip(tokens, maps, strict=True)):
        ax = axes[number + 1]
        look(picture, weight, ax=ax, boxes=(boxes or {}).get(number))
        ax.set_title(f"{word}  {weight.max():.2f}", fontsize=9)
    return axes[: len(tokens) + 1]


def look(
    picture: Any, weights: Any, *, ax: Axes | None = None, boxes: Sequence[Box] | None = None
) -> Axes:
    """One map over a picture, as :func:`looks` draws it: ``weights`` (N,) or (G, G)."""
    picture = as_picture(picture)
    weight = as_maps(as_array(weights, "weights")[None], 1)[0]
    if ax is None:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(2.2, 2.3), layout="constrained")
        figure.set_label(PHOTOGRAPH)
        ax.set_axis_off()
    size = picture.shape[0]
    bright = _enlarged(weight / weight.max(), size)[..., None]
    ax.imshow(picture * (_DARK + (1 - _DARK) * bright), interpolation="nearest")
    if boxes is not None:
        x, y = peak(weight, size)
        hit = any(x0 <= x < x1 and y0 <= y < y1 for x0, y0, x1, y1 in boxes)
        colour, dashes = (COLOURS["green"], "-") if hit else (COLOURS["vermillion"], "--")
        for x0, y0, x1, y1 in boxes:
            ax.add_patch(
                Rectangle(
                    (x0 - 0.5, y0 - 0.5), x1 - x0, y1 - y0, fill=False, lw=1.8, ec=colour, ls=dashes
                )
            )
        ax.plot(x - 0.5, y - 0.5, "+", color="white", ms=11, mew=3.6)
        ax.plot(x - 0.5, y - 0.5, "+", color=colour, ms=9, mew=1.8)
    return ax


def peak(weights: Any, size: int) -> tuple[float, float]:
    """The middle of the square with the highest weight, (x, y) in pixels of a picture of that size."""
    weight = as_maps(as_array(weights, "weights")[None], 1)[0]
    row, column = np.unravel_index(int(weight.argmax()), weight.shape)
    step = size / weight.shape[0]
    return (column + 0.5) * step, (row + 0.5) * step


def as_picture(picture: Any) -> np.ndarray:
    """A square picture as (S, S, 3) numbers from 0 to 1; raises CourseError for anything else."""
    found = as_array(picture, "picture", 3)
    if found.shape[0] != found.shape[1] or found.shape[2] != 3:
        hint = " Its colours stand first: give picture.permute(1, 2, 0)." if found.shape[0] == 3 else ""
        raise CourseError(f"picture should be (S, S, 3), but it is {tuple(found.shape)}.{hint}")
    return found / 255 if found.max() > 1 else found


def as_maps(weights: Any, count: int) -> np.ndarray:
    """Weights as (T', G, G); raises CourseError where that cannot be."""
    found = as_array(weights, "weights")
    if found.ndim == 2:
        side = round(found.shape[1] ** 0.5)
        if side**2 != found.shape[1]:
            raise CourseError(
                f"weights should hold a square grid for each word, but they have "
                f"{found.shape[1]} places."
            )
        found = found.reshape(len(found), side, side)
    if found.ndim != 3 or found.shape[1] != found.shape[2] or len(found) != count:
        raise CourseError(
            f"weights should be ({count}, G, G), a square map for each word, but they are "
            f"{tuple(found.shape)}. A row for <eos> has to be cut off."
        )
    return found


def _enlarged(weight: np.ndarray, size: int) -> np.ndarray:
    """A map (G, G) at every pixel, (S, S), straight lines between the middles of its squares."""
    side = len(weight)
    at = np.clip((np.arange(size) + 0.5) * side / size - 0.5, 0, side - 1)
    low = np.minimum(at.astype(int), max(side - 2, 0))
    high, share = np.minimum(low + 1, side - 1), at - low
    rows = weight[low] * (1 - share)[:, None] + weight[high] * share[:, None]
    return rows[:, low] * (1 - share) + rows[:, high] * share
