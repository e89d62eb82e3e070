"""The pointing game: does the peak of an attention map lie on the thing that the word names?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqcourse.metrics.pairs import same_length

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in pixels, counted from the upper left corner, x1 and y1 exclusive."""
DRAWN = 1.25
"""Blur of the maps that Xu et al. (2015) drew, in cells: 20 pixels where a cell has 16."""


@dataclass(frozen=True)
class Pointing:
    """The result of a pointing game.

    share: hits / count; chance: what pointing at a cell drawn at random would reach, on average.
    """

    share: float
    chance: float
    hits: int
    count: int

    def __str__(self) -> str:
        return f"pointing {self.share:.3f} ({self.hits} of {self.count}; chance {self.chance:.3f})"


def points_at(
    weights_grid: Any,
    box: Box | Sequence[Box],
    size: int | tuple[int, int],
    tolerance: float = 0.0,
    blur: float = 0.0,
) -> bool:
    r"""Whether the largest weight of a grid laid over a picture lies in the box.

    .. math:: (r, c) = \arg\max_{ij} a_{ij}, \qquad
              x = \frac{W (c + 1/2)}{C}, \quad y = \frac{H (r + 1/2)}{R}

    A cell is taken for its middle (x, y); of equal weights the first counts, row by row.

    Args:
        weights_grid: (R, C), a tensor or an array.
        box: one box in pixels, or several: then any of them will do ("two tigers").
        size: side of the picture in pixels, or (width, height).
        tolerance: how many pixels beside the box are still taken for it.
        blur: with a number above 0 the peak is that of :func:`blurred`, a pixel's middle.

    Raises:
        ValueError: another shape, weights that are not finite, or a malformed box or size.
    """
    return _plays(_grid(weights_grid), _boxes(box), size, tolerance, blur)[0]


def blurred(weights_grid: Any, size: int | tuple[int, int], blur: float = DRAWN) -> np.ndarray:
    r"""A map over the pixels of its picture, as figures show it: every weight a Gaussian.

    .. math:: m(x, y) = \sum_{r, c} a_{rc} \exp\Big(- \frac{(x - x_c)^2}{2 (b W / C)^2}
                                                   - \frac{(y - y_r)^2}{2 (b H / R)^2}\Big)

    :math:`(x_c, y_r)` is the middle of a cell, b the blur. Two neighbours with a third of the weight
    each have their peak between them, where no cell has its middle.

    Args:
        weights_grid: (R, C), a tensor or an array.
        size: side of the picture in pixels, or (width, height).
        blur: standard deviation, in cells. 1.25 is 20 pixels for cells of 16, as in the program with
            which Xu et al. (2015) drew theirs (it interpolates between the cells besides).

    Returns:
        (H, W), not normalised.

    Raises:
        ValueError: another shape, weights that are not finite, a malformed size or no width above 0.
    """
    grid = _grid(weights_grid)
    if not blur > 0:
        raise ValueError(f"blur should be a number of cells above 0, but it is {blur!r}.")
    width, height = _sides(size)
    across, down = (
        _bells(side, cells, blur) for side, cells in ((width, grid.shape[1]), (height, grid.shape[0]))
    )
    return down @ grid @ across.T  # (H, R) (R, C) (C, W)


def pointing_game(
    maps: Sequence[Any],
    boxes: Sequence[Box | Sequence[Box]],
    size: int | tuple[int, int],
    tolerance: float = 0.0,
    blur: float = 0.0,
) -> Pointing:
    """The share of maps whose peak lies in their box (Zhang et al. 2016), and the share by chance.

    Args:
        maps: attention maps (R, C), one for each word that names a thing.
        boxes: for each map the box of that thing, or the boxes of all that the word may mean.
        size: side of the pictures in pixels, or (width, height).
        tolerance, blur: as in :func:`points_at`.

    Raises:
        ValueError: as in :func:`points_at`, or there are not as many maps as boxes, or none.
    """
    same_length(maps=maps, boxes=boxes)
    hits, chance = 0, 0.0
    for weights, box in zip(maps, boxes, strict=True):
        hit, share = _plays(_grid(weights), _boxes(box), size, tolerance, blur)
        hits += hit
        chance += share
    return Pointing(hits / len(maps), chance / len(maps), hits, len(maps))


def _grid(weights: Any) -> np.ndarray:
    weights = weights.detach().cpu().float() if hasattr(weights, "detach") else weights
    grid = np.asarray(weights, dtype=float)
    if grid.ndim != 2 or not grid.size:
        raise ValueError(
            f"a map should have two dimensions, rows and columns of cells, but its shape is "
            f"{grid.shape}. Reshape the weights of one word to the grid."
        )
    if not np.isfinite(grid).all():
        raise ValueError("a map should have finite weights: pass them after the softmax.")
    return grid


def _boxes(box: Box | Sequence[Box]) -> list[Box]:
    one = len(box) == 4 and not hasattr(box[0], "__len__")
    boxes = [box] if one else list(box)
    for each in boxes:
        if not hasattr(each, "__len__") or len(each) != 4 or each[0] >= each[2] or each[1] >= each[3]:
            raise ValueError(
                f"a box should be (x0, y0, x1, y1) with x0 < x1 and y0 < y1, but one is {each!r}."
            )
    if not boxes:
        raise ValueError("there is no box to point at; leave words out that name nothing.")
    return boxes


def _bells(side: int, cells: int, blur: float) -> np.ndarray:
    """(side, cells): a Gaussian around the middle of each cell, at the middle of each pixel."""
    at = (np.arange(side) + 0.5) * cells / side  # in cells
    return np.exp(-((at[:, None] - np.arange(cells) - 0.5) ** 2) / (2 * blur**2))


def _sides(size: int | tuple[int, int]) -> tuple[int, int]:
    width, height = (size, size) if np.isscalar(size) else size
    if min(width, height) <= 0:
        raise ValueError(f"size should be a number of pixels above 0, but it is {size!r}.")
    return width, height


def _plays(
    grid: np.ndarray, boxes: list[Box], size: int | tuple[int, int], tolerance: float, blur: float
) -> tuple[bool, float]:
    """Whether the peak lies in a box, and the share of all places that do."""
    found = blurred(grid, size, blur) if blur else grid
    inside = _inside(found.shape, boxes, size, tolerance)
    return bool(inside.flat[found.argmax()]), float(inside.mean())


def _inside(
    shape: tuple[int, int], boxes: list[Box], size: int | tuple[int, int], tolerance: float
) -> np.ndarray:
    """(R, C), whether the middle of each cell lies in a box."""
    width, height = _sides(size)
    x = width * (np.arange(shape[1]) + 0.5) / shape[1]
    y = height * (np.arange(shape[0]) + 0.5) / shape[0]
    found = np.zeros(shape, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        across = (x0 - tolerance <= x) & (x < x1 + tolerance)
        down = (y0 - tolerance <= y) & (y < y1 + tolerance)
        found |= down[:, None] & across
    return found
