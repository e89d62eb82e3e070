"""Pictures as sequences of vectors: what a Transformer reads instead of words."""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse import functional as F


class PatchEmbedding(nn.Module):
    r"""A picture as N vectors: squares of P x P pixels, each through the same linear map.

    .. math:: z_n = W \, \mathrm{vec}(\text{patch}_n) + b, \qquad W \in \mathbb{R}^{D \times C P^2}

    It computes what a convolution with kernel P, stride P and D output channels computes, place by
    place (Dosovitskiy et al. 2021). Positions are not part of it: a model adds them.

    Args:
        size: P, side of a patch in pixels.
        channels: C of the picture.
        width: D of the vectors.

    Raises:
        ValueError: if a number is below 1, or later if P does not divide the picture's sides or the
            picture has other channels.
    """

    def __init__(self, size: int, channels: int, width: int) -> None:
        super().__init__()
        if min(size, channels, width) < 1:
            raise ValueError(
                f"size, channels and width should be at least 1, but they are {size}, {channels} "
                f"and {width}."
            )
        self.size, self.channels = size, channels
        self.project = nn.Linear(channels * size * size, width)

    def forward(self, image: Tensor) -> Tensor:
        """Pictures (B, C, H, W) to vectors (B, N, D), N = (H / P) (W / P), row by row."""
        if image.dim() != 4 or image.shape[1] != self.channels:
            raise ValueError(
                f"The pictures should be (B, {self.channels}, H, W), but they are {tuple(image.shape)}."
            )
        return self.project(F.patches(image, self.size))
