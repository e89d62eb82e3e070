"""Tokens and their positions as vectors."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqcourse import functional as F

POSITIONS = ("sinusoidal", "learned", "none")


class Positions(nn.Module):
    """Adds to each vector what tells where it stands.

    Args:
        width: D.
        kind: "sinusoidal" (Vaswani et al. 2017), "learned" (a table, up to ``longest``), or "none".
        longest: how many positions a learned table has.

    Raises:
        ValueError: if the kind is unknown, or later for a sequence longer than the table.
    """

    def __init__(self, width: int, kind: str = "sinusoidal", longest: int = 512) -> None:
        super().__init__()
        if kind not in POSITIONS:
            raise ValueError(f"positions should be one of {', '.join(POSITIONS)}, but it is {kind!r}.")
        self.kind, self.width, self.longest = kind, width, longest
        self.table = nn.Parameter(torch.randn(longest, width) * 0.02) if kind == "learned" else None
        # Computed once, made longer when a sequence asks for it.
        known = F.sinusoidal_encoding(64, width) if kind == "sinusoidal" else None
        self.register_buffer("known", known, persistent=False)

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Vectors (B, N, D), of which the first stands at position ``first``."""
        if self.kind == "none":
            return x
        end = first + x.shape[1]
        if self.kind == "learned":
            if end > self.longest:
                raise ValueError(
                    f"The model has learned {self.longest} positions, but the sequence needs {end}. "
                    f"Shorten it, or train with more."
                )
            return x + self.table[first:end]
        if end > len(self.known):
            self.known = F.sinusoidal_encoding(2 * end, self.width).to(self.known)
        return x + self.known[first:end]


def embedding_table(size: int, width: int) -> nn.Parameter:
    """A table of tokens, (V, D), with entries of variance 1 / D: times sqrt(D) of variance 1.

    So the same table serves as output weights (tied embeddings, Press and Wolf 2017).
    """
    return nn.Parameter(torch.randn(size, width) / math.sqrt(width))
