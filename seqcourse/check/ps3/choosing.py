"""Exercise 11: a rule of one's own that reads links off a map, measured on real sentence pairs.

maps.json holds the maps of the course's translator for all pairs with reference links, in thousandths;
pairs with an even number are the students', the others are held out. The references stay here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

from seqcourse.check.calls.compare import Mistake, Stopped, describe, stopped
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import unchanged
from seqcourse.check.calls.values import Found, Given, result, whole
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside.ps3 import record_links
from seqcourse.check.ps3.linking import reference_links
from seqcourse.check.ps3.rates import reference_alignment_error_rate
from seqcourse.check.told.discreet import is_discreet

NAME = "better_links"
FIFTH, THIRD = 4 / 5, 2 / 3  # of the error rate of the largest weight
# What is asked of a rule that is no better, by the links that it makes.
QUESTIONS: dict[str, Callable[[set, set], bool]] = {
    "There is hardly a link. A missing sure link costs, too.": (
        lambda links, largest: len(links) < len(largest) / 3
    ),
    "There are very many links. A link that is not possible costs, too.": (
        lambda links, largest: len(links) > 2 * len(largest)
    ),
    "Those are nearly the links of the largest weights. In which rows is the largest weight "
    "wrong, and how could one know it without the reference?": (
        lambda links, largest: len(links & largest) > 0.9 * len(links | largest)
    ),
}


@cache
def _pairs() -> list[dict[str, Any]]:
    return json.loads(Path(__file__).with_name("maps.json").read_text(encoding="utf-8"))


def choosing_arguments(held_out: bool, part: int, noise: float = 0.02, seed: int = 0) -> dict[str, Any]:
    """Arguments of `better_links` for a quarter of the pairs, in another order and a little changed."""
    pairs = _pairs()[held_out + 2 * part :: 4]
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed)).tolist()
    weights = []
    for k in order:
        w = torch.tensor(pairs[k]["weights"], dtype=torch.float64)
        w = w * (noise * normal({"w": w.shape}, seed + k)["w"]).exp()
        weights.append(w / w.sum(dim=1, keepdim=True))
    texts = {side: tuple(pairs[k][side] for k in order) for side in ("source", "target")}
    return {"weights": tuple(weights), **texts}


def _links_of(found: Found, given: Given, prefix: str) -> list[set]:
    """The links of every pair; raises Mistake when they are no sets of links."""
    unchanged(NAME, found, given, prefix)
    got = result(found, f"{prefix}result")
    if isinstance(got, Stopped):
        raise Mistake(stopped(NAME, got))
    for links, weights in zip(got, given["weights"], strict=True):
        if not isinstance(links, (set, frozenset)):
            raise Mistake(f"{NAME} should return a set of pairs, but returns {describe(links)}.")
        words, columns = weights.shape
        for link in links:
            if not (isinstance(link, tuple) and len(link) == 2 and all(map(whole, link))):
                raise Mistake(f"{NAME}: a link should be a pair of whole numbers, such as (0, 2).")
            if not (0 <= link[0] < columns - 1 and 0 <= link[1] < words):
                raise Mistake(
                    f"{NAME} links a word that is not there.", "Is it (source, target), and never <eos>?"
                )
    return got


def _judge(bar: float) -> Callable[[Found, Mapping[str, Any]], None]:
    """Raise Mistake when the error rate of all pairs is above `bar` times that of the largest weight."""

    def judge(found: Found, made: Mapping[str, Any]) -> None:
        links, largest, sure, possible = [], [], [], []
        known = {(pair["source"], pair["target"]): pair for pair in _pairs()}
        for number, given in enumerate(made.values()):
            links += _links_of(found, given, f"{number}.")
            largest += [reference_links(w, w.shape[1] - 1) for w in given["weights"]]
            for text in zip(given["source"], given["target"], strict=True):
                sure.append({(i, t) for i, t in known[text]["sure"]})
                possible.append({(i, t) for i, t in known[text]["possible"]} | sure[-1])
        ours, base = (reference_alignment_error_rate(each, sure, possible) for each in (links, largest))
        if ours < 0.02:  # two readings of the same pairs differ by more
            raise Mistake(f"{NAME} returns the reference links themselves. A rule reads the map.")
        if ours <= bar * base:
            return
        told = "" if is_discreet() else f" It is {ours:.3f}, against {base:.3f} for the largest weight."
        if ours <= FIFTH * base:
            raise Mistake(
                f"{NAME}: the error rate is a fifth below that of the largest weights, but not a third."
                f"{told}",
                "Is there a second idea, which mends other links than the first one?",
            )
        flat = [{(n, *link) for n, one in enumerate(each) for link in one} for each in (links, largest)]
        question = next((q for q, fits in QUESTIONS.items() if fits(*flat)), "")
        raise Mistake(
            f"{NAME}: the error rate is not a fifth below that of the largest weights.{told}", question
        )

    return judge


better_links = Exercise(
    NAME,
    make=choosing_arguments,
    cases={f"half {part} of your pairs": dict(held_out=False, part=part, noise=0.0) for part in (0, 1)},
    record=record_links,
    judge_all=_judge(THIRD),
    variants={"a fifth": {"judge_all": _judge(FIFTH)}},
    forbid=("load_alignments", "links_from_weights"),
)
