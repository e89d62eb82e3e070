"""Halving the time axis: two neighbouring vectors become one."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from seqcourse.functional.masks import check_lengths, length_mask


def pair_neighbours(x: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
    r"""Put every two neighbouring vectors side by side (Chan et al. 2016, inside eq. 5).

    .. math:: p_i = [x_{2i}; x_{2i+1}], \qquad i = 0 \dots \lceil T/2 \rceil - 1

    Where a sequence's length is odd, its last vector is paired with zeros, and so nothing that was
    said is lost. What stands in the padding does not matter.

    Args:
        x: sequences, (B, T, D), padded on the right.
        lengths: real length of each, (B,), or None when none is padded.

    Returns:
        Pairs (B, ceil(T / 2), 2 D), zeros at padding, and their lengths (B,), int64.

    Raises:
        ValueError: if x is not (B, T, D), or there is not one length for each sequence.
    """
    if x.dim() != 3:
        raise ValueError(f"The sequences should be (B, T, D), but they are {tuple(x.shape)}.")
    batch, size, width = x.shape
    if lengths is None:
        lengths = torch.full((batch,), size, device=x.device)
    else:
        check_lengths(lengths, batch, size)
        x = x.masked_fill(~length_mask(lengths, size)[..., None], 0)  # whatever the padding holds
    if size % 2:
        x = pad(x, (0, 0, 0, 1))  # (B, T + 1, D)
    return x.reshape(batch, (size + 1) // 2, 2 * width), (lengths + 1) // 2
