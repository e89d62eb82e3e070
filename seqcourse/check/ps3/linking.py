"""Exercise 8, first half: links read off the weights, a set of pairs (source, target)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import Mistake, outcome
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.values import whole
from seqcourse.check.exercise import Exercise

Link = tuple[int, int]


def links_arguments(time: int, words: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `links`: weights (T', T) of `words` target words; `length` columns are words."""
    scores = 2 * normal({"scores": (words, time)}, seed)["scores"]
    if words > 1 and time > 2:  # an undecided row: its largest weight, on a word, is so by a hair
        scores[1] = 0.002 * (torch.arange(time) == length // 2)
    if length > 1 and words > 3:  # two largest weights
        scores[-1, :2] = scores.max()
    if length < time and words > 4:  # two as well, and the second is on what is no word
        scores[-2, length - 1 : length + 1] = scores.max()
    if length < time:  # some words rest on what is no word
        scores[0, -1] += 9.0
        scores[words // 2, length] += 9.0
    return {"weights": functional.softmax(scores), "length": length}


def reference_links(weights: Tensor, length: int) -> set[Link]:
    """Every target word with its source word, unless it rests on a column that is no word."""
    found = weights.argmax(dim=1).tolist()
    return {(i, t) for t, i in enumerate(found) if i < length}


def _look(student: Callable[..., Any]) -> None:
    """Raise Mistake when a set holds anything but pairs of plain whole numbers."""
    for case in links.cases:
        got = outcome(student, tuple(case.make().values()))
        for link in got if isinstance(got, (set, frozenset)) else ():
            if not (isinstance(link, tuple) and len(link) == 2 and all(map(whole, link))):
                raise Mistake(
                    "links should return a set of pairs of plain whole numbers, such as "
                    f"{{(0, 0), (2, 1)}}, but the set holds {link!r}. .tolist() or .item() makes "
                    "plain numbers of a tensor's."
                )


links = Exercise(
    "links",
    make=links_arguments,
    reference=reference_links,
    look=_look,
    cases={
        "the first example": dict(time=6, words=5, length=4, seed=18),
        "more target than source words": dict(time=4, words=7, length=3, seed=12),
        "many columns that are no words": dict(time=9, words=5, length=4, seed=27),
        "one source word": dict(time=2, words=30, length=1, seed=6),
        "no column to leave out": dict(time=6, words=5, length=6, seed=18),
    },
    forbid=("links_from_weights",),
)
