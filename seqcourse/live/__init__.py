"""Trained models that run in the rendered page, without a server, also from a folder on disk.

An author writes ::

    live.translate({"en-es-fixed": "Without attention"}, "A sentence", ["we are eating bread"])

With a kernel that is a form which PyTorch answers. In the rendered book a reader's browser loads the
model at the first touch and computes; without JavaScript the first example is there to be read.

Modules: `page`, `choosing`, `clothes`, `speech` (what an author calls), `figure` (the frame of every
figure), `pack` (a checkpoint as scripts), `sphinx` (the extension that puts both into a site). The
folder `runtime` holds the JavaScript: `start` is what a page loads first; `numbers`, `layers`, `models`,
`search`, `text`, `subwords`, `system`, and for other inputs `pronouncing`, `clothes`, `sound` and
`speller` compute, in a worker that `worker` starts of their own text; `show` and the views
`translating`, `choosing`, `writing`, `phonemes`, `drawing`, `listening` show the answers.
"""

from seqcourse.live.choosing import sample, tree
from seqcourse.live.clothes import see
from seqcourse.live.page import fill, heads, translate, write
from seqcourse.live.speech import listen, pronounce

__all__ = ["fill", "heads", "listen", "pronounce", "sample", "see", "translate", "tree", "write"]
