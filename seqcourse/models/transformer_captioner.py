"""A Transformer's decoder that reads a picture's grid instead of a sentence."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse.models.captioner import Captioned
from seqcourse.models.interface import Memory, Step, embed
from seqcourse.nn import GridEncoder
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.embedding import Positions, embedding_table
from seqcourse.nn.multi_head import Cache


class TransformerCaptioner(nn.Module):
    """Masked self-attention over the words so far, cross-attention to the grid (Vaswani et al. 2017).

    Args:
        vocabulary_size: V.
        width: d_model, of words and of the grid's vectors.
        heads: H of every attention.
        layers: N of the decoder.
        hidden: d_ff of the MLPs; 4 d_model if it is not given.
        size: sides of the pictures, in pixels.
        blocks: residual blocks of the encoder, see :class:`seqcourse.nn.GridEncoder`.
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
        size: int = 64,
        blocks: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.encoder = GridEncoder(width, size, blocks=blocks)
        self.encoder_norm = LayerNorm(width)
        self.embedding = embedding_table(vocabulary_size, width)
        self.positions = Positions(width)
        self.decoder = nn.ModuleList(
            Block(width, heads, hidden or 4 * width, cross=True, dropout=dropout) for _ in range(layers)
        )
        self.decoder_norm = LayerNorm(width)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(dropout)

    @property
    def side(self) -> int:
        """Places on each side of the grid."""
        return self.encoder.side

    def encode(self, pictures: Tensor, lengths: Tensor | None = None) -> Memory:
        """Look at pictures (B, 3, S, S): the grid, with each layer's keys and values."""
        grid = self.encoder_norm(self.encoder(pictures))  # (B, N, D)
        everywhere = torch.ones(grid.shape[:2], dtype=torch.bool, device=grid.device)
        return Memory(states=grid, mask=everywhere, keys=tuple(b.prepare(grid) for b in self.decoder))

    def start(self, memory: Memory, batch_size: int | None = None) -> tuple[Cache, ...]:
        """The state before the first word: an empty key-value cache for each layer."""
        return tuple(b.self_attention.empty_cache(len(memory.states)) for b in self.decoder)

    def step(self, tokens: Tensor, state: tuple[Cache, ...], memory: Memory) -> Step:
        """One word further: previous words (B,), the caches. Weights: the last layer's look, (B, N)."""
        x = self._embed(tokens[:, None], first=state[0][0].shape[2])
        longer, weights = [], None
        for block, past, keys in zip(self.decoder, state, memory.keys, strict=True):
            x, past, weights = block.step(x, past, keys, memory.mask, need_weights=True)
            longer.append(past)
        return Step(self._logits(x[:, 0]), tuple(longer), weights[:, :, 0].mean(1))

    def forward(
        self, pictures: Tensor, lengths: Tensor | None, tgt_in: Tensor, need_weights: bool = True
    ) -> Captioned:
        """Teacher forcing: pictures (B, 3, S, S), previous words (B, T') to logits (B, T', V).

        Args:
            need_weights: also give the last layer's look at the grid, mean over heads, (B, T', N).
        """
        memory = self.encode(pictures)
        x, weights = self._embed(tgt_in), None
        for block, keys in zip(self.decoder, memory.keys, strict=True):
            x, (_, weights) = block(
                x, causal=True, memory=keys, memory_mask=memory.mask, need_weights=need_weights
            )
        return Captioned(self._logits(x), weights.mean(1) if need_weights else None)

    def _embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        vectors = embed(self.embedding, tokens) * math.sqrt(self.width)
        return self.dropout(self.positions(vectors, first))

    def _logits(self, x: Tensor) -> Tensor:
        return nn.functional.linear(self.decoder_norm(x), self.embedding, self.output_bias)
