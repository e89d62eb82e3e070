"""Self-attention over the places of a picture: inside a convolutional network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcourse import functional as F


class FeatureMapAttention(nn.Module):
    r"""Self-attention over a feature map with a residual connection (Zhang et al. 2019).

    Queries, keys and values are 1 x 1 convolutions, that is, one linear layer for every place of the
    map; each of the N = H W places attends to all of them; another 1 x 1 convolution brings the result
    back to C channels, and it is added to the input:

    .. math:: A = \mathrm{softmax}\!\left(\frac{Q^\top K}{\sqrt{C'}}\right), \qquad
        Y = X + \gamma \, \mathrm{conv}_O\!\left(V A^\top\right)

    with Q, K, V of shape (C', N), a column for each place, and :math:`\gamma` learned.
    It starts at 0, so that a network into which the module is put computes what it did before.
    (The paper does not divide by the root; the other chapters do.)

    Args:
        channels: C, of input and output.
        inner: C', of queries, keys and values; C / 8, as in the paper for queries and keys, but at
            least 1, if it is not given.

    Raises:
        ValueError: if there are no channels, or later if the input has others.
    """

    def __init__(self, channels: int, inner: int | None = None) -> None:
        super().__init__()
        inner = max(1, channels // 8) if inner is None else inner
        if channels < 1 or inner < 1:
            raise ValueError(
                f"channels and inner should be at least 1, but they are {channels} and {inner}."
            )
        self.channels = channels
        self.query = nn.Conv2d(channels, inner, 1)
        self.key = nn.Conv2d(channels, inner, 1)
        self.value = nn.Conv2d(channels, inner, 1)
        self.out = nn.Conv2d(inner, channels, 1)
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            x: feature map, (B, C, H, W).
            need_weights: return the weights too.

        Returns:
            (B, C, H, W), and weights (B, H W, H W), places counted row by row, or None.
        """
        if x.dim() != 4 or x.shape[1] != self.channels:
            raise ValueError(
                f"The feature map should be (B, {self.channels}, H, W), but it is {tuple(x.shape)}."
            )
        q, k, v = (
            part(x).flatten(2).transpose(1, 2)  # (B, H W, C')
            for part in (self.query, self.key, self.value)
        )
        y, weights = F.attention(q, k, v, need_weights=need_weights)
        y = y.transpose(1, 2).unflatten(2, x.shape[2:])  # (B, C', H, W)
        return x + self.gamma * self.out(y), weights
