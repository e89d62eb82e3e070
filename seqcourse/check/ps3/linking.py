"""Exercise 8, first half: links read off the weights, a set of pairs (source, target)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.compare import outcome
from seqcourse.check.core import Case, Likely, Mistake
from seqcourse.check.values import whole

Link = tuple[int, int]

FORBIDDEN = {"links": ("links_from_weights",)}


def links_arguments(time: int, words: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `links`: weights (T', T) of `words` target words; `length` columns are words."""
    scores = 2 * core.normal({"scores": (words, time)}, seed)["scores"]
    if words > 1 and time > 2:  # an undecided row: its largest weight, on a word, is below one half
        scores[1] *= 0.05
        scores[1, length // 2] += 0.3
    if length < time:  # some words rest on what is no word
        scores[0, -1] += 9.0
        scores[words // 2, length] += 9.0
    return {"weights": functional.softmax(scores), "length": length}


def reference_links(weights: Tensor, length: int) -> set[Link]:
    """Every target word with its source word, unless it rests on a column that is no word."""
    found = weights.argmax(dim=1).tolist()
    return {(i, t) for t, i in enumerate(found) if i < length}


LINKS = [
    Likely(
        "Is it (target, source)? A link names the source word first.",
        lambda weights, length: {(t, i) for i, t in reference_links(weights, length)},
    ),
    Likely(
        "Does a target word that rests on <eos> or padding get a link? If the largest weight of the "
        "whole row is in a column from `length` on, there is none.",
        lambda weights, length: reference_links(weights[:, :length], length),
    ),
    Likely(
        "Is there a link to <eos> or padding? Columns from `length` on are no words.",
        lambda weights, length: reference_links(weights, weights.shape[1]),
    ),
    Likely(
        "Is column number `length` taken for a word? The words are columns 0 to length - 1.",
        lambda weights, length: reference_links(weights, length + 1),
    ),
    Likely(
        "Does every source word choose a target word (argmax over the rows)? Every target word "
        "chooses a source word: argmax(dim=1).",
        lambda weights, length: {
            (i, t) for i, t in enumerate(weights.argmax(dim=0).tolist()) if i < length
        },
    ),
    Likely(
        "Did you link all weights above one half? A target word's link is its largest weight, "
        "however small.",
        lambda weights, length: {(i, t) for t, i in (weights > 0.5).nonzero().tolist() if i < length},
    ),
    Likely(
        "Do you count from 1? Positions are counted from 0.",
        lambda weights, length: {(i + 1, t + 1) for i, t in reference_links(weights, length)},
    ),
    Likely(
        "Is it a list? A set of pairs is asked for: set(...), or {(i, t) for ...}.",
        lambda weights, length: sorted(reference_links(weights, length), key=lambda link: link[1]),
    ),
    Likely(
        "Do the rows belong to the word before? Row t belongs to target word t.",
        lambda weights, length: {(i, t - 1) for i, t in reference_links(weights, length) if t > 0},
    ),
]


def _links_cases() -> list[Case]:
    sizes = {
        "the first example": (6, 5, 4),
        "more target than source words": (4, 7, 3),
        "many columns that are no words": (9, 5, 4),
        "one source word": (2, 3, 1),
        "no column to leave out": (6, 5, 6),
    }
    return [
        Case(label, lambda size=size: links_arguments(*size, seed=3 * size[0]))
        for label, size in sizes.items()
    ]


def _told_plainly(student: Callable[..., Any]) -> Callable[..., Any]:
    """The student's function; entries that are no plain whole numbers are a mistake of their own."""

    def call(weights: Tensor, length: int) -> Any:
        got = student(weights, length)
        if not isinstance(got, (set, frozenset)):
            return got
        for link in got:
            if not (isinstance(link, tuple) and len(link) == 2 and all(map(whole, link))):
                raise Mistake(
                    "links should return a set of pairs of plain whole numbers, such as "
                    f"{{(0, 0), (2, 1)}}, but the set holds {link!r}. .tolist() or .item() makes "
                    "plain numbers of a tensor's."
                )
        return set(got)

    return call


def links(student: Callable[..., set[Link]]) -> None:
    """Check exercise 8, first half: links out of attention weights."""
    if callable(student):
        core.forbid("links", core.calls(student), FORBIDDEN["links"])
        for case in _links_cases():
            got = outcome(_told_plainly(student), tuple(case.make().values()))
            if isinstance(got, Mistake):
                raise got
        student = _told_plainly(student)
    core.check_function("links", student, reference_links, _links_cases(), LINKS)
