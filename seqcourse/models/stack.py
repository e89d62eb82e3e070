"""What models made of one stack of blocks share."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from seqcourse.nn.blocks import Block


def small_normal_table(size: int, width: int) -> nn.Parameter:
    """A table (V, D) with entries of standard deviation 0.02, as GPT and BERT begin."""
    return nn.Parameter(torch.randn(size, width) * 0.02)


def all_weights(
    blocks: Iterable[Block], x: Tensor, mask: Tensor | None = None, causal: bool = False
) -> Tensor:
    """Attention weights of every block, (B, layers, H, T, T), while x (B, T, D) goes through them."""
    found = []
    for block in blocks:
        x, (weights, _) = block(x, mask, causal=causal, need_weights=True)
        found.append(weights)
    return torch.stack(found, 1)
