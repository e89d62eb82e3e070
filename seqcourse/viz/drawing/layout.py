"""Where the things of a drawing stand: boxes with labels, rows, columns and tables, the ways between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seqcourse.viz.drawing.formulas import SMALL, for_svg, length

#: The four sides of a box (left, top, right, bottom) and the way out of each.
AWAY = {"l": (-1, 0), "t": (0, -1), "r": (1, 0), "b": (0, 1)}
WIDTHS = {True: 692, False: 340}  # units of the wide and of the narrow form; one unit is one pixel


class Box:
    """A box: edges l, t, r, b, middle cx, cy, marks (SVG) in it, and parts that move with it.

    Things are lined up by their middles. Labels reach beyond the box (`outer`) and keep others away.
    """

    def __init__(self, w: float = 0, h: float = 0, l: float = 0, t: float = 0) -> None:  # noqa: E741
        self.l, self.t, self.w, self.h, self.marks = l, t, w, h, ""
        self.reach = dict(l=0.0, t=0.0, r=0.0, b=0.0)
        self.parts: list[Box] = []  # rows of a matrix, or what a group holds
        self.cells: list[Box] = []  # single numbers
        self.wholes: list[Box] = []  # what holds this thing
        self.appears, self.leaves, self.lit = 1, 0, set[int]()

    @property
    def r(self) -> float:
        return self.l + self.w

    @property
    def b(self) -> float:
        return self.t + self.h

    @property
    def cx(self) -> float:
        return self.l + self.w / 2

    @property
    def cy(self) -> float:
        return self.t + self.h / 2

    def hold(self, where: list[Box], things: Iterable[Box]) -> None:
        for thing in things:
            where.append(thing)
            thing.wholes.append(self)

    def outer(self, side: str) -> float:
        """The edge at a side, its labels included."""
        return getattr(self, side) + sum(AWAY[side]) * self.reach[side]

    def move(self, dx: float, dy: float) -> Box:
        self.l, self.t = self.l + dx, self.t + dy
        for part in self.parts + self.cells:
            part.move(dx, dy)
        return self

    def beside(self, other: Box, side: str, gap: float = 16) -> Box:
        """Move to a side of another thing, in line with it."""
        back = dict(l="r", r="l", t="b", b="t")[side]
        by = other.outer(side) + sum(AWAY[side]) * gap - self.outer(back)
        return self.move(by, other.cy - self.cy) if side in "lr" else self.move(other.cx - self.cx, by)

    def rect(
        self, x: float, y: float, w: float, h: float, kind: str, rx: float = 6, more: str = ""
    ) -> None:
        self.marks += (
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{rx:g}"{more}/>'
        )

    def write(
        self, x: float, y: float, text: str, size: float = 13, kind: str = "", anchor: str = "m"
    ) -> None:
        """A line of text with its middle at height y. Kinds: b bold, mu muted, t-q in q's colour."""
        named = f"a-{anchor} {kind}".strip()
        at = f'x="{x:g}" y="{y + 0.35 * size:.1f}"'
        self.marks += f'<text class="{named}" {at} font-size="{size:g}">{for_svg(text, size)}</text>'

    def say(self, text: str, side: str, size: float = 13, kind: str = "", at: Box | None = None) -> Any:
        """A label at a side (at the height of the cell `at`); a second one stands further out."""
        long, gap, far = length(text, size), dict(t=6, b=4).get(side, 7), self.reach[side]
        if side in "lr":
            x, y = -far - gap if side == "l" else self.w + far + gap, (at or self).cy - self.t
            self.write(x, y, text, size, kind, "e" if side == "l" else "s")
            self.reach[side] += gap + long
            return self
        y = far + gap + 0.6 * size
        self.write(self.w / 2, -y if side == "t" else self.h + y, text, size, kind)
        self.reach[side] += gap + 1.25 * size
        for end in "lr":
            self.reach[end] = max(self.reach[end], (long - self.w) / 2)
        return self

    def named(self, name: str, role: str, size: str = "", side: str = "b", at: Box | None = None) -> Any:
        """A name (or the formula that makes it) in the role's colour, and its shape; see `say`."""
        lines = [(name, 15, f"b t-{role}"), (size, 13, "mu")]
        for text, big, kind in lines if side == "b" else lines[::-1]:
            if text:
                self.say(text, side, big, kind, at)
        return self

    def rows(self, words: Sequence[str]) -> Any:
        """The words of a matrix's rows, to the left of it."""
        for word, part in zip(words, self.parts, strict=True):
            self.write(-7, part.cy - self.t, word, 12.5, "w", "e")
        self.reach["l"] = 9 + max(length(word, 12.5) for word in words)
        return self

    def columns(self, words: Sequence[str], side: str = "b") -> Any:
        """The words of a matrix's columns, below it or above it."""
        for word, part in zip(words, self.cells or self.parts, strict=False):
            y = self.h + 12 if side == "b" else -12
            self.write(part.cx - self.l, y, word, 12 if part.w > 38 else SMALL, "w")
        self.reach[side] += 18
        return self


class Around(Box):
    """The box around things, wherever they are; moved, it moves them. A `pad` takes in labels."""

    def __init__(self, things: Iterable[Box], pad: float | None = None, head: float = 0) -> None:
        self.pad, self.head = pad, head
        super().__init__()
        self.hold(self.parts, things)

    def edge(self, side: str) -> float:
        parts = getattr(self, "parts", [])
        if not parts:
            return 0
        far = min if side in "lt" else max
        if self.pad is None:
            return far(getattr(part, side) for part in parts)
        room = sum(AWAY[side]) * self.pad - self.head * (side == "t")
        return far(part.outer(side) for part in parts) + room

    def outer(self, side: str) -> float:
        own = super().outer(side)
        if self.pad is not None:
            return own
        return (min if side in "lt" else max)(own, *(part.outer(side) for part in self.parts))

    # What it holds decides: `move` and the constructor set these in vain.
    l = property(lambda self: self.edge("l"), lambda self, value: None)  # noqa: E741
    t = property(lambda self: self.edge("t"), lambda self, value: None)
    w = property(lambda self: self.edge("r") - self.edge("l"), lambda self, value: None)
    h = property(lambda self: self.edge("b") - self.edge("t"), lambda self, value: None)


def way(a: Box, b: Box, sides: str = "", by: float | tuple[float, float] = 0) -> list[list[float]]:
    """The corners of a way out of a side of box a and into a side of box b, at right angles.

    ``sides`` is a pair such as "bl" (out at the bottom, in from the left) or "" to choose; ``by`` is
    how far it goes before its first turn (a pair: and before it arrives).
    """
    if not sides:
        level = min(a.b, b.b) - max(a.t, b.t) > 4
        sides = ("rl" if b.cx > a.cx else "lr") if level else "bt" if b.cy > a.cy else "tb"
    ends = []
    for box, side in ((a, sides[0]), (b, sides[1])):
        dx, dy = AWAY[side]
        at = box.outer(side) + 3 * (dx + dy) * bool(box.w)
        ends.append([at if dx else box.cx, at if dy else box.cy])
    out, into = AWAY[sides[0]], AWAY[sides[1]]
    first, last = by if isinstance(by, tuple) else (by, by)
    p, q = ends
    n = 0 if out[0] else 1  # it leaves along axis n (0: x, 1: y); m is the other axis
    m = 1 - n

    def corner(along: float, across: float) -> list[float]:
        return [along, across] if n == 0 else [across, along]

    if into[n] == -out[n]:  # straight on, or with a step to the side
        edges = [(a.l, a.r, b.l, b.r), (a.t, a.b, b.t, b.b)][m]
        low, high = max(edges[0], edges[2]), min(edges[1], edges[3])
        if high - low > 4:
            p[m] = q[m] = (low + high) / 2
            return [p, q]
        turn = p[n] + out[n] * first if first else (p[n] + q[n]) / 2
        return [p, corner(turn, p[m]), corner(turn, q[m]), q]
    if into[n] == out[n]:  # out and back in on the same side
        turn = out[n] * (max(out[n] * p[n], out[n] * q[n]) + (first or 16))
        return [p, corner(turn, p[m]), corner(turn, q[m]), q]
    if (q[m] - p[m]) * into[m] < 0 and (q[n] - p[n]) * out[n] > 0:  # one corner
        return [p, corner(q[n], p[m]), q]
    turn, side = p[n] + out[n] * (first or 16), q[m] + into[m] * (last or 16)  # the long way round
    return [p, corner(turn, p[m]), corner(turn, side), corner(q[n], side), q]


class Layout:
    """The vocabulary of layout. A drawing is laid out twice: wide, and narrow for a phone."""

    def __init__(self, wide: bool) -> None:
        self.wide, self.w = wide, WIDTHS[wide]

    def new(self, w: float = 0, h: float = 0, thing: Box | None = None) -> Box:
        raise NotImplementedError

    def pick(self, wide: Any, narrow: Any) -> Any:
        """One of the two: mostly another table, or a smaller gap."""
        return wide if self.wide else narrow

    def table(
        self,
        rows: Sequence[Sequence[Box | None]],
        across: float = 24,
        down: float = 24,
        even: bool = False,
    ) -> Box:
        """Things in rows and columns (None: nothing); the middles of each row and column are in line.

        ``even``: all columns are equally far apart.
        """
        columns = list(zip(*rows, strict=True))
        self._line_up(columns, "l", "r", "cx", across, even)
        self._line_up(rows, "t", "b", "cy", down, False)
        return self.group(*(thing for row in rows for thing in row if thing))

    def _line_up(self, lines: Any, low: str, high: str, middle: str, gap: float, even: bool) -> None:
        at: list[float] = []
        for k, line in enumerate(lines):
            near = []
            for j in range(k):
                for a, b in zip(line, lines[j], strict=True):
                    if a and b:
                        before = at[j] + b.outer(high) - getattr(b, middle)
                        near.append(before + gap + getattr(a, middle) - a.outer(low))
            at.append(max(near, default=at[-1] + gap if at else 0))
        if even:
            widest = max((b - a for a, b in zip(at, at[1:], strict=False)), default=0)
            at = [k * widest for k in range(len(at))]
        for line, place in zip(lines, at, strict=True):
            for thing in filter(None, line):
                by = place - getattr(thing, middle)
                thing.move(*((by, 0) if middle == "cx" else (0, by)))

    def group(self, *things: Box) -> Box:
        """Things that from now on move as one."""
        return self.new(thing=Around(things))

    def row(self, *things: Box, gap: float = 24) -> Box:
        return self.table([things], across=gap)

    def column(self, *things: Box, gap: float = 24) -> Box:
        return self.table([[thing] for thing in things], down=gap)

    def along(self, *things: Box, gap: float = 24) -> Box:
        """A row; in the narrow form a column."""
        return (self.row if self.wide else self.column)(*things, gap=gap)

    def across(self, *things: Box, gap: float = 24) -> Box:
        """A column; in the narrow form a row."""
        return (self.column if self.wide else self.row)(*things, gap=gap)
