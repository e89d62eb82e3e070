"""What exercises with a mask share: scores far below 0, where a number in place of -inf shows."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Softmax = Callable[[Tensor, Tensor | None], Tensor]

# How far. -1e9 in place of -inf is lower still: it is widely used, and right with these scores, too.
FAR_BELOW = 1e6
QUESTION = (
    "Is there a number such as -20 in place of -inf? Where all that may be looked at scores far below "
    'it, what is masked gets the weight: use float("-inf").'
)


def set_far_apart(q: Tensor, k: Tensor) -> None:
    """Change queries and keys (..., D) in place, so that every similarity is near -FAR_BELOW."""
    q[..., 0] = math.sqrt(FAR_BELOW * q.shape[-1])
    k[..., 0] = -math.sqrt(FAR_BELOW)


def _with(number: float, then_0: bool) -> Softmax:
    def soften(scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return torch.softmax(scores, dim=-1)
        weights = torch.softmax(scores.masked_fill(~mask, number), dim=-1)
        return weights * mask if then_0 else weights

    return soften


# The mistakes: a number in place of -inf; in half of them the masked weights become 0 afterwards.
MISTAKES = tuple(_with(number, then_0) for number in (-20.0, -100.0, -1e4) for then_0 in (False, True))
