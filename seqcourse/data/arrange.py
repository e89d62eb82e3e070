"""Scenes arranged by hand: you choose the things, their places and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from seqcourse.data import geometry, grammar
from seqcourse.data.pictures import load_pictures
from seqcourse.data.scenes import Scene, Thing
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

BACKGROUND = (150, 170, 150)


def arrange(
    things: Sequence[tuple[str, float, float, float]],
    size: int = 64,
    background: tuple[int, int, int] | numpy.ndarray = BACKGROUND,
) -> Scene:
    """Compose a scene of your own.

    ::

        arrange([("tiger", 20, 30, 28), ("red tomato", 48, 40, 20)]).caption

    Args:
        things: for each thing its name, with its colour if it has one, its centre (x, y) and its longer
            side, all in pixels. The first picture of that name is used. Things that would cross the
            edge are moved inside.
        size: side of the picture in pixels.
        background: red, green, blue, 0 to 255, or a picture (size, size, 3) of type uint8, such as
            ``backgrounds.stripes`` draws.

    Returns:
        The scene; its number is -1. The caption counts things of the same name together. It is empty if
        there are more than four of a kind, because the grammar cannot count further.

    Raises:
        CourseError: no picture shows a thing, a thing is larger than the picture, or the background
            has another size.
    """
    from PIL import Image

    ground = numpy.asarray(background, numpy.uint8)
    if ground.shape not in ((3,), (size, size, 3)):
        raise CourseError(
            f"The background should be three numbers or a picture ({size}, {size}, 3), but it is "
            f"{ground.shape}."
        )
    canvas = Image.fromarray(numpy.broadcast_to(ground, (size, size, 3)).copy())
    counts: dict = {}
    placed = []
    for name, x, y, side in things:
        picture = _picture(name)
        image = Image.fromarray(picture.pixels)
        scale = side / max(image.size)
        width, height = (max(1, round(length * scale)) for length in image.size)
        if side <= 0 or max(width, height) > size:
            raise CourseError(f"{name} should be 1 to {size} pixels large, not {side}.")
        left = min(max(0, round(x - width / 2)), size - width)
        top = min(max(0, round(y - height / 2)), size - height)
        image = _resized(image, width, height)
        canvas.paste(image, (left, top), image)
        kind = picture.kind
        counts[kind] = counts.get(kind, 0) + 1
        box = (left, top, left + width, top + height)
        placed.append(Thing(kind.name, kind.name_es, kind.colour, box))
    return _scene(numpy.array(canvas), placed, counts, size)


def _scene(image: numpy.ndarray, placed: list[Thing], counts: dict, size: int) -> Scene:
    """The scene with its caption, which is empty for more things than the grammar can count."""
    groups = list(counts.items())
    single = len(placed) == len(groups) == 2
    found = geometry.relations(placed[0].box, placed[1].box, size) if single else ()
    relation = found[0] if found else None
    if max(counts.values()) >= len(grammar.NUMBERS):
        return Scene(image, tuple(placed), "", "", (), -1)
    caption, caption_es = grammar.caption(groups, relation), grammar.caption_es(groups, relation)
    return Scene(image, tuple(placed), caption, caption_es, (caption,), -1, (caption_es,))


def _resized(image: Image.Image, width: int, height: int) -> Image.Image:
    """A cut-out in another size, first across, then down: left to itself, Pillow begins with one or the
    other depending on its version, and pages that compose the same scene could not be equal."""
    from PIL import Image

    weighted = image.convert("RGBa").resize((width, image.height), Image.Resampling.BILINEAR)
    return weighted.resize((width, height), Image.Resampling.BILINEAR).convert("RGBA")


def _picture(name: str):
    for picture in load_pictures():
        if name in (picture.name, f"{picture.colour} {picture.name}"):
            return picture
    known = ", ".join(sorted({p.name for p in load_pictures()}))
    raise CourseError(f"No picture shows {name!r}. There are: {known}.")
