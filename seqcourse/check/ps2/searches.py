"""Exercise 7: beam search as it should be, with the mistakes people make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Likely
from seqcourse.check.ps2.decoders import Step
from seqcourse.tokens import EOS, SOS


class Path(NamedTuple):
    """A beginning of a sentence: its words, log P of them, the decoder's state after them."""

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


def remembering(step: Step) -> Step:
    """The same decoder, which computes each step once: many searches take the same ones."""
    known: dict[tuple, tuple] = {}

    def remembered(tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        key = (*tokens.tolist(), id(state))
        if key not in known:
            known[key] = (*step(tokens, state), state)  # the state is kept, so its id stays its own
        return known[key][:2]

    return remembered


def _answer(path: Path, score: float) -> tuple[Tensor, Tensor]:
    return torch.tensor(path.tokens), torch.tensor(score, dtype=torch.float64)


def search(
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
    best_first: bool = False,
    pool: bool = False,
    finished_first: bool = True,
    final: Callable[[Path, float], float] = lambda path, alpha: path.score(alpha),
) -> tuple[Tensor, Tensor]:
    """Beam search; the options make other searches and mistakes.

    stay: paths that ended keep their place in the beam; without, they are set aside.
    go_on: paths grow on after <eos>.     shared_state: all paths grow from the best one's state.
    own_width: every path keeps its own K.  rank: what the beam is pruned by.
    first: stop when a path has ended.      best_first: when the likeliest one has.
    pool: ended paths count, also if pushed out later.
    """
    beam, aside = [Path((), start, state)], []
    for _ in range(max_len):
        growing = [path for path in beam if go_on or not path.ended]
        if not growing or (first and any(path.ended for path in beam)) or (best_first and beam[0].ended):
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
    return search(step, state, beam_width, max_len, alpha)


def variant(**mistake: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    return lambda *arguments: search(*arguments, **mistake)


def _grow_by(**change: Any) -> Callable[..., list[Path]]:
    return lambda step, path, state: _grow(step, path, state, **change)


def _times(one: float, other: float) -> float:
    return one * other


def one_path(step, state, beam_width, max_len, alpha):
    return reference_beam_search(step, state, 1, max_len, alpha)


def by_score(path: Path, alpha: float) -> float:
    return path.score(alpha)


def divided_afterwards(step, state, beam_width, max_len, alpha):
    tokens, log_prob = reference_beam_search(step, state, beam_width, max_len, 0.0)
    return tokens, log_prob / len(tokens) ** alpha


def _log_prob_returned(step, state, beam_width, max_len, alpha):
    tokens, score = reference_beam_search(step, state, beam_width, max_len, alpha)
    return tokens, score * len(tokens) ** alpha


def _edited(*arguments, edit):
    tokens, score = reference_beam_search(*arguments)
    return edit(tokens), score


BEAM_SEARCH = [
    Likely("Do you follow one path only? The beam keeps the beam_width best ones.", one_path),
    Likely(
        "Did you add up logits? log_softmax turns them into log-probabilities.",
        variant(grow=_grow_by(scores=lambda z: z)),
    ),
    Likely(
        "Did you multiply probabilities? That is the same path until they get too small; add "
        "log-probabilities, and return their sum.",
        variant(grow=_grow_by(scores=lambda z: z.softmax(dim=-1), add=_times), start=1.0),
    ),
    Likely(
        "Did you add up probabilities? Probabilities multiply, so their logs add up: log_softmax.",
        variant(grow=_grow_by(scores=lambda z: z.softmax(dim=-1))),
    ),
    Likely(
        "Is only the newest log-probability kept? A path's is the sum over all its words.",
        variant(grow=_grow_by(add=lambda one, other: other)),
    ),
    Likely("Do finished paths grow on? A path that ended in <eos> stays as it is.", variant(go_on=True)),
    Likely(
        "Do finished paths go out of the beam? They keep their place and compete as they are.",
        variant(stay=False),
    ),
    Likely(
        "Do you stop as soon as one path has ended? A path that still grows may be better.",
        variant(first=True),
    ),
    Likely(
        "Do you stop when the path with the largest log-probability has ended? With alpha above 0 a "
        "longer one may get the better score: go on until all paths of the beam have ended.",
        variant(best_first=True),
    ),
    Likely(
        "Do all paths grow from the same state? Every path has its own, after its own words.",
        variant(shared_state=True),
    ),
    Likely(
        "Is nothing pruned across paths? The beam_width best of all candidates stay, not of each path.",
        variant(own_width=True),
    ),
    Likely(
        "Is alpha not used? The score is log_prob / L**alpha.",
        variant(final=lambda path, alpha: path.log_prob),
    ),
    Likely(
        "Is the path chosen by its log-probability and its score divided afterwards? Divide first, "
        "then choose.",
        divided_afterwards,
    ),
    Likely(
        "Is the length counted without <eos>? L is the number of words with <eos>.",
        variant(
            final=lambda path, alpha: path.log_prob / max(1, len(path.tokens) - path.ended) ** alpha
        ),
    ),
    Likely(
        "Does your length count <sos>? L is the number of words that were written, with <eos>.",
        variant(final=lambda path, alpha: path.log_prob / (len(path.tokens) + 1) ** alpha),
    ),
    Likely(
        "Did you multiply by alpha? It is the exponent of the length: log_prob / L**alpha.",
        variant(final=lambda path, alpha: path.log_prob / (len(path.tokens) * alpha or 1)),
    ),
    Likely(
        "Is it another length penalty, ((5 + L) / 6)**alpha? Here it is L**alpha.",
        variant(final=lambda path, alpha: path.log_prob / ((5 + len(path.tokens)) / 6) ** alpha),
    ),
    Likely(
        "Did you multiply by the length? Divide by it: log_prob / L**alpha.",
        variant(final=lambda path, alpha: path.log_prob * len(path.tokens) ** alpha),
    ),
    Likely(
        "Do you prune by the normalised score? Prune by log-probability; alpha matters at the end only.",
        variant(rank=by_score),
    ),
    Likely(
        "Does a path that never ended win? One that ended comes before those that were cut off.",
        variant(finished_first=False),
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
    Likely("Did you return log_prob as it is? The score is log_prob / L**alpha.", _log_prob_returned),
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
