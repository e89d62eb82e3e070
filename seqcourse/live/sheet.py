"""The cut-out photographs and the grounds of scenes as one script, from which a page composes scenes."""

from __future__ import annotations

import json
import random
from functools import cache

import numpy

from seqcourse.data import backgrounds, load_pictures
from seqcourse.data.arrange import BACKGROUND
from seqcourse.data.pictures import Picture
from seqcourse.live.figure import png

SIZE = 64  # pixels of a scene's side
_WIDTH = 144  # of the sheet: colours on the left, opacity from the middle on
_DRAWN = {
    "clouds": backgrounds.clouds,
    "stripes": backgrounds.stripes,
    "checks": backgrounds.checks,
    "grain": backgrounds.grain,
}
_PLAIN = {"plain": BACKGROUND, "sand": (214, 190, 146), "sky": (150, 190, 222), "dusk": (96, 90, 110)}


@cache
def things() -> dict[str, Picture]:
    """What ``data.arrange`` calls each thing, "tiger" or "red tomato" -> the picture that it takes."""
    found: dict[str, Picture] = {}
    for picture in load_pictures():
        found.setdefault(f"{picture.colour} {picture.name}" if picture.colour else picture.name, picture)
    return dict(sorted(found.items()))


@cache
def grounds() -> dict[str, numpy.ndarray]:
    """Name of a ground -> its picture (64, 64, 3)."""
    found = {
        name: numpy.broadcast_to(numpy.uint8(colour), (SIZE, SIZE, 3)) for name, colour in _PLAIN.items()
    }
    for name, draw in _DRAWN.items():
        found[name] = draw(random.Random(f"ground {name}"), SIZE)
    return found


@cache
def script() -> str:
    """All things and grounds as one PNG picture without opacity, which a page reads without any loss.

    A picture with opacity would come back from a page's canvas a little changed. So a thing's colours
    stand on the left, its opacity as grey on the right; things and grounds stand one below the other.
    """
    rows, entries = [], []
    for name, picture in things().items():
        height, width = picture.pixels.shape[:2]
        row = numpy.zeros((height, _WIDTH, 3), numpy.uint8)
        row[:, :width] = picture.pixels[..., :3] * (picture.pixels[..., 3:] > 0)
        row[:, _WIDTH // 2 : _WIDTH // 2 + width] = picture.pixels[..., 3:]
        rows.append(row)
        entries.append([name, width, height, picture.part == "train"])
    for ground in grounds().values():
        rows.append(numpy.pad(ground, ((0, 0), (0, _WIDTH - SIZE), (0, 0))))
    sheet = {"things": entries, "grounds": list(grounds()), "picture": png(numpy.concatenate(rows))}
    return f"seqlive.sheet={json.dumps(sheet, separators=(',', ':'))};\n"
