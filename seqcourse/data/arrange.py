"""A scene put together by hand: which things, where, how large, on a plain ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from seqcourse.data import grammar, places
from seqcourse.data.pictures import load_pictures
from seqcourse.data.scenes import Scene, Thing
from seqcourse.errors import CourseError

GROUND = (150, 170, 150)


def arrange(
    things: Sequence[tuple[str, float, float, float]],
    size: int = 64,
    ground: tuple[int, int, int] = GROUND,
) -> Scene:
    """A scene of your own, to move things about in.

    ::

        arrange([("tiger", 20, 30, 28), ("red tomato", 48, 40, 20)]).caption

    Args:
        things: for each its name, with its colour if it has one, the middle of its place (x, y) and its
            longer side, all in pixels. Of several pictures of that name the first is taken. What would
            lie beyond the edge is moved inside.
        size: side of the picture in pixels.
        ground: red, green, blue, 0 to 255.

    Returns:
        The scene; its number is -1. Things of one name count together in its caption, which is empty
        where there are more of a kind than the grammar can count, more than four.

    Raises:
        CourseError: a thing that no picture shows, or one that has no room.
    """
    from PIL import Image

    canvas = Image.new("RGB", (size, size), ground)
    counts: dict = {}
    placed = []
    for name, x, y, side in things:
        picture = _picture(name)
        image = Image.fromarray(picture.pixels)
        scale = side / max(image.size)
        width, height = (max(1, round(length * scale)) for length in image.size)
        if side <= 0 or max(width, height) > size:
            raise CourseError(f"{name} should be 1 to {size} pixels large, but {side} were asked for.")
        left = min(max(0, round(x - width / 2)), size - width)
        top = min(max(0, round(y - height / 2)), size - height)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
        canvas.paste(image, (left, top), image)
        kind = picture.kind
        counts[kind] = counts.get(kind, 0) + 1
        box = (left, top, left + width, top + height)
        placed.append(Thing(kind.name, kind.name_es, kind.colour, box))
    groups = list(counts.items())
    single = len(placed) == len(groups) == 2
    found = places.relations(placed[0].box, placed[1].box, size) if single else ()
    relation = found[0] if found else None
    image = numpy.array(canvas)
    if max(counts.values()) >= len(grammar.NUMBERS):
        return Scene(image, tuple(placed), "", "", (), -1)
    told, told_es = grammar.caption(groups, relation), grammar.caption_es(groups, relation)
    return Scene(image, tuple(placed), told, told_es, (told,), -1, (told_es,))


def _picture(name: str):
    for picture in load_pictures():
        if name in (picture.name, f"{picture.colour} {picture.name}"):
            return picture
    known = ", ".join(sorted({p.name for p in load_pictures()}))
    raise CourseError(f"No picture shows {name!r}. There are: {known}.")
