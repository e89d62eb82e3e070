"""What exercises with a mask share: scores far below 0, where a number in place of -inf shows."""

from __future__ import annotations

import math

from torch import Tensor

# How far. -1e9 in place of -inf is lower still: it is widely used, and right with these scores, too.
FAR_BELOW = 1e6


def set_far_apart(q: Tensor, k: Tensor) -> None:
    """Change queries and keys (..., D) in place, so that every similarity is near -FAR_BELOW."""
    q[..., 0] = math.sqrt(FAR_BELOW * q.shape[-1])
    k[..., 0] = -math.sqrt(FAR_BELOW)
