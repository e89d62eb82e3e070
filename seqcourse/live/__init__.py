"""Trained models that run in the rendered page, without a server, also from a folder on disk.

An author writes ::

    live.translate({"en-es-fixed": "Without attention"}, "A sentence", ["we are eating bread"])

With a kernel that is a form which PyTorch answers. In the rendered book a reader's browser loads the
model at the first touch and computes; without JavaScript the first example is there to be read.

Modules: `page`, `room`, `choosing`, `slips`, `elsewhere`, `plane`, `scenes`, `fitting`, `clothes`,
`speech` (what an author calls), `figure` (the frame of every figure), `bands` (attention as bands),
`pack` (a checkpoint as scripts), `sheet` (what scenes are composed of, as a script), `sphinx` (the
extension that puts all of it into a site). The folder `runtime` holds the JavaScript: `start` is what
a page loads first; `numbers`, `layers`, `models`, `search`, `text`, `subwords`, `system`, and for
other inputs `pictures`, `pronouncing`, `clothes`, `sound` and `speller` compute, in a worker that
`worker` starts of their own text; `show`, `bands` and the views `translating`, `choosing`, `writing`,
`phonemes`, `drawing`, `listening` show the answers. `scenes` draws a scene pixel by pixel as Python
does, `looks` shows where a model looked at it, `compose` lets a reader change it, `fitting` shows
which picture a caption fits.

Two figures have parts of their own, which only their pages load. `elsewhere` lets a decoder look at
one position only. In the machine room's worker `tracing` keeps every number of a Transformer, of a
decoder alone, or of a captioner's decoder, with what `changing` knows of the reader's changes;
`machine` answers, and `origins`, `origins_of_parts` and `credit` say where a number comes from. In
the page `room` has the state, `room_floor` the tiles and maps, `room_lens` the sums, `room_changes`
chips and links, `room_tour` the stops, whose texts are in `room.toml` and `room_of_a_row.toml`.
"""

from seqcourse.live.choosing import sample, tree
from seqcourse.live.clothes import see
from seqcourse.live.elsewhere import elsewhere
from seqcourse.live.fitting import fit
from seqcourse.live.page import cells, classify, fill, merge, translate, write
from seqcourse.live.plane import plane
from seqcourse.live.room import room
from seqcourse.live.scenes import ask, caption
from seqcourse.live.slips import slip
from seqcourse.live.speech import listen, pronounce

__all__ = [
    "ask", "caption", "cells", "classify", "elsewhere", "fill", "fit", "listen", "merge",
    "plane", "pronounce", "room", "sample", "see", "slip", "translate", "tree", "write",
]  # fmt: skip
