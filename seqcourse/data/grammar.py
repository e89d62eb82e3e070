"""The small grammar of the scenes' captions: writing them in two languages, reading English ones.

caption  = group | group relation group | group ("and" group)+
group    = ("a" | "an") thing | ("two" | "three" | "four") things
thing    = [colour] name
relation = "left of" | "right of" | "above" | "below" | "next to"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from seqcourse.data.pictures import Kind, kinds

NUMBERS = ("zero", "one", "two", "three", "four")
NUMBERS_ES = ("cero", "uno", "dos", "tres", "cuatro")
# relation -> the relation seen from the other thing
OPPOSITE = {
    "left of": "right of",
    "right of": "left of",
    "above": "below",
    "below": "above",
    "next to": "next to",
}
RELATIONS = tuple(OPPOSITE)
RELATIONS_ES = {
    "left of": "a la izquierda de",
    "right of": "a la derecha de",
    "above": "encima de",
    "below": "debajo de",
    "next to": "al lado de",
}
# colour -> Spanish: masculine, feminine, and their plurals
COLOURS_ES = {
    "blue": ("azul", "azul", "azules", "azules"),
    "brown": ("marrón", "marrón", "marrones", "marrones"),
    "green": ("verde", "verde", "verdes", "verdes"),
    "pink": ("rosa", "rosa", "rosas", "rosas"),
    "red": ("rojo", "roja", "rojos", "rojas"),
    "white": ("blanco", "blanca", "blancos", "blancas"),
    "yellow": ("amarillo", "amarilla", "amarillos", "amarillas"),
}
COLOURS = tuple(COLOURS_ES)

_RELATING = frozenset(["and", *" ".join(RELATIONS).split()])

Group = tuple[Kind, int]  # what, and how many of it


@dataclass(frozen=True)
class Reading:
    """What a caption says.

    counts: (name, colour or None) -> how many; relation: (first, relation, second) with a
    (name, colour) for each of the two, or None if the caption has no relation.
    """

    counts: Mapping[tuple[str, str | None], int]
    relation: tuple[tuple[str, str | None], str, tuple[str, str | None]] | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names of the things, without their colours."""
        return frozenset(name for name, _ in self.counts)

    @property
    def relations(self) -> frozenset[tuple]:
        """The relation and the same from the other side: "a left of b" is "b right of a"."""
        if self.relation is None:
            return frozenset()
        first, relation, second = self.relation
        return frozenset([self.relation, (second, OPPOSITE[relation], first)])


def english(kind: Kind, count: int = 1) -> str:
    """A group in English: "a tiger", "an orange", "two red apples"."""
    words = [kind.colour] if kind.colour else []
    words.append(kind.name if count == 1 else kind.plural)
    if count > 1:
        return " ".join([NUMBERS[count], *words])
    return " ".join(["an" if words[0][0] in "aeiou" else "a", *words])


def spanish(kind: Kind, count: int = 1) -> str:
    """A group in Spanish: "un tigre", "una naranja", "dos manzanas rojas"."""
    article = "una" if kind.feminine else "un"
    words = [article if count == 1 else NUMBERS_ES[count]]
    words.append(kind.name_es if count == 1 else kind.plural_es)
    if kind.colour:
        words.append(COLOURS_ES[kind.colour][kind.feminine + 2 * (count > 1)])
    return " ".join(words)


def caption(groups: Sequence[Group], relation: str | None = None) -> str:
    """One caption in English, its groups in the order given."""
    between = f" {relation} " if relation else " and "
    return between.join(english(*group) for group in groups)


def caption_es(groups: Sequence[Group], relation: str | None = None) -> str:
    """The same caption in Spanish."""
    between = f" {RELATIONS_ES[relation]} " if relation else " y "
    return between.join(spanish(*group) for group in groups)


def read_caption(text: str) -> Reading | None:
    """What an English caption says, or None if it does not follow the grammar.

    Capital letters and a full stop do not matter. Names and colours may be unknown, so that a caption
    with a wrong name still has its counts and its relation.
    """
    text = " ".join(text.lower().rstrip(" .").split())
    relation = None
    for candidate in RELATIONS:
        parts = re.split(rf" {candidate} ", text)
        if len(parts) == 2 and relation is None and " and " not in text:
            relation, text = candidate, " and ".join(parts)
        elif len(parts) > 1:
            return None
    counts: dict[tuple[str, str | None], int] = {}
    order = []
    for part in text.split(" and "):
        found = _read_group(part.split())
        if found is None:
            return None
        thing, count = found
        counts[thing] = counts.get(thing, 0) + count
        order.append(thing)
    if relation is None:
        return Reading(counts)
    return Reading(counts, (order[0], relation, order[1]))


def places_of_names(text: str) -> list[tuple[tuple[str, str | None], int]]:
    """((name, colour or None), place of its last word) for every group of an English caption.

    A caption that cannot be read gives an empty list.
    """
    if read_caption(text) is None:
        return []
    words = text.lower().rstrip(" .").split()
    found, start = [], 0
    for place in range(1, len(words) + 1):
        if place == len(words) or words[place] in _RELATING:
            group = _read_group(words[start:place])
            if group:  # not the second word of "left of"
                found.append((group[0], place - 1))
            start = place + 1
    return found


def vocabulary(found: Iterable[Kind] | None = None) -> list[str]:
    """Every word of the English captions, sorted: of all pictures, or of the kinds given."""
    words = {"a", "an", "and", *NUMBERS[2:], *" ".join(RELATIONS).split()}
    for kind in kinds() if found is None else found:
        words.update(f"{kind.name} {kind.plural} {kind.colour or ''}".split())
    return sorted(words)


@cache
def _singulars() -> dict[str, str]:
    return {kind.plural: kind.name for kind in kinds()}


def _read_group(words: list[str]) -> tuple[tuple[str, str | None], int] | None:
    if len(words) < 2:
        return None
    first, *rest = words
    if first in ("a", "an"):
        count = 1
    elif first in NUMBERS[2:]:
        count = NUMBERS.index(first)
    else:
        return None
    colour = rest.pop(0) if rest[0] in COLOURS and len(rest) > 1 else None
    if _RELATING.intersection(rest):
        return None
    name = " ".join(rest)
    return (name if count == 1 else _singulars().get(name, name), colour), count
