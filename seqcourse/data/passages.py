"""Passages of the children's books, for classifiers that name the author."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from seqcourse.data.books import load_books, paragraphs
from seqcourse.errors import CourseError

PASSAGE_WORDS = 20  # the fewest words in a passage of whole sentences
_SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z])")


@dataclass(frozen=True)
class Passage:
    """Consecutive sentences, and the index of their book in ``CHILDREN``."""

    text: str
    author: int


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, split where a full stop and a capital letter meet."""
    ends = [0, *(match.end() for match in _SENTENCE.finditer(paragraph)), len(paragraph)]
    parts = (paragraph[a:b].strip() for a, b in zip(ends, ends[1:], strict=False))
    return [part for part in parts if part]


def load_passages(split: str = "train", each: int | None = None, seed: int = 0) -> list[Passage]:
    """Passages of all four books from the same part of each, see :func:`load_books`.

    Args:
        split: "train", "valid" or "test".
        each: how many to draw of each author; None for all.
        seed: of the draw and the order.

    Raises:
        CourseError: the split is unknown, or an author has fewer passages than asked for.
    """
    draw = random.Random(seed)
    chosen: list[Passage] = []
    for author, (name, text) in enumerate(load_books(split).items()):
        found = [Passage(passage, author) for passage in _passages(text, PASSAGE_WORDS)]
        if each is not None:
            if len(found) < each:
                raise CourseError(
                    f"{each} passages of each author were asked for, but the split {split!r} has "
                    f"{len(found)} of {name}."
                )
            found = draw.sample(found, each)
        chosen += found
    draw.shuffle(chosen)
    return chosen


def _passages(text: str, words: int) -> list[str]:
    """Runs of sentences within a paragraph; a short rest at its end is dropped."""
    found = []
    for paragraph in paragraphs(text):
        run: list[str] = []
        for sentence in sentences(paragraph):
            run.append(sentence)
            if sum(len(part.split()) for part in run) >= words:
                found.append(" ".join(run))
                run = []
    return found
