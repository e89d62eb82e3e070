"""The things that a drawing is made of, and the lines between them."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import numpy as np

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_array
from seqcourse.viz.drawing.formulas import length, number
from seqcourse.viz.drawing.layout import Around, Box, Layout, way
from seqcourse.viz.drawing.strokes import mask_cell, number_cell, rounded

_LAYERS = {"panel": 0, "flow": 1, "thing": 2, "ring": 3}  # what covers what
_LAST = 99  # a step that no drawing reaches


class Drawing(Layout):
    """One form (wide or narrow) of a drawing; `page.show` makes both.

    Step by step a drawing makes things (vector, tensor, grid, module, word), joins them with arrows
    and flows, and says in a table what stands where. What is new at a step stands out, and so does
    what an arrow, a flow or a ring of that step touches.
    """

    def __init__(self, wide: bool) -> None:
        super().__init__(wide)
        self.now, self.left_after, self.always = 1, 0, False
        self.box = [999.0, 999.0, -999.0, -999.0]
        self.things: list[Box] = []
        self.marks: list[tuple[int, Box, Callable[[], str]]] = []
        self.late: list[tuple[Box, Box, str, float]] = []
        self.roles: set[str] = set()

    # Steps ----------------------------------------------------------------------------------------

    def step(self, first: int, last: int = 0, always: bool = False) -> None:
        """What is made from now on appears at step ``first`` and leaves after ``last`` (0: never).

        ``always``: it stands out at every later step as well.
        """
        self.now, self.left_after, self.always = first, last, always

    def use(self, *things: Box, up: bool = True) -> None:
        """At this step these things stand out, with their parts and with what holds them."""
        for thing in things:
            thing.lit.add(self.now)
            self.use(*thing.parts, up=False)
            for whole in thing.wholes if up else ():
                whole.lit.add(self.now)
                for above in whole.wholes:
                    above.lit.add(self.now)

    def _draw(self, mark: Callable[[], str], layer: str = "thing", owner: Box | None = None) -> None:
        owner = owner or Box()
        owner.appears, owner.leaves = self.now, self.left_after
        owner.lit |= set(range(self.now, 10 if self.always else self.now + 1))
        self.marks.append((_LAYERS[layer], owner, mark))

    def new(self, w: float = 0, h: float = 0, thing: Box | None = None) -> Box:
        thing = thing or Box(w, h)
        self.things.append(thing)
        place = '<g transform="translate({:g} {:g})">{}</g>'
        self._draw(lambda: thing.marks and place.format(thing.l, thing.t, thing.marks), "thing", thing)
        return thing

    def put(self, thing: Box, other: Box, side: str, gap: float = 12) -> Box:
        """A thing that stands beside another one in the end, when everything else has its place."""
        self.late.append((thing, other, side, gap))
        return thing

    # Things of the field --------------------------------------------------------------------------

    def vector(
        self, role: str, values: Any, cell=(26, 12), upright: bool = True, digits: int = 1
    ) -> Box:
        """One vector, a strip of cells in its role's colour. ``values``: numbers, or only how many."""
        (w, h), known = cell, not isinstance(values, int)
        numbers = as_array(values, "the vector", 1) if known else ()
        n = len(numbers) if known else values
        self.roles.add(role)
        box = self.new(w if upright else n * w, n * h if upright else h)
        box.rect(0, 0, box.w, box.h, f"c r-{role}")
        cuts = (f"M0 {k * h:g}h{w:g}" if upright else f"M{k * w:g} 0v{h:g}" for k in range(1, n))
        box.marks += f'<path class="cut r-{role}" d="{"".join(cuts)}"/>'
        box.hold(box.cells, [Box(w, h, *((0, k * h) if upright else (k * w, 0))) for k in range(n)])
        for place, value in zip(box.cells, numbers, strict=False):
            box.write(place.cx, place.cy, number(value, digits), 12, "n")
        return box

    def tensor(
        self,
        role: str,
        values: Any,
        cell=(11, 16),
        gap: float = 4,
        upright: bool = False,
        digits: int = 1,
    ) -> Box:
        """A matrix as a list of vectors, its rows: lying, or upright (then it is transposed).

        ``values``: its numbers, or only its shape.
        """
        only_shape = isinstance(values, tuple)
        lines = [values[1]] * values[0] if only_shape else as_array(values, "the tensor", 2)
        parts = [self.vector(role, line, cell, upright, digits) for line in lines]
        return self.row(*parts, gap=gap) if upright else self.column(*parts, gap=gap)

    def grid(self, kind: str, values: Any, cell=(34, 30), gap=(3, 6), digits: int = 2) -> Box:
        """Numbers side by side: scores ("e": minus infinity is hatched), weights ("a": the fuller, the
        nearer to 1), both without a cell for nan; or a mask ("k") of strings: "" has a dot (may look),
        "/" is hatched (ahead), "\\\\" hatched the other way (padding), "/\\\\" both.
        """
        values = np.asarray(values) if kind == "k" else as_array(values, "the grid", 2)
        (w, h), (rows, n) = cell, values.shape
        self.roles |= {"a"} & {kind}
        box = self.new(n * (w + gap[0]) - gap[0], rows * (h + gap[1]) - gap[1])
        box.hold(box.parts, [Box(box.w, h, 0, i * (h + gap[1])) for i in range(rows)])
        for k, value in enumerate(values.flat):
            place = Box(w, h, k % n * (w + gap[0]), k // n * (h + gap[1]))
            box.hold(box.cells, [place])
            if kind == "k":
                mask_cell(box, place, str(value))
            elif value == value:
                number_cell(box, place, kind, float(value), digits)
        return box

    def module(
        self,
        text: str,
        second: str = "",
        w: float = 0,
        h: float = 0,
        size: float = 13,
        inside: Box | None = None,
    ) -> Box:
        """What makes tensors from tensors: a rounded block with its name, and with a small thing
        ``inside``, such as the mask of an attention: to the right of the name, or below it."""
        w, h = w or max(length(text, size), length(second, 12)) + 20, h or (42 if second else 26)
        box = self.new(w, h)
        box.rect(0, 0, w, h, "c mod r-m", 9)
        if inside:
            right = w > max(length(text, size), length(second, 12)) + inside.w + 16
            x, y = (w - 8, h / 2 + inside.h / 2) if right else ((w + inside.w) / 2, h - 14)
            box.marks += (
                f'<g transform="translate({x - inside.w:g} {y - inside.h:g})">{inside.marks}</g>'
            )
            inside.marks = ""
            w, h = (w - inside.w - 8, h) if right else (w, h - inside.h - 12)
        box.write(w / 2, h / 2 - 8 * bool(second), text, size, "b")
        if second:
            box.write(w / 2, h / 2 + 9, second, 12)
        return box

    def port(self, text: str, role: str) -> Box:
        """Where something goes into a module, in the colour of its role ("$Q$", "q"), or what is done
        to it there ("+", "m")."""
        box = self.new(22, 20)
        box.rect(0, 0, 22, 20, f"c r-{role}", 10)
        box.write(11, 10, text, 14, f"b t-{role}" if role in "qkvay" else "b")
        return box

    def joint(self, h: float = 0) -> Box:
        """Nothing, but with a place and a height: where a way divides, or room."""
        return self.new(0, h)

    def word(self, text: str) -> Box:
        """A word of the example, in a pill."""
        box = self.new(max(length(text, 12.5) + 8, 26), 24)
        box.rect(0, 0, box.w, 24, "pill", 12)
        box.write(box.w / 2, 12, text, 12.5, "w")
        return box

    def text(self, text: str, size: float = 13, kind: str = "", w: float = 0) -> Box:
        box = self.new(w or length(text, size), 1.2 * size)
        box.write(box.w / 2, box.h / 2, text, size, kind)
        return box

    def picture(self, pixels: Any, w: float, cuts: tuple[int, int] = (0, 0)) -> Box:
        """A picture (H, W) or (H, W, 3) of type uint8, ``w`` wide; ``cuts``: lines make rows and columns
        of cells on it, read row by row.
        """
        from PIL import Image

        array, file = np.asarray(pixels, np.uint8), io.BytesIO()
        Image.fromarray(array).save(file, "png")
        h, (rows, columns) = w * array.shape[0] / array.shape[1], cuts
        box = self.new(w, h)
        box.marks += (
            f'<image width="{w:g}" height="{h:g}" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"/>'
        )
        if rows:
            lines = "".join(f"M0 {k * h / rows:g}h{w:g}" for k in range(rows + 1))
            lines += "".join(f"M{k * w / columns:g} 0v{h:g}" for k in range(columns + 1))
            box.marks += f'<path class="cut r-a" style="stroke-opacity:1" d="{lines}"/>'
        size = (w / max(columns, 1), h / max(rows, 1))
        places = [(c * size[0], r * size[1]) for r in range(rows) for c in range(columns)]
        box.hold(box.cells, [Box(*size, *place) for place in places])
        return box

    def dial(self, role: str, angle: float, radius: float = 18) -> Box:
        """A clock with one hand, turned clockwise from 12: (sine, cosine) of the angle is its tip."""
        box, hand = self.new(2 * radius, 2 * radius), radius - 5
        x, y = radius + hand * float(np.sin(angle)), radius - hand * float(np.cos(angle))
        self.roles.add(role)
        box.rect(0, 0, box.w, box.h, f"c r-{role}", radius)
        line = (
            f'<path class="ln r-{role}" stroke-width="2.5" d="M{radius:g} {radius:g}L{x:.1f} {y:.1f}"/>'
        )
        box.marks += f'{line}<circle class="hd r-{role}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
        return box

    def amount(self, share: float, w: float = 104) -> Box:
        """A vessel as wide as 1, filled as far as its share."""
        box = self.new(w, 22)
        box.rect(0, 0, w, 22, "c r-x")
        box.rect(0, 0, w * share, 22, "full")
        box.write(w * share / 2, 11, number(share, 2), 12, "n on")
        return box

    def panel(
        self,
        *things: Box,
        role: str = "m",
        name: str = "",
        more: str = "",
        pad: float = 12,
        kind: str = "panel",
    ) -> Box:
        """A block behind things, with a name in its corner. Kind "c mod": as dark as a module."""
        box = self.new(thing=Around(things, pad, 20 * bool(name)))
        rect = '<rect class="{} r-{}" x="{:g}" y="{:g}" width="{:g}" height="{:g}" rx="{:g}"/>'
        back = Box()
        self._draw(
            lambda: rect.format(kind, role, box.l, box.t, box.w, box.h, 10 + pad / 2), "panel", back
        )
        back.lit = box.lit
        if name:
            box.write(12, 17, name, 13, f"b t-{role}", "s")
        if more:
            box.write(box.w - 12, 17, more, 13, f"b t-{role}", "e")
        return box

    def ring(self, *boxes: Box) -> None:
        """A dark ring around each box: look here."""
        mark = '<rect class="ring" x="{:g}" y="{:g}" width="{:g}" height="{:g}" rx="8"/>'
        for box in boxes:
            self.use(box)
            self._draw(lambda box=box: mark.format(box.l - 1, box.t - 1, box.w + 2, box.h + 2), "ring")

    # Lines ----------------------------------------------------------------------------------------

    def arrow(self, a: Any, b: Any, role: str = "l", sides: str = "", text: str = "", on: str = "",
              by: Any = 0, width: float = 2, head: bool = True) -> None:  # fmt: skip
        """A way from one thing to another, or from each of a list to each of a list.

        The role's colour says what flows ("l": only "then"). ``sides`` and ``by`` are those of
        `layout.way`. Beside it stands a text, or above it a small module ``on`` it.
        """
        if isinstance(a, list) or isinstance(b, list):
            n = len(a) if isinstance(a, list) else len(b)
            starts, ends = (x if isinstance(x, list) else [x] * n for x in (a, b))
            for x, y in zip(starts, ends, strict=True):
                self.arrow(x, y, role, sides, text, on, by, width, head)
            return
        self.use(a, b)
        self._draw(lambda: self._line(way(a, b, sides, by), role, width, head, text, on))

    def chain(self, *things: Box, role: str = "l") -> None:
        """Arrows from each thing to the next."""
        self.arrow(list(things[:-1]), list(things[1:]), role)

    def pour(self, things: Iterable[Box], target: Box, shares: Any, role: Any, unit: float = 26,
             sides: str = "bt", left: bool = False) -> None:  # fmt: skip
        """Flows from things into a target, side by side there, as wide as their shares (1: ``unit``).

        ``sides`` as for arrows; "rr" goes round the right. ``left``: the target fills from its left.
        ``role`` is one for all flows or a list with one for each.
        """
        shares = as_array(shares, "shares", 1)
        roles = [role] * len(shares) if isinstance(role, str) else role
        at = -unit * (1 if left else shares.sum()) / 2
        for thing, share, one in zip(things, shares, roles, strict=True):
            at += unit * share / 2
            if share > 0.005:
                self.use(thing, target)
                wide = max(unit * share, 1)
                self._draw(
                    lambda a=thing, at=at, r=one, w=wide: self._pipe(a, target, at, r, w, sides), "flow"
                )
            at += unit * share / 2

    def _line(self, points, role, width, head, text="", on="") -> str:
        note, (bx, by) = Box(), points[-1]
        for x, y in points:
            self._cover(x, y, x, y, 6)
        pairs = list(zip(points, points[1:], strict=False))
        (x0, y0), (x1, y1) = max(pairs, key=lambda s: abs(s[0][0] - s[1][0]) + abs(s[0][1] - s[1][1]))
        x, y, flat = (x0 + x1) / 2, (y0 + y1) / 2, y0 == y1
        if text:
            note.write(
                *((x, y - 10 - width / 2) if flat else (x + 8, y)), text, 12, "mu", "m" if flat else "s"
            )
        if on:
            note.rect(x - length(on) / 2 - 5, y - 33, length(on) + 10, 26, "c mod r-m", 9)
            note.write(x, y - 20, on, 13, "b")
        if head:
            far = abs(bx - points[-2][0]) + abs(by - points[-2][1]) or 1
            ux, uy, long = (bx - points[-2][0]) / far, (by - points[-2][1]) / far, 7 + width
            hx, hy, half = bx - long * ux, by - long * uy, 4 + width / 2
            points = points[:-1] + [[bx - (long - 2) * ux, by - (long - 2) * uy]]
            note.marks += f'<path class="hd r-{role}" d="M{bx:.1f} {by:.1f}L{hx - half * uy:.1f} '
            note.marks += f'{hy + half * ux:.1f}L{hx + half * uy:.1f} {hy - half * ux:.1f}z"/>'
        path = f'd="{rounded(points, width)}"'
        return f'<path class="ln r-{role}" stroke-width="{width:.1f}" {path}/>{note.marks}'

    def _pipe(self, a: Box, b: Box, at: float, role: str, width: float, sides: str) -> str:
        if sides == "rr":
            x = max(a.r, b.r) + 20 + (at if b.cy + at > a.cy else -at)
            points = [[a.r, a.cy], [x, a.cy], [x, b.cy + at], [b.r, b.cy + at]]
            return self._line(points, role + " pipe", width, False)
        if sides[0] in "lr":
            x0, y0, x1, y1 = a.outer(sides[0]), a.cy, b.outer(sides[1]), b.cy + at
            turn = f"{(x0 + x1) / 2:.1f} {y0:.1f} {(x0 + x1) / 2:.1f} {y1:.1f}"
        else:
            x0, y0, x1, y1 = a.cx, a.outer(sides[0]), b.cx + at, b.outer(sides[1])
            turn = f"{x0:.1f} {(y0 + y1) / 2:.1f} {x1:.1f} {(y0 + y1) / 2:.1f}"
        d = f"M{x0:.1f} {y0:.1f}C{turn} {x1:.1f} {y1:.1f}"
        return f'<path class="ln pipe r-{role}" stroke-width="{width:.1f}" d="{d}"/>'

    # The picture ----------------------------------------------------------------------------------

    def _cover(self, l: float, t: float, r: float, b: float, more: float = 2) -> None:  # noqa: E741
        a = self.box
        self.box = [min(a[0], l - more), min(a[1], t - more), max(a[2], r + more), max(a[3], b + more)]

    def svg(self, name: str, title: str, alt: str) -> str:
        """The picture as inline SVG with a title and a description.

        Raises CourseError when it is wider than its form: make gaps or cells smaller with `pick`.
        """
        for thing, other, side, gap in self.late:
            thing.beside(other, side, gap)
        for thing in self.things:
            self._cover(*(thing.outer(side) for side in "ltrb"))
        groups = self._groups()
        l, t, r, b = self.box  # noqa: E741
        kind = self.pick("wide", "narrow")
        if r - l > self.w + 1:
            raise CourseError(
                f'The {kind} form of "{title}" is {r - l - self.w:.0f} units wider than {self.w}. '
                f"Make its gaps or cells smaller there, for example with d.pick(wide, narrow)."
            )
        view = f"{(l + r - self.w) / 2:.1f} {t:.1f} {self.w} {b - t:.1f}"
        named, told = f"{name}-{kind}-title", f"{name}-{kind}-alt"
        return (
            f'<svg class="{kind}" viewBox="{view}" role="img" aria-labelledby="{named} {told}">'
            f'<title id="{named}">{escape(title)}</title><desc id="{told}">{escape(alt)}</desc>'
            f"{groups}</svg>"
        )

    def _groups(self) -> str:
        """All marks; neighbours that come, go and stand out together share a group."""
        made, before = "", ""
        for _, owner, mark in sorted(self.marks, key=lambda entry: entry[0]):
            piece, lit = mark(), " ".join(map(str, sorted(owner.lit)))
            gone = " gone" if owner.leaves else ""
            at = f"{owner.appears} {owner.leaves or _LAST}"
            tag = f'<g class="st{gone}" data-at="{at}" data-lit=" {lit} ">'
            if piece:
                made += piece if tag == before else "</g>" * bool(before) + tag + piece
                before = tag
        return made + "</g>" * bool(before)
