"""Pictures and things to touch: heat maps, alignments, curves, beams, sliders, polls, predictions.

Every drawing function returns the matplotlib axes. ``explore``, ``poll``, ``predict``, ``by_hand``,
``inventory`` and ``type_in`` are widgets when a kernel runs, and self-contained HTML while the book is
built.
"""

from seqcourse.viz.by_hand import by_hand
from seqcourse.viz.explore import explore
from seqcourse.viz.heads import heads
from seqcourse.viz.inventory import inventory
from seqcourse.viz.listen import Heard, listen
from seqcourse.viz.looks import look, looks
from seqcourse.viz.mask_painter import mask_painter
from seqcourse.viz.plots import alignment, bars, curves, heatmap
from seqcourse.viz.poll import ask, poll
from seqcourse.viz.predict import predict
from seqcourse.viz.predictions import predicted
from seqcourse.viz.style import COLOURS, DIVERGING, SEQUENTIAL, use_style
from seqcourse.viz.table import numbers, table
from seqcourse.viz.tree import beam_tree
from seqcourse.viz.type_in import type_in
from seqcourse.viz.vectors import vectors

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "Heard",
    "alignment",
    "ask",
    "bars",
    "beam_tree",
    "by_hand",
    "curves",
    "explore",
    "heads",
    "heatmap",
    "inventory",
    "listen",
    "look",
    "looks",
    "mask_painter",
    "numbers",
    "poll",
    "predict",
    "predicted",
    "table",
    "type_in",
    "use_style",
    "vectors",
]
