"""Exercise 7: beam search, against itself with mistakes and against full search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.check.core import Likely
from seqcourse.check.ps2.decoders import EOS, SOS, Step, ending_decoder
from seqcourse.check.ps2.naming import explaining

NAME = "beam_search"


@dataclass(frozen=True)
class Path:
    """A beginning of a sentence: its words, log P of them, the decoder's state behind them."""

    tokens: tuple[int, ...]
    log_prob: float
    state: Any

    @property
    def ended(self) -> bool:
        return self.tokens[-1:] == (EOS,)

    def score(self, alpha: float) -> float:
        return self.log_prob / max(1, len(self.tokens)) ** alpha


def _grow(
    step: Step,
    path: Path,
    state: Any = None,
    scores: Callable[[Tensor], Tensor] = lambda z: z.log_softmax(dim=-1),
    add: Callable[[float, float], float] = lambda one, other: one + other,
) -> list[Path]:
    """A path continued by every word of the vocabulary."""
    last = torch.tensor([path.tokens[-1] if path.tokens else SOS])
    logits, new = step(last, path.state if state is None else state)
    return [
        Path((*path.tokens, token), add(path.log_prob, gain), new)
        for token, gain in enumerate(scores(logits)[0].tolist())
    ]


def _answer(path: Path, score: float) -> tuple[Tensor, Tensor]:
    return torch.tensor(path.tokens), torch.tensor(score, dtype=torch.float64)


def _search(
    step: Step,
    state: Any,
    beam_width: int,
    max_len: int,
    alpha: float,
    *,
    grow: Callable[..., list[Path]] = _grow,
    start: float = 0.0,
    stay: bool = True,
    go_on: bool = False,
    shared_state: bool = False,
    own_width: bool = False,
    rank: Callable[[Path, float], float] = lambda path, alpha: path.log_prob,
    first: bool = False,
    pool: bool = False,
    finished_first: bool = True,
    final: Callable[[Path, float], float] = lambda path, alpha: path.score(alpha),
) -> tuple[Tensor, Tensor]:
    """Beam search; the options make other searches and mistakes.

    stay: paths that ended keep their place in the beam; without, they are set aside.
    go_on: paths grow on behind <eos>.     shared_state: all paths grow from the best one's state.
    own_width: every path keeps its own K.  rank: what the beam is pruned by.
    first: stop when a path has ended.      pool: ended paths count, also if pushed out later.
    """
    beam, aside = [Path((), start, state)], []
    for _ in range(max_len):
        growing = [path for path in beam if go_on or not path.ended]
        if not growing or (first and any(path.ended for path in beam)):
            break
        grown: list[Path] = []
        for path in growing:
            longer = grow(step, path, growing[0].state if shared_state else None)
            longer.sort(key=lambda path: -rank(path, alpha))
            grown += longer[:beam_width] if own_width else longer
        ended = [path for path in beam if path.ended and not go_on]
        candidates = sorted([*ended, *grown], key=lambda path: -rank(path, alpha))
        beam = candidates if own_width else candidates[:beam_width]
        aside += [path for path in beam if path.ended and path not in aside]
        if not stay:
            beam = [path for path in beam if not path.ended]
    everything = beam if stay and not pool else [*aside, *(p for p in beam if not p.ended)]
    ended = [path for path in everything if path.ended]
    best = max((finished_first and ended) or everything, key=lambda path: final(path, alpha))
    return _answer(best, final(best, alpha))


def reference_beam_search(
    step: Step, state: Any, beam_width: int, max_len: int, alpha: float
) -> tuple[Tensor, Tensor]:
    """The words of the best path (L,), <eos> included, and its score ()."""
    return _search(step, state, beam_width, max_len, alpha)


def full_search(step: Step, state: Any, max_len: int, alpha: float) -> tuple[Tensor, Tensor]:
    """The best of all finished sentences of at most max_len words: every one is looked at."""
    ended, growing = [], [Path((), 0.0, state)]
    for _ in range(max_len):
        grown = [longer for path in growing for longer in _grow(step, path)]
        ended += [path for path in grown if path.ended]
        growing = [path for path in grown if not path.ended]
    best = max(ended, key=lambda path: path.score(alpha))
    return _answer(best, best.score(alpha))


def _variant(**mistake: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    return lambda *arguments: _search(*arguments, **mistake)


def _grow_by(**change: Any) -> Callable[..., list[Path]]:
    return lambda step, path, state: _grow(step, path, state, **change)


def _times(one: float, other: float) -> float:
    return one * other


def _one_path(step, state, beam_width, max_len, alpha):
    return reference_beam_search(step, state, 1, max_len, alpha)


def _score(path: Path, alpha: float) -> float:
    return path.score(alpha)


def _divided_afterwards(step, state, beam_width, max_len, alpha):
    tokens, log_prob = reference_beam_search(step, state, beam_width, max_len, 0.0)
    return tokens, log_prob / len(tokens) ** alpha


def _log_prob_returned(step, state, beam_width, max_len, alpha):
    tokens, score = reference_beam_search(step, state, beam_width, max_len, alpha)
    return tokens, score * len(tokens) ** alpha


def _edited(*arguments, edit):
    tokens, score = reference_beam_search(*arguments)
    return edit(tokens), score


BEAM_SEARCH = [
    Likely(
        "Do you follow one path only? The beam keeps the beam_width best ones.",
        _one_path,
    ),
    Likely(
        "Did you add up logits? log_softmax turns them into log-probabilities.",
        _variant(grow=_grow_by(scores=lambda z: z)),
    ),
    Likely(
        "Did you multiply probabilities? That is the same path until they get too small; add "
        "log-probabilities, and return their sum.",
        _variant(grow=_grow_by(scores=lambda z: z.softmax(dim=-1), add=_times), start=1.0),
    ),
    Likely(
        "Did you add up probabilities? Probabilities multiply, so their logs add up: log_softmax.",
        _variant(grow=_grow_by(scores=lambda z: z.softmax(dim=-1))),
    ),
    Likely(
        "Is only the newest log-probability kept? A path's is the sum over all its words.",
        _variant(grow=_grow_by(add=lambda one, other: other)),
    ),
    Likely(
        "Do finished paths grow on? A path that ended in <eos> stays as it is.",
        _variant(go_on=True),
    ),
    Likely(
        "Do finished paths go out of the beam? They keep their place and compete as they are.",
        _variant(stay=False),
    ),
    Likely(
        "Do you stop as soon as one path has ended? A path that still grows may be better.",
        _variant(first=True),
    ),
    Likely(
        "Do all paths grow from the same state? Every path has its own, behind its own words.",
        _variant(shared_state=True),
    ),
    Likely(
        "Is nothing pruned across paths? The beam_width best of all candidates stay, not of each path.",
        _variant(own_width=True),
    ),
    Likely(
        "Is alpha not used? The score is log_prob / L**alpha.",
        _variant(final=lambda path, alpha: path.log_prob),
    ),
    Likely(
        "Is the path chosen by its log-probability and its score divided afterwards? Divide first, "
        "then choose.",
        _divided_afterwards,
    ),
    Likely(
        "Is the length counted without <eos>? L is the number of words with <eos>.",
        _variant(
            final=lambda path, alpha: path.log_prob / max(1, len(path.tokens) - path.ended) ** alpha
        ),
    ),
    Likely(
        "Does your length count <sos>? L is the number of words that were written, with <eos>.",
        _variant(final=lambda path, alpha: path.log_prob / (len(path.tokens) + 1) ** alpha),
    ),
    Likely(
        "Did you multiply by alpha? It is the exponent of the length: log_prob / L**alpha.",
        _variant(final=lambda path, alpha: path.log_prob / (len(path.tokens) * alpha or 1)),
    ),
    Likely(
        "Did you multiply by the length? Divide by it: log_prob / L**alpha.",
        _variant(final=lambda path, alpha: path.log_prob * len(path.tokens) ** alpha),
    ),
    Likely(
        "Do you prune by the normalised score? Prune by log-probability; alpha matters at the end only.",
        _variant(rank=_score),
    ),
    Likely(
        "Does a path that never ended win? One that ended comes before those that were cut off.",
        _variant(finished_first=False),
    ),
    Likely(
        "Does the result begin with <sos>? Only what was written is asked for.",
        lambda *a: _edited(*a, edit=lambda tokens: torch.cat([torch.tensor([SOS]), tokens])),
    ),
    Likely(
        "Is <eos> missing in the result? It is part of the path.",
        lambda *a: _edited(*a, edit=lambda tokens: tokens[tokens != EOS]),
    ),
    Likely(
        "Is there one step too few? max_len words may be written.",
        lambda step, state, width, max_len, alpha: reference_beam_search(
            step, state, width, max_len - 1, alpha
        ),
    ),
    Likely(
        "Is there one step too many? At most max_len words may be written.",
        lambda step, state, width, max_len, alpha: reference_beam_search(
            step, state, width, max_len + 1, alpha
        ),
    ),
    Likely(
        "Did you return log_prob as it is? The score is log_prob / L**alpha.",
        _log_prob_returned,
    ),
    Likely(
        "Is the score a positive number? A log-probability is below 0.",
        lambda *a: (reference_beam_search(*a)[0], -reference_beam_search(*a)[1]),
    ),
    Likely(
        "Did you return the words only? The score is asked for as well.",
        lambda *a: reference_beam_search(*a)[0],
    ),
    Likely(
        "Did you swap the two? The words come first, then the score.",
        lambda *a: reference_beam_search(*a)[::-1],
    ),
]


def tidy(student: Callable[..., Any]) -> Callable[..., Any]:
    """The student's search with a list of words and a plain number as good as tensors."""

    def search(*arguments: Any) -> Any:
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

    return search


def beam_arguments(
    seed: int,
    beam_width: int,
    max_len: int,
    alpha: float,
    mistake: Callable[..., Any] | None = None,
    *,
    left: float = 3.0,
    v: int = 7,
    hurry: float = 0.7,
) -> dict[str, Any]:
    """Arguments of `beam_search`: a decoder for one sentence that may end early or late.

    The seed is moved on until `mistake` gives another result than the reference, so that the call
    tells it, and until it makes no difference whether a finished path that was pushed out of the
    beam later is remembered: both are sensible, and the exercise need not tell them apart.
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
        tells = mistake is None or not core.same(right, mistake(*given.values()))
        if tells and core.same(right, _search(*given.values(), pool=True)):
            return given
        seed += 1000


def plain_calls(seed: int) -> list[dict[str, Any]]:
    """Searches without length normalisation; most are chosen to tell one mistake."""
    calls = [
        (3, 6, _one_path, 3.0),
        (2, 8, _variant(shared_state=True), 5.0),
        (3, 6, _variant(first=True), 3.0),
        (3, 5, _variant(own_width=True), 4.0),
        (2, 7, _variant(go_on=True), 2.0),
        (3, 3, _variant(finished_first=False), 3.0),
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
    calls = [
        (3, 6, 1.0, _divided_afterwards, 3.0),
        (3, 6, 1.0, _variant(rank=_score), 4.0),
        (2, 8, 1.0, _variant(stay=False), 4.0),
        (4, 5, 0.6, _divided_afterwards, 3.0),
        (2, 2, 1.0, None, 3.0),
        (2, 9, 1.0, _variant(first=True), 3.0),
        (3, 4, 1.0, _variant(finished_first=False), 3.0),
    ]
    return [
        beam_arguments(seed + k, width, size, alpha, mistake, left=left, hurry=0.4)
        for k, (width, size, alpha, mistake, left) in enumerate(calls)
    ]


def judge_beams(
    found: Mapping[str, numpy.ndarray], made: Sequence[dict[str, Any]], label: str = ""
) -> None:
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
    search = tidy(student)
    for made, again in (
        (plain_calls(3), plain_calls(3)),
        (normalised_calls(4), normalised_calls(4)),
    ):
        found: dict[str, numpy.ndarray] = {}
        for k, given in enumerate(made):
            found |= core.record(search, given, f"{k}.")
        judge_beams(found, again)
    for alpha in (0.0, 1.0):
        given = beam_arguments(1, beam_width=2000, max_len=4, alpha=alpha, left=3.0, v=5)
        core.compare(
            f"{NAME} (a beam so wide that nothing is pruned, alpha {alpha:g})",
            search(*given.values()),
            full_search(given["step"], given["state"], 4, alpha),
            given.values(),
            hint="It should find what a search of the whole tree finds.",
        )
    print(
        f"✓ {NAME}: {len(plain_calls(3)) + len(normalised_calls(4))} searches, and two with a beam so "
        "wide that they are full searches: all as expected."
    )
