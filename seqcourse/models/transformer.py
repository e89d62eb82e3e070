"""The Transformer (Vaswani et al. 2017): encoder and decoder made of attention and nothing recurrent."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse import functional as F
from seqcourse.models.interface import Maps, Memory, Output, Step, embed
from seqcourse.models.stack import all_weights
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.embedding import Positions, embedding_table
from seqcourse.nn.multi_head import Cache


class Transformer(nn.Module):
    r"""Encoder-decoder Transformer.

    Every layer of the decoder attends to what was written (masked: no look ahead) and to the encoder's
    last states. The logits are products with the target embeddings (tied embeddings).

    Args:
        source_size: source vocabulary.
        target_size: target vocabulary.
        width: d_model, of every vector.
        heads: H of every attention.
        layers: N of the encoder, and of the decoder.
        hidden: d_ff of the MLPs; 4 d_model if it is not given.
        norm: "pre" or "post", see :class:`seqcourse.nn.Block`.
        activation: of the MLPs.
        positions: "sinusoidal", "learned", "rotary" or "none". Rotary positions turn queries and keys of
            both self-attentions; between source and target nothing is turned.
        longest: number of learned positions.
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        width: int,
        heads: int,
        layers: int,
        *,
        hidden: int | None = None,
        norm: str = "pre",
        activation: str = "relu",
        positions: str = "sinusoidal",
        longest: int = 512,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.source_embedding = embedding_table(source_size, width)
        self.target_embedding = embedding_table(target_size, width)
        self.output_bias = nn.Parameter(torch.zeros(target_size))
        turned = positions == "rotary"  # in the attention, so nothing is added here
        added = "none" if turned else positions
        self.source_positions = Positions(width, added, longest)
        self.target_positions = Positions(width, added, longest)
        made = dict(norm=norm, activation=activation, dropout=dropout)
        made |= dict(rotary=10_000.0 if turned else None)
        hidden = hidden or 4 * width
        self.encoder = nn.ModuleList(Block(width, heads, hidden, **made) for _ in range(layers))
        self.decoder = nn.ModuleList(
            Block(width, heads, hidden, cross=True, **made) for _ in range(layers)
        )
        # With pre-norm the sums leave the last block as they are: one more normalisation.
        self.encoder_norm = LayerNorm(width) if norm == "pre" else nn.Identity()
        self.decoder_norm = LayerNorm(width) if norm == "pre" else nn.Identity()
        self.dropout = Dropout(dropout)

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        """Read the source: ids (B, T) and lengths (B,) to a memory with each layer's keys and values.

        Raises:
            ValueError: if there is not one length for each sequence, or one is not between 1 and T.
        """
        F.check_lengths(src_lengths, *src.shape[:2])
        mask = F.length_mask(src_lengths, src.shape[1])
        x = self._embed_source(src)
        for block in self.encoder:
            x, _ = block(x, mask[:, None])
        states = self.encoder_norm(x)
        keys = tuple(block.prepare(states) for block in self.decoder)
        return Memory(states=states, mask=mask, keys=keys)

    def start(self, memory: Memory, batch_size: int | None = None) -> tuple[Cache, ...]:
        """The state before the first word: an empty key-value cache for each layer."""
        return tuple(b.self_attention.empty_cache(len(memory.states)) for b in self.decoder)

    def step(self, tokens: Tensor, state: tuple[Cache, ...], memory: Memory) -> Step:
        """One word further: previous words (B,), the caches. Weights: the last layer's look, (B, T)."""
        first = state[0][0].shape[2]
        x = self._embed_target(tokens[:, None], first)
        longer, weights = [], None
        for number, (block, past, keys) in enumerate(
            zip(self.decoder, state, memory.keys, strict=True), start=1
        ):
            asked = number == len(self.decoder)
            x, past, weights = block.step(x, past, keys, memory.mask, need_weights=asked)
            longer.append(past)
        return Step(self._logits(x[:, 0]), tuple(longer), weights[:, :, 0].mean(1))

    def forward(
        self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor, need_weights: bool = False
    ) -> Output:
        """Teacher forcing, all words at once: (B, T), (B,), previous words (B, T') to logits (B, T', V).

        Args:
            need_weights: also give the last layer's look at the source, averaged over heads, (B, T', T).
        """
        memory = self.encode(src, src_lengths)
        x = self._embed_target(tgt_in)
        weights = None
        for number, (block, keys) in enumerate(zip(self.decoder, memory.keys, strict=True), start=1):
            asked = need_weights and number == len(self.decoder)
            x, (_, weights) = block(
                x, causal=True, memory=keys, memory_mask=memory.mask, need_weights=asked
            )
        return Output(self._logits(x), weights.mean(1) if need_weights else None)

    def maps(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Maps:
        """All attention weights: encoder's, decoder's own and its look at the source, layer by layer."""
        memory = self.encode(src, src_lengths)
        encoder = all_weights(self.encoder, self._embed_source(src), memory.mask[:, None])
        x, own, cross = self._embed_target(tgt_in), [], []
        for block, keys in zip(self.decoder, memory.keys, strict=True):
            x, (weights, look) = block(
                x, causal=True, memory=keys, memory_mask=memory.mask, need_weights=True
            )
            own.append(weights)
            cross.append(look)
        return Maps(encoder, torch.stack(own, 1), torch.stack(cross, 1))

    def _embed_source(self, src: Tensor) -> Tensor:
        """Tokens (B, T), or distributions over the vocabulary, to vectors with their positions."""
        x = embed(self.source_embedding, src) * math.sqrt(self.width)
        return self.dropout(self.source_positions(x))

    def _embed_target(self, tokens: Tensor, first: int = 0) -> Tensor:
        """Tokens (B, N), the first of them at that position, to vectors with their positions."""
        x = embed(self.target_embedding, tokens) * math.sqrt(self.width)
        return self.dropout(self.target_positions(x, first))

    def _logits(self, x: Tensor) -> Tensor:
        return nn.functional.linear(self.decoder_norm(x), self.target_embedding, self.output_bias)
