"""Questions about a scene whose answers follow from its things and their geometry."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from seqcourse.data import geometry
from seqcourse.data.grammar import NUMBERS, OPPOSITE
from seqcourse.data.pictures import kinds
from seqcourse.data.scenes import Scene, Thing

QUESTION_KINDS = ("how many", "what colour", "what is where")
_SIDES = ("left of", "right of", "above", "below")


@dataclass(frozen=True)
class Question:
    """A question about a scene, in lower case with the question mark apart, and its answer.

    kind: "how many" (answers "zero" to "four"), "what colour" (a colour) or "what is where" (a name).
    """

    text: str
    answer: str
    kind: str


def questions(scene: Scene) -> list[Question]:
    """Every question about the scene that has one right answer.

    Three kinds: how many there are of each thing, and of one thing that is absent; what colour a thing
    has, if the data names its colour; what is left of, right of, above or below a thing, if exactly
    one thing clearly is and no other nearly is.
    """
    return [*_how_many(scene), *_what_colour(scene), *_what_is_where(scene)]


def _how_many(scene: Scene) -> list[Question]:
    plurals = {kind.name: kind.plural for kind in kinds()}
    counts = Counter(thing.name for thing in scene.things)
    rng = random.Random(f"absent {scene.number} {scene.caption}")
    absent = rng.choice([kind.name for kind in kinds("train") if kind.name not in counts])
    return [
        Question(f"how many {plurals[name]} are there ?", NUMBERS[counts[name]], "how many")
        for name in (*counts, absent)
    ]


def _what_colour(scene: Scene) -> list[Question]:
    colours: dict[str, set[str | None]] = {}
    for thing in scene.things:
        colours.setdefault(thing.name, set()).add(thing.colour)
    counts = Counter(thing.name for thing in scene.things)
    plurals = {kind.name: kind.plural for kind in kinds()}
    asked = []
    for name, found in colours.items():
        colour = next(iter(found))
        if len(found) == 1 and colour:
            what = f"is the {name}" if counts[name] == 1 else f"are the {plurals[name]}"
            asked.append(Question(f"what colour {what} ?", colour, "what colour"))
    return asked


def _what_is_where(scene: Scene) -> list[Question]:
    counts = Counter((thing.name, thing.colour) for thing in scene.things)
    of_one_name = Counter(name for name, _ in counts)
    asked = []
    for thing in scene.things:
        if counts[thing.name, thing.colour] > 1:
            continue
        others = [other for other in scene.things if other is not thing]
        called = thing.name if of_one_name[thing.name] == 1 else f"{thing.colour} {thing.name}"
        for side in _SIDES:
            clearly = [other for other in others if geometry.relation(other.box, thing.box) == side]
            nearly = [other for other in others if _leans(other, thing, side)]
            if len(clearly) == 1 and nearly == clearly:
                text = f"what is {side} the {called} ?"
                asked.append(Question(text, clearly[0].name, "what is where"))
    return asked


def _leans(other: Thing, thing: Thing, side: str) -> bool:
    """Whether the other's centre is even roughly on that side."""
    (x, y), (to_x, to_y) = geometry.centre(thing.box), geometry.centre(other.box)
    ahead = {"left of": x - to_x, "right of": to_x - x, "above": y - to_y, "below": to_y - y}
    return ahead[side] > 0 and ahead[side] > 0.5 * max(ahead[s] for s in OPPOSITE if s in ahead)
