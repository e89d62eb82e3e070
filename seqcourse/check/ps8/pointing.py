"""Exercise 2: the pointing game, does the peak of a map lie in the box of what it should show?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise
from seqcourse.check.inputs import normal

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


def _places(flat: Tensor, maps: Tensor, axis: int = 2) -> tuple[Tensor, Tensor]:
    """Row and column of flat indices; a row has as many cells as `axis` of the maps."""
    return flat // maps.shape[axis], flat % maps.shape[axis]


def _peak(maps: Tensor, axis: int = 2) -> tuple[Tensor, Tensor]:
    return _places(maps.flatten(1).argmax(dim=-1), maps, axis)


def _centres(shift: float = 0.5, across: int = 2, down: int = 1) -> Callable[..., tuple[Tensor, Tensor]]:
    """centre(row, column, maps, size) -> x, y.

    shift: how far into its cell the point lies. across, down: the axes of the maps by whose sizes the
    picture's width and height are divided.
    """
    return lambda row, column, maps, size: (
        (column + shift) * size / maps.shape[across],
        (row + shift) * size / maps.shape[down],
    )


def _sides(
    lower: Callable = torch.le,
    upper: Callable = torch.lt,
    join: Callable = torch.logical_and,
    below: Callable | None = None,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """inside(x, y, boxes) -> (K,), with these comparisons; join(right in x, right in y).

    below: compares y with the lower side, if that is not done as x with the right side.
    """

    def inside(x: Tensor, y: Tensor, boxes: Tensor) -> Tensor:
        x0, y0, x1, y1 = boxes.unbind(dim=-1)
        return join(lower(x0, x) & upper(x, x1), lower(y0, y) & (below or upper)(y, y1))

    return inside


_centre, _inside = _centres(), _sides()


def _made(
    *,
    peak: Callable[[Tensor], tuple[Tensor, Tensor]] = _peak,
    centre: Callable[..., tuple[Tensor, Tensor]] = _centre,
    inside: Callable[[Tensor, Tensor, Tensor], Tensor] = _inside,
) -> Callable[[Tensor, Tensor, int], Tensor]:
    """The game with one rule put in another's place."""

    def play(maps: Tensor, boxes: Tensor, size: int) -> Tensor:
        return inside(*centre(*peak(maps), maps, size), boxes)

    return play


reference_points_at = _made()


def _of_all(maps: Tensor) -> tuple[Tensor, Tensor]:
    return _places(maps.argmax().expand(len(maps)) % maps[0].numel(), maps)


def _one_truth(*arguments: Any) -> Tensor:
    raise AnyError(r"Boolean value of Tensor with more than one value is ambiguous")


def _rows_first(x: Tensor, y: Tensor, boxes: Tensor) -> Tensor:
    return _inside(y, x, boxes)


_ENDS = "A box begins with x0 and y0 (<=) and ends before x1 and y1 (<)."


_LIKELY = {
    "Are row and column exchanged? x comes from the column, y from the row.": (
        _made(inside=_rows_first),
        _made(centre=lambda row, column, *rest: _centre(column, row, *rest)),
    ),
    "Is it the cell's lower right corner? Its centre lies half a cell further to the left and up.": (
        _made(centre=_centres(shift=1.0))
    ),
    "Are a cell's width and height exchanged? It is size / C wide and size / R high.": _made(
        centre=_centres(across=1, down=2)
    ),
    "Are cells square in your code? A cell is size / C wide and size / R high.": (
        _made(centre=_centres(down=2)),
        _made(centre=_centres(across=1)),
    ),
    "Did you write `and` between tensors, or a <= x < b? Both ask for one truth value; number by "
    "number it is (a <= x) & (x < b).": _one_truth,
    f"Does the end of a box belong to it? {_ENDS}": (
        _made(inside=_sides(upper=torch.le)),
        _made(inside=_sides(upper=torch.le, below=torch.lt)),
        _made(inside=_sides(below=torch.le)),
    ),
    f"Does the beginning of a box not belong to it? {_ENDS}": _made(inside=_sides(lower=torch.lt)),
    f"Are beginning and end of the box the wrong way round? {_ENDS}": _made(
        inside=_sides(torch.lt, torch.le)
    ),
    "Do you compare y only? The peak lies in the box when its column does, too.": _made(
        inside=_sides(join=lambda in_x, in_y: in_y)
    ),
    "Is one of x and y enough in your code? Both must lie in the box.": _made(
        inside=_sides(join=torch.logical_or)
    ),
    "Is it the other way round? True means that the peak lies in the box.": _made(
        inside=_sides(join=lambda in_x, in_y: ~(in_x & in_y))
    ),
    "Is there one peak for all maps? Each map has its own: flatten(1), then argmax over the cells.": (
        _made(peak=_of_all)
    ),
    "Did you return the number of hits? One truth value for each map is asked for.": (
        lambda *a: reference_points_at(*a).sum()
    ),
}


points_at = Exercise(
    "points_at",
    make=pointing_arguments,
    reference=reference_points_at,
    likely=_LIKELY,
    cases=[
        Case(
            "boxes around the peak, beside it and up to its centre", lambda: pointing_arguments(60, 4, 4)
        ),
        Case(
            "a grid that is not square",
            lambda: pointing_arguments(60, 3, 5, seed=1),
            "Is the number of rows that of columns?",
        ),
        Case(
            "a single map",
            lambda: pointing_arguments(1, 5, 4, kind="hit", seed=2),
            "Does a squeeze() or [0] drop an axis?",
        ),
        Case(
            "cells that are no whole number of pixels wide",
            lambda: pointing_arguments(60, 3, 7, size=100, kind="tight", seed=4),
        ),
        Case("float32", lambda: pointing_arguments(60, 8, 8, cell=1, dtype=torch.float32, seed=3)),
    ],
    forbid=("points_at", "pointing_game"),
    idea="A map points at a thing if the centre of its highest cell lies in the box of that thing.",
    see=("13", "Does it point at what it names?"),
)
