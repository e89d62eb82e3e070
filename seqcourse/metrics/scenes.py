"""Exact match of what captions say: the things, how many of each, and how they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from seqcourse.metrics.pairs import same_length


class Said(Protocol):
    """What a caption says, as ``seqcourse.data.grammar.read_caption`` reads it.

    counts: (name, colour or None) -> how many; relations: what it says of how two things lie, with
    every way of saying the same.
    """

    counts: Mapping[tuple[str, str | None], int]

    @property
    def relations(self) -> frozenset[Hashable]: ...


@dataclass(frozen=True)
class CaptionMatch:
    """Shares from 0 to 1, all of them over pictures but ``object_words``.

    object_words: the share of the names in the right captions that the outputs say, too.
    objects: the outputs name exactly the things that are there; colours: and with exactly the
        colours that are told; counts: exactly as many of each name.
    relations: where the right captions tell a relation, the output tells one of them, of these things.
    whole: everything is right at once, colours, counts and the relation.
    readable: the output is a sentence of the grammar; one that is not is wrong in all the rest.
    pictures, related: how many there are, and how many have a relation; without any, ``relations``
        is NaN.
    """

    object_words: float
    objects: float
    colours: float
    counts: float
    relations: float
    whole: float
    readable: float
    pictures: int
    related: int

    def __str__(self) -> str:
        return (
            f"object words {self.object_words:.3f}, objects {self.objects:.3f}, colours "
            f"{self.colours:.3f}, counts {self.counts:.3f}, relations {self.relations:.3f} (of "
            f"{self.related}), whole {self.whole:.3f} ({self.pictures} pictures)"
        )


def caption_match(outputs: Sequence[Said | None], right: Sequence[Sequence[Said]]) -> CaptionMatch:
    """Compare captions with all the right captions of their pictures.

    Args:
        outputs: what each output says, or None where it cannot be read.
        right: for each picture what its right captions say. They agree on the things and their
            numbers and may tell different relations.

    Raises:
        ValueError: the lists do not fit, or a picture has no right caption.
    """
    same_length(outputs=outputs, right=right)
    tally: Counter[str] = Counter()
    for picture, (said, known) in enumerate(zip(outputs, right, strict=True)):
        if not known or any(one is None for one in known):
            raise ValueError(
                f"picture {picture} should have right captions that can be read, but it has "
                f"{list(known)!r}."
            )
        told = frozenset().union(*(one.relations for one in known))
        there = _by_name(known[0])
        tally["words"] += len(there)
        tally["related"] += bool(told)
        if said is None:
            continue
        ours = _by_name(said)
        related = bool(told & said.relations)
        tally["readable"] += 1
        tally["object words"] += len(there.keys() & ours.keys())
        tally["objects"] += there.keys() == ours.keys()
        tally["colours"] += said.counts.keys() == known[0].counts.keys()
        tally["counts"] += there == ours
        tally["relations"] += related
        tally["whole"] += said.counts == known[0].counts and (related or not (told or said.relations))
    pictures = len(outputs)
    return CaptionMatch(
        object_words=tally["object words"] / tally["words"],
        objects=tally["objects"] / pictures,
        colours=tally["colours"] / pictures,
        counts=tally["counts"] / pictures,
        relations=tally["relations"] / tally["related"] if tally["related"] else float("nan"),
        whole=tally["whole"] / pictures,
        readable=tally["readable"] / pictures,
        pictures=pictures,
        related=tally["related"],
    )


def _by_name(said: Said) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (name, _), count in said.counts.items():
        counts[name] += count
    return counts
