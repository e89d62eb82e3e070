"""How the things of a scene are placed relative to each other, computed from their boxes."""

from __future__ import annotations

Box = tuple[int, int, int, int]  # x0, y0, x1, y1 in pixels, the last two exclusive

NEAR = 0.06  # "next to": the gap is at most this share of the picture's side
FAR = 0.12  # clearly apart: the gap is at least this share


def centre(box: Box) -> tuple[float, float]:
    """The middle of a box: (x, y)."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def gaps(first: Box, second: Box) -> tuple[int, int]:
    """Pixels between two boxes, horizontally and vertically; negative where they overlap."""
    return (
        max(first[0], second[0]) - min(first[2], second[2]),
        max(first[1], second[1]) - min(first[3], second[3]),
    )


def overlap(first: Box, second: Box) -> float:
    """The share of the smaller box that the other covers, 0 to 1."""
    across, down = gaps(first, second)
    if across >= 0 or down >= 0:
        return 0.0
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return across * down / smaller


def relation(first: Box, second: Box) -> str | None:
    """The relation of the first to the second: "left of", "right of", "above", "below"; None if unclear.

    "left of": the boxes do not overlap horizontally, and their centres are at least twice as far apart
    horizontally as vertically. The others likewise.
    """
    (x, y), (to_x, to_y) = centre(first), centre(second)
    across, down = gaps(first, second)
    if across >= 0 and abs(to_x - x) >= 2 * abs(to_y - y):
        return "left of" if x < to_x else "right of"
    if down >= 0 and abs(to_y - y) >= 2 * abs(to_x - x):
        return "above" if y < to_y else "below"
    return None


def is_next_to(first: Box, second: Box, size: int) -> bool:
    """Whether the boxes are side by side with a small gap."""
    beside = relation(first, second) in ("left of", "right of")
    return beside and gaps(first, second)[0] <= NEAR * size


def relations(first: Box, second: Box, size: int) -> tuple[str, ...]:
    """Every relation of the grammar that holds, the most specific one first."""
    found = relation(first, second)
    if found is None:
        return ()
    return ("next to", found) if is_next_to(first, second, size) else (found,)
