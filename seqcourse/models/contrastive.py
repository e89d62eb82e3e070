"""Two encoders, one for pictures and one for captions, whose vectors meet in one space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from seqcourse import functional as F
from seqcourse.models.interface import embed
from seqcourse.models.stack import small_normal_table
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.embedding import Positions
from seqcourse.nn.grid import GridEncoder


class ContrastivePair(nn.Module):
    r"""How well do a picture and a caption fit (CLIP, Radford et al. 2021)?

    .. math:: s(x, y) = \tau \, \frac{f(x)^\top g(y)}{\|f(x)\| \, \|g(y)\|}

    f reads a grid of vectors, made by another model, and g words; neither sees what the other reads.
    f ends in the mean over places, g at <sos>. The scale :math:`\tau` is learned, at most 100.

    Args:
        vocabulary_size: V, of the captions.
        width: D of both encoders and of the common space.
        heads: H of every attention.
        layers: blocks of each encoder.
        hidden: d_ff of the MLPs; 2 D if it is not given.
        longest: number of positions of a caption.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        width: int = 64,
        heads: int = 4,
        layers: int = 2,
        hidden: int | None = None,
        longest: int = 24,
    ) -> None:
        super().__init__()
        inner = hidden or 2 * width

        def blocks() -> nn.ModuleList:
            return nn.ModuleList(Block(width, heads, inner, activation="gelu") for _ in range(layers))

        self.longest = longest
        self.embedding = small_normal_table(vocabulary_size, width)
        self.positions = Positions(width, "learned", longest)
        self.picture_blocks, self.text_blocks = blocks(), blocks()
        self.picture_norm, self.text_norm = LayerNorm(width), LayerNorm(width)
        self.picture = nn.Linear(width, width, bias=False)
        self.text = nn.Linear(width, width, bias=False)
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, grids: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        """How well each of B pictures (B, N, D) fits each of C captions (C, T): logits (B, C)."""
        return self.scale() * self.see(grids) @ self.read(tokens, lengths).T

    def scale(self) -> Tensor:
        """tau."""
        return self.log_scale.clamp(max=math.log(100)).exp()

    def see(self, grids: Tensor) -> Tensor:
        """Unit vectors of pictures (B, N, D), (B, D)."""
        for block in self.picture_blocks:
            grids, _ = block(grids)
        return normalize(self.picture(self.picture_norm(grids).mean(1)), dim=-1)

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Unit vectors of captions (B, T), <sos> first and padded at the end, (B, D)."""
        F.check_lengths(lengths, *tokens.shape)
        mask = F.length_mask(lengths, tokens.shape[1])[:, None]
        y = self.positions(embed(self.embedding, tokens))
        for block in self.text_blocks:
            y, _ = block(y, mask)
        return normalize(self.text(self.text_norm(y[:, 0])), dim=-1)


class ScenePair(ContrastivePair):
    """A :class:`ContrastivePair` for pictures: a grid encoder that is not trained any more looks first.

    Args:
        vocabulary_size: V, of the captions.
        channels, size, blocks: of the :class:`seqcourse.nn.GridEncoder`.
        sizes: of the pair.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        channels: Sequence[int] = (16, 32, 64),
        size: int = 64,
        blocks: int = 1,
        **sizes: Any,
    ) -> None:
        super().__init__(vocabulary_size, **sizes)
        width = self.picture.in_features
        self.encoder = GridEncoder(width, size, tuple(channels), blocks, "noise").requires_grad_(False)

    def train(self, mode: bool = True) -> ScenePair:
        """As every module does, but the grid encoder also keeps its means and variances."""
        super().train(mode)
        self.encoder.eval()
        return self

    def see(self, grids: Tensor) -> Tensor:
        """Unit vectors of pictures (B, 3, S, S), (B, D)."""
        return super().see(self.encoder(grids))
