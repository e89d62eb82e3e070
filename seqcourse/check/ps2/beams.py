"""Exercise 7: the calls that tell how a beam search works, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.check.ps2.decoders import ending_decoder
from seqcourse.check.ps2.naming import explaining
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


def beam_arguments(
    seed: int,
    beam_width: int,
    max_len: int,
    alpha: float,
    mistake: Callable[..., Any] | None = None,
    others: Sequence[Callable[..., Any]] = (),
    *,
    left: float = 3.0,
    v: int = 7,
    hurry: float = 0.7,
) -> dict[str, Any]:
    """Arguments of `beam_search`: a decoder for one sentence that may end early or late.

    The seed is moved on until `mistake` gives another result than the reference and than the
    `others`, so that the call tells it, and until it makes no difference whether a finished path that
    was pushed out of the beam later is remembered: both are sensible, and the exercise need not tell
    them apart.
    """
    while True:
        hidden = core.normal({"h": (1, 4)}, seed=seed + 2)["h"]
        given = {
            "step": ending_decoder(v, 4, seed, hurry=hurry),
            "state": (hidden, torch.tensor([[left]], dtype=torch.float64)),
            "beam_width": beam_width,
            "max_len": max_len,
            "alpha": alpha,
        }
        right = reference_beam_search(*given.values())
        if _tells(given, right, mistake, others):
            return given
        seed += 1000


def _tells(given, right, mistake, others) -> bool:
    arguments = tuple(given.values())
    if not core.same(right, search(*arguments, pool=True)):
        return False
    if mistake is None:
        return True
    wrong = mistake(*arguments)
    return not any(core.same(wrong, other) for other in (right, *(f(*arguments) for f in others)))


def plain_calls(seed: int) -> list[dict[str, Any]]:
    """Searches without length normalisation; most are chosen to tell one mistake."""
    calls = [
        (3, 6, one_path, 3.0),
        (2, 8, variant(shared_state=True), 5.0),
        (3, 6, variant(first=True), 3.0),
        (3, 5, variant(own_width=True), 4.0),
        (2, 7, variant(go_on=True), 2.0),
        (3, 3, variant(finished_first=False), 3.0),
        (1, 6, None, 3.0),
        (2, 1, None, 1.0),
        (5, 4, None, 2.0),
    ]
    return [
        beam_arguments(seed + k, width, size, 0.0, mistake, left=left)
        for k, (width, size, mistake, left) in enumerate(calls)
    ]


def normalised_calls(seed: int) -> list[dict[str, Any]]:
    """Searches with length normalisation; most are chosen to tell one mistake."""
    aside, pruned = variant(stay=False), variant(rank=by_score)
    calls = [
        (3, 6, 1.0, divided_afterwards, (), 3.0),
        (3, 6, 1.0, pruned, (aside,), 4.0),
        (2, 8, 1.0, aside, (pruned, variant(first=True)), 4.0),
        (4, 5, 0.6, divided_afterwards, (), 3.0),
        (2, 2, 1.0, None, (), 3.0),
        (2, 9, 1.0, variant(first=True), (aside,), 3.0),
        (3, 4, 1.0, variant(finished_first=False), (), 3.0),
    ]
    return [
        beam_arguments(seed + k, width, size, alpha, mistake, others, left=left, hurry=0.4)
        for k, (width, size, alpha, mistake, others, left) in enumerate(calls)
    ]


def judge_beams(found: Mapping[str, numpy.ndarray], made: Sequence[dict[str, Any]]) -> None:
    """Judge searches from what `core.record` wrote down; raise Mistake.

    A mistake is named that explains the results of *all* calls: with a small beam one call alone
    often comes out the same for several mistakes.
    """
    results = [core.result(found, f"{k}.result") for k in range(len(made))]
    for k, given in enumerate(made):
        core.unchanged(NAME, found, given, f"{k}.")
    for got, given in zip(results, made, strict=True):
        expected = reference_beam_search(*given.values())
        if not core.same(got, expected):
            label = (
                f"{NAME} (beam_width {given['beam_width']}, max_len {given['max_len']}, "
                f"alpha {given['alpha']:g})"
            )
            core.compare(label, got, expected, given.values(), explaining(BEAM_SEARCH, results, made))


def beam_search(student: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Check exercise 7: without and with length normalisation, and against full search."""
    answer, count = tidy(student), 0
    for made in (plain_calls(3), normalised_calls(4)):
        found: dict[str, numpy.ndarray] = {}
        for k, given in enumerate(core.copy(made)):
            found |= core.record(answer, given, f"{k}.")
        judge_beams(found, made)
        count += len(made)
    for alpha in (0.0, 1.0):
        given = beam_arguments(1, beam_width=2000, max_len=4, alpha=alpha, left=3.0, v=5)
        core.compare(
            f"{NAME} (a beam so wide that nothing is pruned, alpha {alpha:g})",
            answer(*given.values()),
            full_search(given["step"], given["state"], 4, alpha),
            given.values(),
            hint="It should find what a search of the whole tree finds.",
        )
    print(
        f"✓ {NAME}: {count} searches, and two with a beam so wide that they are full searches: "
        "all as expected."
    )
