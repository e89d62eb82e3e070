"""Drawings of mechanisms as inline SVG that step, all in one visual grammar.

Modules: colours by role (`roles`), texts with formulas (`formulas`), layout (`layout`), things and
lines (`canvas`), the page around them (`page`, `looks`). A chapter defines a function of a `Drawing`:

    def encoder(d):
        h = [d.vector("k", 4).named(f"$h_{t}$", "k", side="t") for t in (1, 2, 3)]
        x = [d.word(word) for word in "we eat bread".split()]
        d.arrow(x, h)
        d.chain(*h)
        d.table([h, x], across=d.pick(60, 30))

    drawing.show(encoder, "An encoder", "Three words go up into three states in a row.")
"""

from seqcourse.viz.drawing.canvas import Drawing
from seqcourse.viz.drawing.page import Drawn, show
from seqcourse.viz.roles import ROLES

__all__ = ["ROLES", "Drawing", "Drawn", "show"]
