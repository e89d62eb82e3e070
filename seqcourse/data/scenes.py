"""Scenes of one to four cut-out photographs, with captions, places and questions.

The number of a scene and its split alone determine the scene.

==========  =====================================================================================
train       things and pairs of things to learn from
valid       every scene holds a pair of things that no training scene and no test scene shows
test        every scene holds a pair of things that no training scene and no validation scene shows
unseen      every scene holds a thing that no scene of the others shows
==========  =====================================================================================
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy

from seqcourse.data import backgrounds, geometry, grammar
from seqcourse.data.geometry import Box
from seqcourse.data.pictures import Kind, Picture, kinds, load_pictures
from seqcourse.data.splits import check_split, fraction_of
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

SCENE_SPLITS = ("train", "valid", "test", "unseen")
SMALLEST = 32  # pixels of a scene's side
# How many things of each kind -> in how many of a hundred scenes.
_PATTERNS = {
    (1,): 12,
    (2,): 9,
    (3,): 6,
    (4,): 3,
    (1, 1): 42,
    (1, 2): 12,
    (1, 3): 4,
    (2, 2): 2,
    (1, 1, 1): 7,
    (1, 1, 2): 3,
}
_ARRANGEMENTS = {"near": 25, "far": 25, "upright": 30, "slanting": 20}  # of two single things
# How many things -> their longer side, from and to, as a share of the scene's.
_SIDES = {1: (0.4, 0.75), 2: (0.3, 0.5), 3: (0.28, 0.42), 4: (0.26, 0.38)}
_MOST_COVERED = 0.05  # of the smaller of two boxes
_TRIES = 600


@dataclass(frozen=True)
class Thing:
    """One object of a scene: its names, its colour if the data names one, its box in pixels.

    box: (x0, y0, x1, y1), counted from the upper left corner, x1 and y1 exclusive.
    """

    name: str
    name_es: str
    colour: str | None
    box: Box


@dataclass(frozen=True)
class Scene:
    """A composed picture with its captions.

    image: (size, size, 3) red, green, blue, 0 to 255, uint8; caption, caption_es: one correct caption
    in English and its translation into Spanish; references, references_es: every correct caption of the
    grammar; number: which scene of its split this is.
    """

    image: numpy.ndarray
    things: tuple[Thing, ...]
    caption: str
    caption_es: str
    references: tuple[str, ...]
    number: int
    references_es: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """What scenes are like.

    patterns: how many things of each kind -> in how many of a hundred scenes; sides: how many things ->
    their longer side, from and to, as a share of the scene's; ground: the generator and a size to a
    picture (size, size, 3) of type uint8, or None for those drawn by code; finish: changes the
    painted picture.
    """

    patterns: Mapping[tuple[int, ...], int] = field(default_factory=lambda: _PATTERNS)
    sides: Mapping[int, tuple[float, float]] = field(default_factory=lambda: _SIDES)
    ground: Callable[[random.Random, int], numpy.ndarray] | None = None
    finish: Callable[[random.Random, Image.Image], Image.Image] | None = None


DRAWN = Style()  # clean things on grounds drawn by code


@cache
def pair_split(first: str, second: str) -> str:
    """The split that a pair of names belongs to; two things of the same name are always in "train".

    A tenth of all pairs is kept for the test and a twentieth for validation.
    """
    if first == second:
        return "train"
    fraction = fraction_of("|".join(sorted((first, second))), salt="scenes")
    return "test" if fraction < 0.10 else "valid" if fraction < 0.15 else "train"


def compose(number: int, split: str = "train", size: int = 64, style: Style = DRAWN) -> Scene:
    """Make scene ``number`` of a split; the same number makes the same scene on every machine.

    Args:
        number: 0, 1, 2, ...
        split: "train", "valid", "test" or "unseen".
        size: side of the picture in pixels.
        style: how many things, how large, on what ground.

    Raises:
        CourseError: no such split; a number below 0; a picture too small to show four things.
    """
    check_split(split, SCENE_SPLITS)
    if number < 0:
        raise CourseError(f"Scenes are numbered 0, 1, 2, ..., not {number}.")
    if size < SMALLEST:
        raise CourseError(f"A scene has {SMALLEST} pixels a side or more, not {size}.")
    rng = random.Random(f"{split} scene {number}")
    pattern = _pattern(rng, split, style.patterns)
    groups = [*zip(_choose(rng, split, len(pattern)), pattern, strict=True)]
    rng.shuffle(groups)
    shown = [rng.choice(_pictures()[kind]) for kind, count in groups for _ in range(count)]
    arrangement = _draw(rng, _ARRANGEMENTS) if pattern == (1, 1) else ""
    boxes = _arrange(rng, [_image(each).size for each in shown], size, arrangement, style.sides)
    image = _paint(rng, shown, boxes, size, style)
    things = tuple(
        Thing(each.kind.name, each.kind.name_es, each.kind.colour, box)
        for each, box in zip(shown, boxes, strict=True)
    )
    found = geometry.relations(*boxes, size) if pattern == (1, 1) else ()
    correct = _captions(groups, found)
    return Scene(
        image,
        things,
        grammar.caption(*correct[0]),
        grammar.caption_es(*correct[0]),
        tuple(grammar.caption(*each) for each in correct),
        number,
        tuple(grammar.caption_es(*each) for each in correct),
    )


def load_scenes(split: str = "train", count: int = 1000, size: int = 64, start: int = 0) -> list[Scene]:
    """The scenes ``start`` to ``start + count - 1`` of a split.

    Raises:
        CourseError: as for :func:`compose`.
    """
    return [compose(number, split, size) for number in range(start, start + count)]


def word_boxes(caption: str, things: Sequence[Thing]) -> list[tuple[int, tuple[Box, ...]]]:
    """For every thing that an English caption names: the place of its word, and its possible boxes.

    The place counts the caption's words from 0; for a name of two words it is the second word's. The
    boxes are those of all things with that name, and with that colour if the caption names one. If the
    thing is not in the scene, there are none. A caption that cannot be read gives [].
    """
    found = []
    for (name, colour), place in grammar.places_of_names(caption):
        boxes = (t.box for t in things if t.name == name and colour in (None, t.colour))
        found.append((place, tuple(boxes)))
    return found


@cache
def _pictures() -> dict[Kind, list[Picture]]:
    found: dict[Kind, list[Picture]] = {}
    for picture in load_pictures():
        found.setdefault(picture.kind, []).append(picture)
    return found


_IMAGES: dict[str, Image.Image] = {}


def _image(picture: Picture) -> Image.Image:
    if picture.file not in _IMAGES:
        from PIL import Image

        _IMAGES[picture.file] = Image.fromarray(picture.pixels)
    return _IMAGES[picture.file]


def _draw(rng: random.Random, shares: Mapping) -> object:
    return rng.choices(list(shares), list(shares.values()))[0]


def _pattern(rng: random.Random, split: str, patterns: Mapping) -> tuple[int, ...]:
    while True:
        pattern = list(_draw(rng, patterns))
        rng.shuffle(pattern)
        if len(pattern) > 1 or split in ("train", "unseen"):  # a single kind has no pair
            return tuple(pattern)


def _choose(rng: random.Random, split: str, count: int) -> list[Kind]:
    if split == "unseen":
        return [rng.choice(kinds("unseen")), *rng.sample(kinds("train"), count - 1)]
    while True:
        chosen = rng.sample(kinds("train"), count)
        splits = {pair_split(a.name, b.name) for a, b in combinations(chosen, 2)}
        if splits <= {"train", split} and (split == "train" or split in splits):
            return chosen


def _captions(groups: Sequence[grammar.Group], found: Sequence[str]) -> list[tuple]:
    """Groups and relation of every correct caption; the first is the scene's own."""
    if not found:
        return [(order, None) for order in permutations(groups)]
    first, second = groups
    given = [((first, second), relation) for relation in found]
    return given + [((second, first), grammar.OPPOSITE[relation]) for relation in found]


def _arrange(
    rng: random.Random,
    shapes: Sequence[tuple[int, int]],
    size: int,
    arrangement: str,
    sides: Mapping[int, tuple[float, float]],
) -> list[Box]:
    """Boxes with the shapes' proportions that fit the picture and the arrangement."""
    low, high = sides[len(shapes)]
    for attempt in range(_TRIES):
        smaller = 1 - 0.4 * attempt / _TRIES
        longer = [smaller * rng.uniform(low, high) * size * _long(shape) for shape in shapes]
        fitted = [
            tuple(min(size, max(4, round(length * side))) for length in shape)
            for shape, side in zip(shapes, longer, strict=True)
        ]
        boxes = []
        for width, height in fitted:
            x, y = rng.randint(0, size - width), rng.randint(0, size - height)
            boxes.append((x, y, x + width, y + height))
        if arrangement:
            boxes = _move(rng, boxes, size, arrangement)
        if boxes and _fits(boxes, size, arrangement):
            return boxes
    raise CourseError(f"There is no room for {len(shapes)} things in {size} pixels; choose more.")


def _long(shape: tuple[int, int]) -> float:
    """The factor of the longer side: long and thin things are shown somewhat larger."""
    longer, shorter = max(shape), min(shape)
    return min(1.3, (longer / shorter) ** 0.4) / longer


def _move(rng: random.Random, boxes: list[Box], size: int, arrangement: str) -> list[Box]:
    """Move the second of two boxes to the right of the first, or below it, by the wanted gap."""
    (x, y, right, bottom), (_, _, *_) = boxes
    width, height = boxes[1][2] - boxes[1][0], boxes[1][3] - boxes[1][1]
    to_x, to_y = boxes[1][0], boxes[1][1]
    near, far = int(geometry.NEAR * size), math.ceil(geometry.FAR * size)
    if arrangement == "near":
        to_x = right + rng.randint(0, near)
    elif arrangement == "far":
        to_x = right + rng.randint(far, max(far, size // 2))
    elif arrangement == "upright":
        to_y = bottom + rng.randint(0, size // 4)
    if to_x + width > size or to_y + height > size:
        return []
    moved = [boxes[0], (to_x, to_y, to_x + width, to_y + height)]
    if rng.random() < 0.5 and arrangement != "slanting":  # mirror the two places
        if arrangement == "upright":
            moved = [(a, size - d, c, size - b) for a, b, c, d in moved]
        else:
            moved = [(size - c, b, size - a, d) for a, b, c, d in moved]
    return moved


def _fits(boxes: Sequence[Box], size: int, arrangement: str) -> bool:
    if any(geometry.overlap(a, b) > _MOST_COVERED for a, b in combinations(boxes, 2)):
        return False
    if not arrangement:
        return True
    (x, y), (to_x, to_y) = map(geometry.centre, boxes)
    across, down = abs(to_x - x), abs(to_y - y)
    found = geometry.relation(*boxes)
    if arrangement == "slanting":  # clearly, so that no other relation fits
        return max(across, down) <= 1.5 * min(across, down)
    if arrangement == "upright":
        return found in ("above", "below") and down >= 2.5 * across
    return found in ("left of", "right of") and across >= 2.5 * down


def _paint(
    rng: random.Random, shown: Sequence[Picture], boxes: Sequence[Box], size: int, style: Style
) -> numpy.ndarray:
    from PIL import Image

    canvas = Image.fromarray((style.ground or backgrounds.background)(rng, size))
    for picture, (x0, y0, x1, y1) in zip(shown, boxes, strict=True):
        image = _image(picture)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        image = image.resize((x1 - x0, y1 - y0), Image.Resampling.BILINEAR)
        canvas.paste(image, (x0, y0), image)
    return numpy.array(style.finish(rng, canvas) if style.finish else canvas)
