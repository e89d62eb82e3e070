"""An encoder alone (Devlin et al. 2019): every word sees the words on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import embed
from seqcourse.models.stack import all_weights, small_normal_table
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.embedding import Positions


@dataclass
class BertOutput:
    """Both tasks of BERT's pre-training.

    Attributes:
        words: logits of the word at each place, (B, T, V).
        follows: logits that the second segment does not (0) or does (1) follow the first, (B, 2).
    """

    words: Tensor
    follows: Tensor


class BERT(nn.Module):
    """An encoder pre-trained on masked words and on pairs of sentences.

    The input is the sum of a word's, a position's and a segment's vector, normalised; the blocks are
    post-norm. The first place, <cls>, stands for the whole text. The logits of masked words are
    products with the word embeddings (tied).

    Args:
        vocabulary_size: V.
        width: D.
        heads: H of every layer.
        layers: N.
        hidden: d_ff of the MLPs; 4 D if it is not given.
        longest: number of positions.
        segments: how many kinds of segment there are.
        norm: "post" as published, or "pre".
        activation: of the MLPs.
        eps: of every layer normalisation.
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.
        pretraining: whether it has the heads of the two pre-training tasks; without, ``forward`` has
            nothing to say, but ``states`` and ``pooled`` do.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        hidden: int | None = None,
        longest: int = 256,
        segments: int = 2,
        norm: str = "post",
        activation: str = "gelu",
        eps: float = 1e-5,
        dropout: float = 0.0,
        pretraining: bool = True,
    ) -> None:
        super().__init__()
        self.width, self.longest = width, longest
        self.embedding = small_normal_table(vocabulary_size, width)
        self.segment_embedding = small_normal_table(segments, width)
        self.positions = Positions(width, "learned", longest)
        self.embedding_norm = LayerNorm(width, eps)
        made = dict(norm=norm, activation=activation, eps=eps, dropout=dropout)
        self.blocks = nn.ModuleList(
            Block(width, heads, hidden or 4 * width, **made) for _ in range(layers)
        )
        self.norm = LayerNorm(width, eps) if norm == "pre" else nn.Identity()
        self.pooler = nn.Linear(width, width)
        self.dropout = Dropout(dropout)
        if pretraining:
            self.word_dense = nn.Linear(width, width)
            self.word_norm = LayerNorm(width, eps)
            self.word_bias = nn.Parameter(torch.zeros(vocabulary_size))
            self.follows = nn.Linear(width, 2)

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
    ) -> BertOutput:
        """Both tasks at once.

        Args:
            tokens: (B, T), <cls> first.
            mask: (B, 1, T), True = a real token, may be attended to; None if all are. (B, T) is taken,
                too, unless B = T: then it could be a mask of queries and keys.
            segments: 0 or 1 for each token, (B, T); None if there is one segment only.
        """
        states = self.states(tokens, mask, segments)
        return BertOutput(self.logits(states), self.follows(self.pooled(states)))

    def states(
        self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
    ) -> Tensor:
        """What the last layer knows at each place, (B, T, D), from both sides."""
        x = self._embed(tokens, segments)
        for block in self.blocks:
            x, _ = block(x, mask)
        return self.norm(x)

    def pooled(self, states: Tensor) -> Tensor:
        r"""The whole text as one vector, :math:`\tanh(W h_1 + b)`: states (B, T, D) to (B, D)."""
        return torch.tanh(self.pooler(states[:, 0]))

    def summary(self, states: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The vector that a classifier reads, (B, D): :meth:`pooled`."""
        return self.pooled(states)

    def logits(self, states: Tensor) -> Tensor:
        """States (..., D) to logits of the word at that very place, (..., V)."""
        x = self.word_norm(F.gelu(self.word_dense(states)))
        return nn.functional.linear(x, self.embedding, self.word_bias)

    def maps(self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """All attention weights, (B, layers, H, T, T)."""
        return all_weights(self.blocks, self._embed(tokens, segments), mask)

    def _embed(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        if segments is None:
            segments = torch.zeros_like(tokens)
        x = embed(self.embedding, tokens) + embed(self.segment_embedding, segments)
        return self.dropout(self.embedding_norm(self.positions(x)))
