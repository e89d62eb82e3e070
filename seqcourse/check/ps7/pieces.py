"""Exercise 7: byte-pair encoding, which joins the most frequent pair of neighbours again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy

from seqcourse.check.exercise import Exercise, hinted

Pair = tuple[str, str]

_KINDS = {
    "ordinary": "low lower lowest new newer newest wide wider slow slower the then there he her".split(),
    "repeated": "aaa aaaa banana ananas mississippi seessee oooo noon see".split(),
    "short": ["a", "b", "ab", "c", "ba"],
    "rare": "pqr stu vwx yza bcd efg hij klm no ace".split(),  # every pair is as frequent as the others
    "close": "ab ab ab abb ac abd ae".split(),  # once "ab" is joined, the others are equally frequent
}


def merges_arguments(kind: str, size: int, count: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `learn_merges`: so many words of a kind, some several times, and how many merges."""
    rng = numpy.random.default_rng(seed)
    words = _KINDS[kind]
    places = rng.permutation(len(words))
    drawn = [*places[: min(size, len(words))], *rng.integers(len(words), size=max(0, size - len(words)))]
    return {"words": [words[int(place)] for place in drawn], "count": count}


def join(word: Sequence[str], pair: Pair) -> list[str]:
    """The pieces of a word with every such pair of neighbours joined, from left to right."""
    joined: list[str] = []
    for piece in word:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def reference_learn_merges(words: Sequence[str], count: int) -> tuple[list[Pair], list[list[str]]]:
    """The pairs in the order in which they are joined, and the words in pieces at the end."""
    pieces, merges = [list(word) for word in words], []
    for _ in range(count):
        counts = Counter(pair for word in pieces for pair in zip(word, word[1:], strict=False))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        pieces = [join(word, best) for word in pieces]
    return merges, pieces


learn_merges = Exercise(
    "learn_merges",
    make=merges_arguments,
    reference=reference_learn_merges,
    cases={
        "the first example": dict(kind="ordinary", size=12, count=4),
        "pairs that are equally frequent": dict(kind="rare", size=6, count=4, seed=1),
        "letters that repeat": dict(kind="repeated", size=9, count=8, seed=2),
        "long and short pieces, equally frequent": dict(kind="close", size=7, count=3),
        "words that occur several times": dict(kind="ordinary", size=40, count=8, seed=4),
        **hinted(
            "Stop when no word has two pieces any more.",
            {"more merges than there are pairs": dict(kind="short", size=5, count=20, seed=3)},
        ),
    },
    forbid=("SubwordVocabulary",),
)
