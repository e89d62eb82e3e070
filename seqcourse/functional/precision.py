"""Sums of 16-bit numbers need 32 bits: float16 ends at 65,504, and bfloat16 has 8 binary digits."""

from __future__ import annotations

import torch
from torch import Tensor

SHORT = (torch.float16, torch.bfloat16)


def widened(x: Tensor) -> Tensor:
    """The same numbers in at least 32 bits, in which formulas square, exponentiate and sum.

    Args:
        x: any shape.

    Returns:
        float32 for float16 and bfloat16; every other type as it is.
    """
    return x.float() if x.dtype in SHORT else x
