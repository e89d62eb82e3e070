"""Exercise 8: links read off the weights, and the alignment error rate.

Links are a set of pairs (source position, target position). A set is no array, so the hidden checks
hand over an array of pairs (`packed`) and make a set of it again (`unpacked`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.compare import outcome
from seqcourse.check.core import Case, Likely, Mistake

Link = tuple[int, int]

FORBIDDEN = {
    "links": ("links_from_weights", "seqcourse"),
    "alignment_error_rate": ("alignment_error_rate", "AlignmentError", "seqcourse"),
}


def packed(value: Any) -> Any:
    """A set of links as an array (N, 2), in order; anything else as a few words on what it is."""
    if isinstance(value, Exception):
        return value
    if not isinstance(value, (set, frozenset)):
        return core.describe(value)
    whole = (int, numpy.integer)
    for link in value:
        if not (isinstance(link, tuple) and len(link) == 2):
            return f"a set that holds {link!r}"
        if not all(isinstance(place, whole) and not isinstance(place, bool) for place in link):
            return f"a set that holds {link!r}, whose entries are no plain whole numbers"
    return torch.tensor(sorted((int(i), int(t)) for i, t in value), dtype=torch.int64).reshape(-1, 2)


def unpacked(value: Any) -> Any:
    """What `packed` made an array of: a set of links; errors and words are passed through."""
    if isinstance(value, Tensor):
        return {(int(i), int(t)) for i, t in value.tolist()}
    return value


def links_arguments(time: int, words: int, length: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `links`: weights (T', T) of `words` target words; `length` columns are words."""
    scores = 2 * core.normal({"scores": (words, time)}, seed)["scores"]
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
    """The student's function; entries that are tensors or arrays are told in words."""

    def call(weights: Tensor, length: int) -> Any:
        got = student(weights, length)
        held = packed(got)
        if isinstance(got, (set, frozenset)) and isinstance(held, str):
            raise Mistake(_not_plain(held))
        return set(got) if isinstance(got, frozenset) else got

    return call


def _not_plain(held: str) -> str:
    return (
        f"links should return a set of pairs of whole numbers, such as {{(0, 0), (2, 1)}}, but "
        f"returned {held}. .tolist() or .item() makes plain numbers of a tensor's."
    )


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


def record_links(
    student: Callable[..., set[Link]], given: Mapping[str, Any], prefix: str
) -> dict[str, numpy.ndarray]:
    """One call of `links` for a probe: the result as an array of pairs, inputs afterwards."""
    got = packed(outcome(student, tuple(given.values())))
    return core.arrays(**{f"{prefix}result": got}) | core.after(given, prefix)


def judge_links(found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str) -> None:
    """Judge what `record_links` wrote down; raise Mistake."""
    core.unchanged("links", found, given, prefix)
    got = unpacked(core.result(found, f"{prefix}result"))
    if isinstance(got, str) and got.startswith("a set that"):
        raise Mistake(_not_plain(got))
    if isinstance(got, str):
        raise Mistake(
            f"links should return a set of pairs, but returned {got}. A set of pairs is asked for: "
            "set(...), or {(i, t) for ...}."
        )
    expected = reference_links(*given.values())
    core.compare("links", got, expected, given.values(), LINKS)


def error_arguments(sentences: int, seed: int = 0) -> dict[str, Any]:
    """Arguments of `alignment_error_rate`: for every sentence three sets of links."""
    rng = numpy.random.default_rng(seed)
    predicted, sure, possible = [], [], []
    for _ in range(sentences):
        source, target = (int(n) for n in rng.integers(3, 8, size=2))
        right = {(int(rng.integers(source)), t) for t in range(target)}
        allowed = {(int(rng.integers(source)), int(rng.integers(target))) for _ in range(3)}
        wrong = {(int(rng.integers(source)), t) for t in range(target) if rng.random() < 0.6}
        predicted.append({link for link in right | allowed if rng.random() < 0.6} | wrong)
        sure.append(right)
        possible.append(right | allowed)
    return {"predicted": predicted, "sure": sure, "possible": possible}


def reference_alignment_error_rate(
    predicted: list[set[Link]], sure: list[set[Link]], possible: list[set[Link]]
) -> float:
    """AER of a corpus, counts summed before dividing."""
    in_sure = sum(len(a & s) for a, s in zip(predicted, sure, strict=True))
    in_possible = sum(len(a & p) for a, p in zip(predicted, possible, strict=True))
    return 1 - (in_sure + in_possible) / (sum(map(len, predicted)) + sum(map(len, sure)))


def _rate(numerator: Callable[..., float], denominator: Callable[..., float]) -> Callable[..., float]:
    """One minus a quotient of counts that are summed over the sentences."""

    def rate(predicted, sure, possible):
        rows = list(zip(predicted, sure, possible, strict=True))
        return 1 - sum(numerator(*row) for row in rows) / sum(denominator(*row) for row in rows)

    return rate


def _right(a, s, p):
    return len(a & s) + len(a & p)


def _size(a, s, p):
    return len(a) + len(s)


def _mean_of_rates(predicted, sure, possible):
    rows = list(zip(predicted, sure, possible, strict=True))
    return sum(reference_alignment_error_rate([a], [s], [p]) for a, s, p in rows) / len(rows)


ALIGNMENT_ERROR_RATE = [
    Likely(
        "Is it the share of right links? The error rate is 1 minus that.",
        lambda predicted, sure, possible: 1 - reference_alignment_error_rate(predicted, sure, possible),
    ),
    Likely(
        "Is it the mean of the sentences' rates? Add up the counts of all sentences first, then divide.",
        _mean_of_rates,
    ),
    Likely(
        "Do you count the first sentence only?",
        lambda predicted, sure, possible: reference_alignment_error_rate(
            predicted[:1], sure[:1], possible[:1]
        ),
    ),
    Likely(
        "Is |A| + |P| under the fraction? It is |A| + |S|.",
        _rate(_right, lambda a, s, p: len(a) + len(p)),
    ),
    Likely("Is |A| alone under the fraction? It is |A| + |S|.", _rate(_right, lambda a, s, p: len(a))),
    Likely(
        "Is the number of links in A or S under the fraction? It is |A| + |S|: what is in both "
        "counts twice.",
        _rate(_right, lambda a, s, p: len(a | s)),
    ),
    Likely(
        "Do the possible links leave out the sure ones? S is a part of P, and |A & P| counts them "
        "again.",
        _rate(lambda a, s, p: len(a & s) + len(a & (p - s)), _size),
    ),
    Likely(
        "Is |A & P| missing above the fraction? Possible links that were made count as right.",
        _rate(lambda a, s, p: len(a & s), _size),
    ),
    Likely(
        "Is |A & S| counted twice? The second count is |A & P|.",
        _rate(lambda a, s, p: 2 * len(a & s), _size),
    ),
    Likely(
        "Is |A & P| counted twice? The first count is |A & S|.",
        _rate(lambda a, s, p: 2 * len(a & p), _size),
    ),
    Likely(
        "Sets meet with &, not with +: a & s. The number of links is len(...).",
        lambda predicted, sure, possible: predicted[0] + sure[0],
    ),
    Likely(
        "predicted, sure and possible are lists with one set per sentence: go through them with zip.",
        lambda predicted, sure, possible: len(predicted & sure),
    ),
]


def as_number(student: Callable[..., Any]) -> Callable[..., Any]:
    """The student's function with a tensor in place of a plain number, so that rounding is no error."""

    def call(predicted: Any, sure: Any, possible: Any) -> Any:
        got = student(predicted, sure, possible)
        plain = isinstance(got, (int, float, numpy.number)) and not isinstance(got, bool)
        return torch.tensor(float(got), dtype=torch.float64) if plain else got

    return call


LIKELY_RATES = [Likely(mistake.question, as_number(mistake.answer)) for mistake in ALIGNMENT_ERROR_RATE]


def _sets(given: Mapping[str, Any], prefix: str) -> dict[str, numpy.ndarray]:
    """The sets of links after a call, as arrays of pairs."""
    lists = {name: [packed(links) for links in value] for name, value in given.items()}
    return core.arrays(**{f"{prefix}after.{name}": value for name, value in lists.items()})


def record_rate(
    student: Callable[..., float], given: Mapping[str, Any], prefix: str
) -> dict[str, numpy.ndarray]:
    """One call of `alignment_error_rate` for a probe."""
    got = outcome(as_number(student), tuple(given.values()))
    if not (got is None or isinstance(got, (Tensor, Exception))):
        got = core.describe(got)
    return core.arrays(**{f"{prefix}result": got}) | _sets(given, prefix)


def judge_rate(found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str) -> None:
    """Judge what `record_rate` wrote down; raise Mistake."""
    for key, before in _sets(given, prefix).items():
        if key not in found or not numpy.array_equal(found[key], before):
            argument = key.removeprefix(prefix).split(".")[1]
            raise Mistake(
                f"alignment_error_rate changes its input {argument}: whoever calls it still needs the "
                "old links. Write a & s in place of a &= s."
            )
    got = core.result(found, f"{prefix}result")
    expected = as_number(reference_alignment_error_rate)(*given.values())
    core.compare("alignment_error_rate", got, expected, given.values(), LIKELY_RATES)


def alignment_error_rate(student: Callable[..., float]) -> None:
    """Check exercise 8, second half: the alignment error rate."""
    if callable(student):
        core.forbid("alignment_error_rate", core.calls(student), FORBIDDEN["alignment_error_rate"])

    def handmade() -> dict[str, Any]:
        sure = {(0, 0), (1, 0), (2, 1), (3, 2)}
        return {
            "predicted": [{(1, 0), (2, 1), (3, 2), (2, 2), (1, 1)}],
            "sure": [sure],
            "possible": [sure | {(1, 1)}],
        }

    cases = [
        Case("the first example", handmade),
        Case("one sentence with possible links", lambda: error_arguments(1, seed=4)),
        Case("several sentences", lambda: error_arguments(5, seed=5)),
        Case("many sentences", lambda: error_arguments(40, seed=6)),
    ]
    core.check_function(
        "alignment_error_rate",
        as_number(student) if callable(student) else student,
        as_number(reference_alignment_error_rate),
        cases,
        LIKELY_RATES,
    )
