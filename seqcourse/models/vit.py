"""A Transformer that reads pictures, and a convolutional network to compare it with."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from seqcourse.models.stack import all_weights
from seqcourse.nn.blocks import Block, LayerNorm
from seqcourse.nn.embedding import Positions
from seqcourse.nn.patches import PatchEmbedding


class ViT(nn.Module):
    r"""The Vision Transformer (Dosovitskiy et al. 2021): a picture as a sentence of patches.

    .. math:: z_0 = [x_{class}; E\, p_1; \dots; E\, p_N] + P, \qquad
        z_l = \mathrm{Block}_l(z_{l-1}), \qquad \mathrm{logits} = W\, \mathrm{LN}(z_L)_0 + b

    The class token is a learned vector in front of the patches; what stands in its place after the last
    block is classified. The positions are learned, one vector per place. The blocks are the encoder's of
    the chapters on Transformers, pre-norm.

    Args:
        classes: C', number of classes.
        size: sides of the pictures, in pixels.
        patch: P, side of a patch; it must divide the size.
        channels: C of the pictures.
        width: D.
        heads: H.
        layers: L.
        hidden: d_ff of the MLPs; 4 D if it is not given.
        activation: of the MLPs.
        dropout: while training, on embeddings, sublayers, attention weights and MLPs.

    Raises:
        ValueError: if the patch does not divide the size, or the heads the width.
    """

    def __init__(
        self,
        classes: int,
        *,
        size: int,
        patch: int,
        channels: int = 1,
        width: int = 64,
        heads: int = 4,
        layers: int = 4,
        hidden: int | None = None,
        activation: str = "gelu",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if patch < 1 or size % patch:
            raise ValueError(
                f"A patch should divide the picture's side, {size} pixels, but it has {patch}."
            )
        self.side = size // patch  # patches on each side
        self.embed = PatchEmbedding(patch, channels, width)
        self.class_token = nn.Parameter(torch.randn(width) * 0.02)
        self.positions = Positions(width, "learned", 1 + self.side**2)
        self.blocks = nn.ModuleList(
            Block(width, heads, hidden or 4 * width, activation=activation, dropout=dropout)
            for _ in range(layers)
        )
        self.norm = LayerNorm(width)
        self.head = nn.Linear(width, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, images: Tensor) -> Tensor:
        """Pictures (B, C, H, W) to logits of the classes, (B, C')."""
        return self.head(self.states(images)[:, 0])

    def states(self, images: Tensor) -> Tensor:
        """What the last block knows, the class token first: (B, 1 + N, D)."""
        x = self.tokens(images)
        for block in self.blocks:
            x, _ = block(x)
        return self.norm(x)

    def tokens(self, images: Tensor) -> Tensor:
        """What the first block reads, the class token first: (B, 1 + N, D)."""
        x = self.embed(images)  # (B, N, D)
        first = self.class_token.expand(len(x), 1, -1)
        return self.dropout(self.positions(torch.cat([first, x], 1)))

    def maps(self, images: Tensor) -> Tensor:
        """All attention weights, (B, layers, H, 1 + N, 1 + N), the class token first."""
        return all_weights(self.blocks, self.tokens(images))


class ConvNet(nn.Module):
    r"""A plain convolutional classifier: 3 x 3 convolutions, the mean of the last map, a linear layer.

    Each stage is a convolution, a batch normalisation and a ReLU; between two stages the largest of
    2 x 2 neighbours goes on, so that the map's sides halve. Neighbourhood and equal treatment of all
    places are built in; a :class:`ViT` has to learn both.

    Args:
        classes: C', number of classes.
        stages: channels of each stage.
        channels: C of the pictures.
    """

    def __init__(self, classes: int, *, stages: Sequence[int], channels: int = 1) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(zip((channels, *stages), stages, strict=False)):
            layers += [nn.MaxPool2d(2)] if number else []
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(after), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(stages[-1], classes)

    def forward(self, images: Tensor) -> Tensor:
        """Pictures (B, C, H, W) to logits of the classes, (B, C')."""
        return self.head(self.layers(images).mean((2, 3)))
