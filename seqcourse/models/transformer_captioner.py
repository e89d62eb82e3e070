"""A Transformer's decoder that reads a picture's grid instead of a sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse.models.captioner import Captioned
from seqcourse.models.interface import Memory
from seqcourse.models.writer import Writer
from seqcourse.nn import GridEncoder
from seqcourse.nn.blocks import LayerNorm


class TransformerCaptioner(Writer):
    """A convolutional network looks, a Transformer's decoder writes (Vaswani et al. 2017).

    Args:
        vocabulary_size, width, heads, layers, hidden, dropout: see :class:`seqcourse.models.Writer`.
        size: sides of the pictures, in pixels.
        blocks: residual blocks of the encoder, see :class:`seqcourse.nn.GridEncoder`.
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
        encoder = GridEncoder(width, size, blocks=blocks)  # first: a seed gives what it always gave
        super().__init__(vocabulary_size, width, heads, layers, hidden=hidden, dropout=dropout)
        self.encoder = encoder
        self.encoder_norm = LayerNorm(width)

    @property
    def side(self) -> int:
        """Places on each side of the grid."""
        return self.encoder.side

    def encode(self, pictures: Tensor, lengths: Tensor | None = None) -> Memory:
        """Look at pictures (B, 3, S, S): the grid, with each layer's keys and values."""
        grid = self.encoder_norm(self.encoder(pictures))  # (B, N, D)
        return self.remember(grid, torch.ones(grid.shape[:2], dtype=torch.bool, device=grid.device))

    def forward(
        self, pictures: Tensor, lengths: Tensor | None, tgt_in: Tensor, need_weights: bool = True
    ) -> Captioned:
        """Teacher forcing: pictures (B, 3, S, S), previous words (B, T') to logits (B, T', V).

        Args:
            need_weights: also give the last layer's look at the grid, mean over heads, (B, T', N).
        """
        return Captioned(*self.write(self.encode(pictures), tgt_in, need_weights))
