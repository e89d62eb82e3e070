"""Exercise 2: the pointing game, does the peak of a map lie in the box of what it should show?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind

# How a box lies to the centre of the cell with the peak, in cells: (x0, y0, x1, y1).
BOXES = (
    (-0.7, -0.8, 0.9, 0.6),  # around it
    (-1.3, -1.2, -0.2, -0.3),  # holds the cell's upper left corner only
    (0.2, 0.3, 1.3, 1.2),  # the lower right corner only
    (0.0, 0.0, 1.0, 1.0),  # begins in the centre: that belongs to it
    (-1.0, -1.0, 0.0, 0.7),  # ends in the centre: that does not
    (-0.8, -0.9, 0.6, 0.0),  # the same for y
    (-0.6, 0.7, 0.6, 1.9),  # right in x only
    (0.7, -0.6, 1.9, 0.6),  # right in y only
)
TIGHT = ((-0.02, -0.02, 0.02, 0.02), (-0.5, -0.5, -0.02, 0.5), (-0.5, -0.5, 0.5, -0.02))


def pointing_arguments(
    count: int,
    rows: int,
    columns: int,
    cell: int = 8,
    kind: str = "all",
    size: int | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `points_at`: maps (K, R, C), boxes (K, 4) in pixels, the picture's side in pixels.

    cell: the picture's side is rows * columns * cell pixels, so that a cell is a whole number of pixels
    wide and high, unless `size` gives it. kind: "all" kinds of boxes in turn, "hit" for boxes around
    the peak only, or "tight" for very small ones around it and beside it.
    """
    generator = torch.Generator().manual_seed(seed)
    size = size or rows * columns * cell
    scores = normal({"maps": (count, rows * columns)}, seed, dtype)["maps"]
    scores[::2] *= 4  # every second map is sharp
    maps = scores.softmax(dim=-1)
    row = torch.randint(0, rows, (count,), generator=generator)
    column = torch.randint(0, columns, (count,), generator=generator)
    wide, high = size / columns, size / rows
    row = torch.where(row * high == column * wide, (row + 1) % rows, row)  # never on the diagonal
    flat = row * columns + column
    maps[torch.arange(count), flat] = maps.amax(dim=-1) * 1.5
    maps = maps / maps.sum(dim=-1, keepdim=True)
    x, y = (column + 0.5) * wide, (row + 0.5) * high
    number = torch.arange(count)
    around = torch.tensor(TIGHT if kind == "tight" else BOXES, dtype=torch.float64)
    around = around[0 * number if kind == "hit" else number // 2 % len(around)]
    centre = torch.stack([x, y, x, y], dim=-1).double()
    boxes = centre + around * torch.tensor([wide, high, wide, high], dtype=torch.float64)
    if kind == "all":  # a third of them anywhere, and large
        corners = size * torch.rand(count, 2, generator=generator, dtype=torch.float64) * 0.6
        sides = size * (0.2 + 0.6 * torch.rand(count, 2, generator=generator, dtype=torch.float64))
        anywhere = torch.cat([corners, corners + sides], dim=-1)
        boxes = torch.where((number % 3 == 2)[:, None], anywhere, boxes)
    return {
        "maps": maps.reshape(count, rows, columns),
        "boxes": boxes.clamp(0, size).to(dtype),
        "size": size,
    }


def reference_points_at(maps: Tensor, boxes: Tensor, size: int) -> Tensor:
    """Whether the centre of the largest cell lies in the box, (K,)."""
    _, rows, columns = maps.shape
    flat = maps.flatten(1).argmax(dim=-1)
    x, y = (flat % columns + 0.5) * size / columns, (flat // columns + 0.5) * size / rows
    x0, y0, x1, y1 = boxes.unbind(dim=-1)
    return (x0 <= x) & (x < x1) & (y0 <= y) & (y < y1)


points_at = Exercise(
    "points_at",
    make=pointing_arguments,
    reference=reference_points_at,
    likely={
        "Did you write `and` between tensors, or a <= x < b? Both ask for one truth value; number by "
        "number it is (a <= x) & (x < b).": stopping(
            "Boolean value of Tensor with more than one value is ambiguous"
        )
    },
    cases={
        "boxes around the peak, beside it and up to its centre": dict(count=60, rows=4, columns=4),
        "a grid that is not square": Kind(
            dict(count=60, rows=3, columns=5, seed=1), "Is the number of rows that of columns?"
        ),
        "a single map": Kind(
            dict(count=1, rows=5, columns=4, kind="hit", seed=2), "Does a squeeze() or [0] drop an axis?"
        ),
        "cells that are no whole number of pixels wide": dict(
            count=60, rows=3, columns=7, size=100, kind="tight", seed=4
        ),
        "float32": dict(count=60, rows=8, columns=8, cell=1, dtype=torch.float32, seed=3),
    },
    forbid=("points_at", "pointing_game"),
)
