"""What a sandbox sees of assignment 3: what is handed to `decoder_step`, how links are recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.recording import record
from seqcourse.check.calls.values import Found, Given


def look(
    s: Tensor, h: Tensor, mask: Tensor, score: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Context (B, D_H) and weights (B, T) of one look at the source."""
    weights = functional.softmax(score(s, h), mask=mask)
    return functional.weighted_sum(weights, h), weights


def readout(z: Tensor, out: Tensor) -> Tensor:
    """Logits (B, V) of everything that a decoder knows, side by side."""
    return z @ out.T


def record_links(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """The links of every sentence pair for a probe; a pair's words are joined by spaces in `given`."""

    def all_pairs(weights: Sequence[Tensor], source: Sequence[str], target: Sequence[str]) -> Any:
        pairs = zip(weights, source, target, strict=True)
        return tuple(student(w, s.split(" "), t.split(" ")) for w, s, t in pairs)

    return record(all_pairs, given, prefix)
