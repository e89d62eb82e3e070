"""What a sandbox sees of assignment 3: the functions that are handed to `decoder_step`."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from seqcourse import functional


def look(
    s: Tensor, h: Tensor, mask: Tensor, score: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Context (B, D_H) and weights (B, T) of one look at the source."""
    weights = functional.softmax(score(s, h), mask=mask)
    return functional.weighted_sum(weights, h), weights


def readout(z: Tensor, out: Tensor) -> Tensor:
    """Logits (B, V) of everything that a decoder knows, side by side."""
    return z @ out.T
