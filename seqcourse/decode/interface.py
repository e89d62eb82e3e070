"""What `decode` asks of a model, and what it gives back.

Every generator of tokens has three methods. With B sentences in the batch, T source positions
and V words in the target vocabulary:

    memory = model.encode(src, src_lengths)      # src (B, T), src_lengths (B,)
    state  = model.start(memory)                 # the decoder's first state, batch first
    out    = model.step(tokens, state, memory)   # tokens (B,) -> out.logits (B, V), out.state, ...

A search calls `encode` never (the caller did, once per sentence), `start` once and `step` once per
output position. A language model has nothing to encode: its memory is None, and
`model.start(None, batch_size=B)` is told how many sequences are wanted.

`memory` and `state` may be any nesting of tuples, lists, dicts and dataclasses of tensors whose
first dimension is the batch; `decode` never looks inside, it only picks rows
(`seqcourse.decode.select`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

LENGTH_PENALTY = 1.0
"""alpha of score = log_prob / length**alpha where nothing else is asked for."""


class StepLike(Protocol):
    """What `model.step` returns."""

    @property
    def logits(self) -> Tensor:
        """(B, V): one unnormalised log-probability for every word of the vocabulary."""

    @property
    def state(self) -> Any:
        """The decoder's new state, batch first."""

    @property
    def weights(self) -> Tensor | None:
        """(B, T): the attention weights of this step, or None without attention."""


class StepModel(Protocol):
    """Any model that writes one token after another."""

    def encode(self, src: Tensor, src_lengths: Tensor) -> Any: ...

    def start(self, memory: Any, batch_size: int | None = None) -> Any: ...

    def step(self, tokens: Tensor, state: Any, memory: Any) -> StepLike: ...


@dataclass(frozen=True)
class Hypothesis:
    """One output of a search.

    tokens: the ids that were written; <sos>, a prefix and <eos> are not among them.
    log_prob: log P(tokens, <eos> | source), or log P(tokens | source) where `finished` is False.
        It is always the model's own: temperature and filters change what is drawn, never this.
    score: log_prob / length**alpha, where length counts <eos>; what `beam_search` ranks by.
    finished: True where the path ended in <eos>, False where `max_len` cut it off.
    weights: (len(tokens), T) attention weights on the CPU, one row per token (none for <eos>),
        or None for a model without attention. T is the padded source length of the batch, so
        `weights[:, :source_length]` is the part that belongs to the sentence.
    """

    tokens: list[int]
    log_prob: float
    score: float
    finished: bool
    weights: Tensor | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Node:
    """One candidate of a beam search, as `trace` records it for drawing the tree.

    A trace is a list of steps, a step is a list of nodes: `trace[t][i]` is a candidate for output
    position t (counted from 0). Its siblings and it are the most likely continuations of one
    path, best first; parents come in the order of their rank in the beam.

    parent: index into `trace[t - 1]`, the node this one continues; None at t = 0 (the root, <sos>).
    token: the id that the node adds.
    log_prob: log-probability of the whole path from the root to here.
    kept: True where it survived the pruning of its step (at most K nodes of a step do).
    finished: True where the token is <eos>: the path has ended and has no children. It is False
        for every candidate that may still grow.
    best: True on the path of the hypothesis that the search returned first.
    """

    parent: int | None
    token: int
    log_prob: float
    kept: bool
    finished: bool
    best: bool


def normalised(log_prob: float, length: int, length_penalty: float) -> float:
    r"""The score of a path, \log P / |y|^\alpha (|y| counts <eos>).

    Every further word multiplies the probability by a number below one, so \alpha = 0 favours short
    outputs; \alpha = 1 is the mean log-probability per token. Wu et al. (2016), section 7, tried
    this form first, found 0.6 to 0.7 a good \alpha on their data and went on to
    ((5 + |y|) / 6)^\alpha.
    """
    return log_prob / length**length_penalty
