"""Dropout, with a random byte per number."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import dropout as _of_the_device

CHOICES = 256  # what a byte can be


def check_share(share: float) -> None:
    """Refuse a share to drop that leaves nothing, or is none.

    Raises:
        ValueError: if it is not at least 0 and below 1.
    """
    if not 0 <= share < 1:
        raise ValueError(f"dropout should be at least 0 and below 1, but it is {share}.")


def dropout(x: Tensor, share: float) -> Tensor:
    r"""Set a random share p of the numbers to 0 (Srivastava et al. 2014).

    .. math:: y_i = \frac{m_i x_i}{1 - p}, \qquad m_i \sim \mathrm{Bernoulli}(1 - p)

    What is left grows, so that every expectation stays. A processor draws random numbers one after the
    other, 64 bits each, and a mask drawn number by number can cost more than the matrix products around
    it. A byte for each decides as well: on a CPU p is rounded to a multiple of 1/256, and the factor is
    that of the rounded p. A GPU draws in parallel; there PyTorch's kernel does it.

    Args:
        x: any shape.
        share: p, at least 0 and below 1.

    Returns:
        As ``x``.

    Raises:
        ValueError: if the share is not at least 0 and below 1.
    """
    check_share(share)
    if x.device.type != "cpu":
        return _of_the_device(x, share)
    dropped = min(round(share * CHOICES), CHOICES - 1)
    if dropped == 0:
        return x
    words = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    drawn = words.view(torch.uint8)[: x.numel()].view(x.shape)
    return x * (drawn >= dropped).to(x.dtype).mul_(CHOICES / (CHOICES - dropped))
