"""Exercise 7: the calls that tell how a beam search works, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.check.discreet import is_discreet
from seqcourse.check.naming import explaining
from seqcourse.check.ps2.decoders import ending_decoder
from seqcourse.check.ps2.searches import (
    BEAM_SEARCH,
    by_score,
    divided_afterwards,
    full_search,
    one_path,
    reference_beam_search,
    search,
    variant,
)

NAME = "beam_search"
FORBIDDEN = {NAME: ("beam_search", "exhaustive_search")}


def tidy(student: Callable[..., Any]) -> Callable[..., Any]:
    """The student's search with a list of words and a plain number as good as tensors."""

    def tidied(*arguments: Any) -> Any:
        got = student(*arguments)
        if not isinstance(got, (tuple, list)) or len(got) != 2:
            return got
        tokens, score = got
        if isinstance(tokens, (tuple, list)):
            tokens = torch.tensor([int(token) for token in tokens], dtype=torch.int64)
        if isinstance(score, (int, float)):
            score = torch.tensor(float(score), dtype=torch.float64)
        if isinstance(score, Tensor) and score.shape == (1,):
            score = score[0]
        return tokens, score

    return tidied


def record_search(
    student: Callable[..., Any], given: Mapping[str, Any], prefix: str = ""
) -> dict[str, numpy.ndarray]:
    """One search for a probe, tidied."""
    return core.record(tidy(student), given, prefix)


def beam_arguments(
    beam_width: int,
    max_len: int,
    alpha: float = 0.0,
    left: float = 3.0,
    v: int = 7,
    hurry: float = 0.7,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `beam_search`: a decoder for one sentence that may end early or late."""
    hidden = core.normal({"h": (1, 4)}, seed=seed + 2)["h"]
    return {
        "step": ending_decoder(v, 4, seed, hurry=hurry),
        "state": (hidden, torch.tensor([[left]], dtype=torch.float64)),
        "beam_width": beam_width,
        "max_len": max_len,
        "alpha": alpha,
    }


def telling(
    sizes: Mapping[str, Any],
    seed: int,
    mistake: Callable[..., Any] | None = None,
    others: Sequence[Callable[..., Any]] = (),
) -> dict[str, Any]:
    """What `beam_arguments` is called with: `sizes` and the first seed that tells the mistake.

    The seed is moved on until `mistake` gives another result than the reference and than the
    `others`, so that the call tells it, and until it makes no difference whether a finished path that
    was pushed out of the beam later is remembered: both are sensible, and the exercise need not tell
    them apart.
    """
    while not _tells(tuple(beam_arguments(**sizes, seed=seed).values()), mistake, others):
        seed += 1000
    return {**sizes, "seed": seed}


def _tells(arguments, mistake, others) -> bool:
    right = reference_beam_search(*arguments)
    if mistake is not None:
        wrong = mistake(*arguments)
        if core.same(wrong, right) or any(core.same(wrong, f(*arguments)) for f in others):
            return False
    return core.same(right, search(*arguments, pool=True))


def plain_cases(seed: int) -> dict[str, dict[str, Any]]:
    """Searches without length normalisation; most are chosen to tell one mistake."""
    calls = [
        ("a sentence that greedy decoding misses", 3, 6, 3.0, one_path),
        ("paths whose states differ", 2, 8, 5.0, variant(shared_state=True)),
        ("a path that ends before a better one", 3, 6, 3.0, variant(first=True)),
        ("a beam that has to be pruned across its paths", 3, 5, 4.0, variant(own_width=True)),
        ("paths that end early", 2, 7, 2.0, variant(go_on=True)),
        ("a good path that max_len cuts off", 3, 3, 3.0, variant(finished_first=False)),
        ("a beam of one path", 1, 6, 3.0, None),
        ("a single step", 2, 1, 1.0, None),
        ("a wide beam", 5, 4, 2.0, None),
        ("a beam wider than the vocabulary", 9, 3, 2.0, None),
    ]
    return {
        kind: telling(dict(beam_width=width, max_len=size, left=left), seed + k, mistake)
        for k, (kind, width, size, left, mistake) in enumerate(calls)
    }


def normalised_cases(seed: int) -> dict[str, dict[str, Any]]:
    """Searches with length normalisation; most are chosen to tell one mistake."""
    aside, pruned, first = variant(stay=False), variant(rank=by_score), variant(first=True)
    calls = [
        ("a longer sentence with the better score", 3, 6, 1.0, 3.0, divided_afterwards, (first,)),
        ("paths whose scores change with their length", 3, 6, 1.0, 4.0, pruned, (aside,)),
        ("finished paths that push out growing ones", 2, 8, 1.0, 4.0, aside, (pruned, first)),
        ("an alpha between 0 and 1", 4, 5, 0.6, 3.0, divided_afterwards, (pruned,)),
        ("two steps", 2, 2, 1.0, 3.0, None, ()),
        ("a path that ends before a better one", 2, 9, 1.0, 3.0, first, (aside,)),
        ("a good path that max_len cuts off", 3, 4, 1.0, 3.0, variant(finished_first=False), ()),
    ]
    return {
        kind: telling(
            dict(beam_width=width, max_len=size, alpha=alpha, left=left, hurry=0.4),
            seed + k,
            mistake,
            others,
        )
        for k, (kind, width, size, alpha, left, mistake, others) in enumerate(calls)
    }


def judge_beams(found: Mapping[str, numpy.ndarray], made: Mapping[str, Mapping[str, Any]]) -> None:
    """Judge searches from what `record_search` wrote down; raise Mistake.

    A mistake is named that explains the results of *all* calls: with a small beam one call alone
    often comes out the same for several mistakes.

    made: kind of input -> arguments; the arrays of call k begin with "k.".
    """
    results = [core.result(found, f"{k}.result") for k in range(len(made))]
    for k, given in enumerate(made.values()):
        core.unchanged(NAME, found, given, f"{k}.")
    for got, (kind, given) in zip(results, made.items(), strict=True):
        expected = reference_beam_search(*given.values())
        if not core.same(got, expected):
            label = f"{NAME} ({kind})"
            if not is_discreet():
                label = (
                    f"{NAME} (beam_width {given['beam_width']}, max_len {given['max_len']}, "
                    f"alpha {given['alpha']:g})"
                )
            likely = explaining(BEAM_SEARCH, results, list(made.values()))
            core.compare(label, got, expected, given.values(), likely)


def beam_search(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 7: without and with length normalisation, and against full search."""
    core.forbid(NAME, core.calls(student), FORBIDDEN[NAME])
    count = 0
    for cases in (plain_cases(3), normalised_cases(4)):
        found: dict[str, numpy.ndarray] = {}
        for k, case in enumerate(cases.values()):
            found |= record_search(student, beam_arguments(**case), f"{k}.")
        judge_beams(found, {kind: beam_arguments(**case) for kind, case in cases.items()})
        count += len(cases)
    for alpha in (0.0, 1.0):
        given = beam_arguments(**telling(dict(beam_width=2000, max_len=4, alpha=alpha, v=5), seed=1))
        core.compare(
            f"{NAME} (a beam so wide that nothing is pruned, alpha {alpha:g})",
            tidy(student)(*given.values()),
            full_search(given["step"], given["state"], 4, alpha),
            given.values(),
            hint="It should find what a search of the whole tree finds.",
        )
    print(
        f"✓ {NAME}: {count} searches, and two with a beam so wide that they are full searches: "
        "all as expected."
    )
