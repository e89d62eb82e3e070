"""A Transformer's decoder that reads a memory of any kind: a picture's grid, states of sound."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse.models.interface import Memory, Step, embed
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.embedding import Positions, embedding_table
from seqcourse.nn.multi_head import Cache


class Writer(nn.Module):
    """Masked self-attention over the tokens so far, cross-attention to a memory (Vaswani et al. 2017).

    Args:
        vocabulary_size: V.
        width: d_model, of tokens and of the memory's vectors.
        heads: H of every attention.
        layers: N.
        hidden: d_ff of the MLPs; 4 d_model if it is not given.
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        hidden: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.embedding = embedding_table(vocabulary_size, width)
        self.positions = Positions(width)
        self.decoder = nn.ModuleList(
            Block(width, heads, hidden or 4 * width, cross=True, dropout=dropout) for _ in range(layers)
        )
        self.decoder_norm = LayerNorm(width)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(dropout)

    def remember(self, states: Tensor, mask: Tensor) -> Memory:
        """States (B, N, D) and which of them are real (B, N), with each layer's keys and values."""
        return Memory(states, mask, keys=tuple(block.prepare(states) for block in self.decoder))

    def start(self, memory: Memory, batch_size: int | None = None) -> tuple[Cache, ...]:
        """The state before the first token: an empty key-value cache for each layer."""
        return tuple(b.self_attention.empty_cache(len(memory.states)) for b in self.decoder)

    def step(self, tokens: Tensor, state: tuple[Cache, ...], memory: Memory) -> Step:
        """One token further: previous tokens (B,), the caches. Weights: the last layer's, (B, N)."""
        x = self._embed(tokens[:, None], first=state[0][0].shape[2])
        longer, weights = [], None
        for block, past, keys in zip(self.decoder, state, memory.keys, strict=True):
            x, past, weights = block.step(x, past, keys, memory.mask, need_weights=True)
            longer.append(past)
        return Step(self._logits(x[:, 0]), tuple(longer), weights[:, :, 0].mean(1))

    def write(
        self, memory: Memory, tgt_in: Tensor, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        """Previous tokens (B, T') to logits (B, T', V), and the last layer's weights (B, T', N), the
        mean of its heads.
        """
        x, weights = self._embed(tgt_in), None
        for block, keys in zip(self.decoder, memory.keys, strict=True):
            x, (_, weights) = block(
                x, causal=True, memory=keys, memory_mask=memory.mask, need_weights=need_weights
            )
        return self._logits(x), weights.mean(1) if need_weights else None

    def _embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        vectors = embed(self.embedding, tokens) * math.sqrt(self.width)
        return self.dropout(self.positions(vectors, first))

    def _logits(self, x: Tensor) -> Tensor:
        return nn.functional.linear(self.decoder_norm(x), self.embedding, self.output_bias)
