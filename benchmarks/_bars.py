"""When a measurement misses a bar that it states."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def missed(values: Sequence[float], most: float) -> bool:
    """Whether a bar is missed by more than the values' own spread: three of four turns lie above it."""
    if len(values) < 2:
        return max(values) > most
    lower, _, _ = statistics.quantiles(values, n=4, method="inclusive")
    return lower > most
