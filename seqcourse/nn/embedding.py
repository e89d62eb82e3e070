"""Tokens and their positions as vectors."""

from __future__ import annotations

import math
from functools import lru_cache

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
        ValueError: if the kind is unknown or the width of sines and cosines odd, or later for a sequence
            longer than the table.
    """

    def __init__(self, width: int, kind: str = "sinusoidal", longest: int = 512) -> None:
        super().__init__()
        if kind not in POSITIONS:
            raise ValueError(f"positions should be one of {', '.join(POSITIONS)}, but it is {kind!r}.")
        self.kind, self.width, self.longest = kind, width, longest
        self.table = nn.Parameter(torch.randn(longest, width) * 0.02) if kind == "learned" else None
        if kind == "sinusoidal":
            F.sinusoidal_encoding(1, width)  # refuses an odd width now, not at the first sequence

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
        size = 1 << max(6, (end - 1).bit_length())  # 64, 128, 256 ...
        return x + _sinusoids(size, self.width, x.device, x.dtype)[first:end]


@lru_cache(maxsize=32)
def _sinusoids(size: int, width: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The encodings of the first positions, (size, width), computed once.

    They are not a buffer of the module: processes that train together copy each other's buffers, which
    then need the same size everywhere.
    """
    with torch.inference_mode(False):  # training may use it after a validation made it
        return F.sinusoidal_encoding(size, width).to(device, dtype)


def embedding_table(size: int, width: int) -> nn.Parameter:
    """A table of tokens, (V, D), with entries of variance 1 / D: times sqrt(D) of variance 1.

    So the same table serves as output weights (tied embeddings, Press and Wolf 2017).
    """
    return nn.Parameter(torch.randn(size, width) / math.sqrt(width))
