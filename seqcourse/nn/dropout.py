"""Dropout as a module."""

from __future__ import annotations

from torch import Tensor, nn

from seqcourse import functional as F


class Dropout(nn.Module):
    """Dropout while training, nothing otherwise, see :func:`functional.dropout`.

    Args:
        share: p, at least 0 and below 1.

    Raises:
        ValueError: if the share is not at least 0 and below 1.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        F.check_share(share)
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """Numbers of any shape to as many."""
        return F.dropout(x, self.share) if self.training and self.share else x

    def extra_repr(self) -> str:
        """What is printed between the brackets."""
        return f"share={self.share}"
