"""Strokes: a cell with its number, the hatching of a masked one, a way with rounded corners."""

from __future__ import annotations

from collections.abc import Sequence

from seqcourse.viz.drawing.formulas import number
from seqcourse.viz.drawing.layout import Box


def mask_cell(box: Box, place: Box, signs: str) -> None:
    box.rect(place.l, place.t, place.w, place.h, f"c r-{'no' if signs else 'x'}")
    if not signs:
        at = f'cx="{place.cx:g}" cy="{place.cy:g}"'
        box.marks += f'<circle class="may" {at} r="{max(2.4, place.w / 7.5):.1f}"/>'
    box.marks += "".join(_hatching(place, sign) for sign in signs)


def number_cell(box: Box, place: Box, kind: str, value: float, digits: int) -> None:
    hidden = value == float("-inf")
    box.rect(
        place.l, place.t, place.w, place.h, f"c r-{'no' if hidden else 'a' if kind == 'a' else 'x'}"
    )
    if hidden:
        box.marks += _hatching(place, "/")
    if kind == "a" and value > 0.005:
        box.rect(place.l, place.t, place.w, place.h, "full", 6, f' opacity="{value:.2f}"')
    strong = " b over" if hidden else " on" if kind == "a" and value > 0.4 else ""
    box.write(place.cx, place.cy, number(value, digits), 12, "n" + strong)


def _hatching(place: Box, sign: str) -> str:
    """Lines in a masked cell, rising ("/") or falling ("\\\\")."""
    w, h, d = place.w - 6, place.h - 6, ""
    for k in range(8, int(w + h) - 5, 8):  # the lines x + y = k, inside the cell
        x0, x1 = max(0, k - h), min(w, k)
        ya, yb = (k - x0, k - x1) if sign == "/" else (h - k + x0, h - k + x1)
        d += f"M{place.l + 3 + x0:g} {place.t + 3 + ya:g}L{place.l + 3 + x1:g} {place.t + 3 + yb:g}"
    return f'<path class="hatch" d="{d}"/>'


def rounded(points: Sequence[Sequence[float]], width: float) -> str:
    """A path through points at right angles, its corners rounded."""
    d = ""
    for k, (x, y) in enumerate(points):
        if k in (0, len(points) - 1):
            d += f"{'L' if k else 'M'}{x:.1f} {y:.1f}"
            continue
        near: list[float] = []
        for qx, qy in (points[k - 1], points[k + 1]):
            far = abs(qx - x) + abs(qy - y) or 1
            t = min(9 + width / 2, far / 2) / far
            near += [x + (qx - x) * t, y + (qy - y) * t]
        d += f"L{near[0]:.1f} {near[1]:.1f}Q{x:.1f} {y:.1f} {near[2]:.1f} {near[3]:.1f}"
    return d
