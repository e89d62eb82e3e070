"""Beam search: follow the K most likely paths at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from seqcourse.decode.choosing import best
from seqcourse.decode.interface import LENGTH_PENALTY, Hypothesis, Node, StepModel, normalised
from seqcourse.decode.running import Rows, begin, evaluating, hide, next_log_probs, penalty, whole_number
from seqcourse.decode.sampling import gather_weights
from seqcourse.decode.trees import select
from seqcourse.tokens import EOS

STOPS = ("n_best", "first")


def beam_search(
    model: StepModel,
    memory: Any,
    beam_width: int = 5,
    n_best: int = 1,
    length_penalty: float = LENGTH_PENALTY,
    max_len: int = 64,
    stop: str = "n_best",
    trace: list[list[Node]] | None = None,
    batch_size: int | None = None,
    *,
    prefix: Sequence[int] | Tensor | None = None,
    forbid: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    r"""The best outputs found by keeping the K = `beam_width` most likely paths at every step.

    One step, for every sentence of the batch:

    1. every path that has not ended is continued by every word,
       \log P(y_1..y_t) = \log P(y_1..y_{t-1}) + \log P(y_t | y_1..y_{t-1}, source);
    2. paths that ended in <eos> stop growing and compete as they are;
    3. the K most likely of all these stay. Among equals, the continuation of the better path and
       then the lower id stays. A continuation of probability 0 never does.

    Hypotheses are ranked by score = log_prob / |y|**alpha with alpha = `length_penalty`, where |y|
    counts <eos>: 0 ranks by probability, 1 by the mean log-probability per token. Pruning is by
    log_prob alone. Sutskever et al. (2014) decode so, except that finished paths leave their beam at
    once; Wu et al. (2016, section 7) say why the length has to be normalised.

    Beam search is not optimal: the best sequence is lost if one of its beginnings is not among the
    K most likely. With K = 1 it is `greedy`; where K is at least the number of paths there
    are, it is `exhaustive_search`.

    stop: "n_best" goes on until every path in the beam has ended, or none that still grows can come
        among the `n_best` (which is certain where even log_prob / max_len**alpha is too little).
        "first" stops as soon as the most likely path of the beam has ended and returns that one.
        Every path that ended while it was in the beam is ranked, also if it was pushed out later.
    max_len: at most this many tokens, <eos> counted. Paths cut off there have finished=False and are
        returned only where fewer than `n_best` ended, after those.
    trace: give an empty list to have the tree written into it (see `Node`), for one sentence only.
    memory, batch_size, prefix, forbid: as in `greedy`.

    Returns, for every sentence, its `n_best` hypotheses, best first, no two alike; fewer where the
    model allows, or the beam has found, fewer.

    Raises ValueError for arguments that make no sense: beam_width, n_best or max_len below 1, n_best
    above beam_width or (with stop="first") above 1, a negative length_penalty, a `trace` for several
    sentences, and where forbidden words leave a sentence without any output.
    """
    _check(beam_width, n_best, length_penalty, max_len, stop)
    weights: list[Tensor | None] = []  # of every step, one row per path that grew
    with evaluating(model):
        count, tokens, state, device = begin(model, memory, batch_size, prefix)
        if trace is not None and count > 1:
            raise ValueError(
                f"trace records the tree of one sentence, but there are {count}. "
                f"Search for one sentence at a time to draw it."
            )
        memories = Rows(memory, count, device)
        searches = [_Search(beam_width, n_best, length_penalty, max_len, stop) for _ in range(count)]
        going = list(range(count))  # the sentences that are not done
        sentences = going  # the sentence of every row
        while going:
            out = model.step(tokens, state, memories.of(sentences))
            log_probs = hide(next_log_probs(out, len(sentences)), forbid)
            values, ids = best(log_probs, beam_width)
            weights.append(out.weights)
            rows = zip(range(len(sentences)), values.tolist(), ids.tolist(), strict=True)
            grown = [(s, path) for s in going for path in searches[s].advance(rows, trace is not None)]
            going = [s for s in going if not searches[s].done]
            sentences = [s for s, _ in grown]
            index, tokens = torch.tensor(
                [[path.row for _, path in grown], [path.token for _, path in grown]],
                dtype=torch.int64,
                device=device,
            )
            state = select(out.state, index)
    weights = [None if step is None else step.cpu() for step in weights]
    ranked = [search.ranked() for search in searches]
    for sentence, paths in enumerate(ranked):
        if not paths:
            raise ValueError(
                f"sentence {sentence} has no output: every path met a step at which all that the "
                f"model allows is forbidden (forbid = {list(forbid)}). Forbid less."
            )
    if trace is not None:
        trace[:] = searches[0].drawn(ranked[0][0])
    return [[_hypothesis(path, length_penalty, weights) for path in paths] for paths in ranked]


@dataclass(slots=True, eq=False)
class _Path:
    """One path of the tree, as the last token and the path before it.

    row: the row of the model's call, number `length - 1`, that this path's last token came from.
    """

    parent: _Path | None
    token: int
    log_prob: float
    length: int
    row: int

    @property
    def finished(self) -> bool:
        return self.token == EOS

    def back(self) -> Iterator[_Path]:
        """This path, the path before its last token, and so on; without the root."""
        path = self
        while path.parent is not None:
            yield path
            path = path.parent


class _Search:
    """The beam of one sentence."""

    def __init__(self, width: int, n_best: int, alpha: float, max_len: int, stop: str) -> None:
        self.width, self.n_best, self.alpha = width, n_best, alpha
        self.max_len, self.stop = max_len, stop
        self.beam = [_Path(None, -1, 0.0, 0, 0)]  # best first
        self.ended: list[_Path] = []  # in the order of ending
        self.length = 0
        self.done = False
        self.tree: list[list[tuple[_Path, bool]]] = []  # candidates and whether they were kept

    def advance(self, rows: Iterator[tuple[int, list[float], list[int]]], remember: bool) -> list[_Path]:
        """One step: `rows` gives the best continuations of every path that still grows.

        Each is (row, log-probabilities, ids), best first. Returns the paths to grow next.
        """
        streams: list[Any] = [
            [path] if path.finished else self._continuations(path, *next(rows)) for path in self.beam
        ]
        if remember:
            streams = [list(stream) for stream in streams]
        merged = merge(*streams, key=lambda path: -path.log_prob)  # equals: the earlier stream
        kept = list(islice(merged, self.width))
        if remember:
            survivors = set(map(id, kept))
            grown = [path for stream in streams for path in stream if path.length > self.length]
            self.tree.append([(path, id(path) in survivors) for path in grown])
        self.length += 1
        self.beam = kept
        self.ended += [path for path in kept if path.finished and path.length == self.length]
        growing = [path for path in kept if not path.finished]
        self.done = self._is_done(growing)
        return [] if self.done else growing

    def _continuations(
        self, path: _Path, row: int, values: list[float], ids: list[int]
    ) -> Iterator[_Path]:
        for value, token in zip(values, ids, strict=True):
            if value == float("-inf"):
                return
            yield _Path(path, token, path.log_prob + value, self.length + 1, row)

    def score(self, path: _Path) -> float:
        return normalised(path.log_prob, path.length, self.alpha)

    def _is_done(self, growing: list[_Path]) -> bool:
        if not growing or self.length == self.max_len:
            return True
        if self.stop == "first":
            return self.beam[0].finished
        if len(self.ended) < self.n_best:
            return False
        to_beat = sorted(map(self.score, self.ended), reverse=True)[self.n_best - 1]
        return normalised(growing[0].log_prob, self.max_len, self.alpha) < to_beat

    def ranked(self) -> list[_Path]:
        """The n_best paths: those that ended by score, then those that were cut off by score."""
        if self.stop == "first" and self.beam and self.beam[0].finished:
            return self.beam[:1]
        cut = [path for path in self.beam if not path.finished]
        ended = sorted(self.ended, key=self.score, reverse=True)
        return (ended + sorted(cut, key=self.score, reverse=True))[: self.n_best]

    def drawn(self, best_path: _Path) -> list[list[Node]]:
        """The remembered tree as nodes."""
        on_best = set(map(id, best_path.back()))
        places: dict[int, int] = {}  # of the paths one step earlier
        steps = []
        for candidates in self.tree:
            steps.append(
                [
                    Node(
                        parent=places.get(id(path.parent)),
                        token=path.token,
                        log_prob=path.log_prob,
                        kept=kept,
                        finished=path.finished,
                        best=id(path) in on_best,
                    )
                    for path, kept in candidates
                ]
            )
            places = {id(path): place for place, (path, _) in enumerate(candidates)}
        return steps


def _hypothesis(path: _Path, alpha: float, weights: list[Tensor | None]) -> Hypothesis:
    words = [step for step in path.back() if not step.finished][::-1]
    return Hypothesis(
        tokens=[word.token for word in words],
        log_prob=path.log_prob,
        score=normalised(path.log_prob, path.length, alpha),
        finished=path.finished,
        weights=gather_weights(weights, [word.row for word in words]),
    )


def _check(beam_width: int, n_best: int, length_penalty: float, max_len: int, stop: str) -> None:
    whole_number("beam_width", beam_width)
    whole_number("n_best", n_best)
    whole_number("max_len", max_len)
    penalty(length_penalty)
    if n_best > beam_width:
        raise ValueError(
            f"n_best is {n_best}, but a beam of width {beam_width} holds only {beam_width} paths. "
            f"Widen the beam or ask for fewer."
        )
    if stop not in STOPS:
        raise ValueError(f"stop should be 'n_best' or 'first', but it is {stop!r}.")
    if stop == "first" and n_best > 1:
        raise ValueError(
            f"stop='first' ends the search with one hypothesis, but n_best is {n_best}. "
            f"Use stop='n_best' for several."
        )
