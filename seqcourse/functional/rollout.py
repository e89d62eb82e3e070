"""Where information can have come from after several layers of attention."""

from __future__ import annotations

import torch
from torch import Tensor


def attention_rollout(weights: Tensor, residual: float = 0.5) -> Tensor:
    r"""Attention rollout (Abnar and Zuidema 2020): the weights of all layers as one matrix.

    One layer mixes what stands at the places; the residual connection keeps what was there. With
    :math:`\bar A_l` the mean of the layer's heads,

    .. math:: \tilde A_l = r I + (1 - r) \bar A_l, \qquad R = \tilde A_L \tilde A_{L-1} \cdots \tilde A_1

    Row i of R says how much of the vector at place i after the last layer stems from each place of the
    input, if every layer only averaged. Values, MLPs and normalisations are left out, so it is a picture
    of the routes, not of what was sent along them.

    Args:
        weights: (B, layers, H, N, N), rows sum to 1.
        residual: r, the share of the residual connection; one half in the paper.

    Returns:
        R, (B, N, N); its rows sum to 1.

    Raises:
        ValueError: if the weights have other axes, or the share is not between 0 and 1.
    """
    if weights.dim() != 5 or weights.shape[-1] != weights.shape[-2] or not weights.shape[1]:
        raise ValueError(
            f"The weights should be (B, layers, H, N, N), but they are {tuple(weights.shape)}."
        )
    if not 0 <= residual <= 1:
        raise ValueError(f"residual should be between 0 and 1, but it is {residual}.")
    kept = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    rolled = kept.expand(weights.shape[0], -1, -1)
    for layer in weights.mean(2).unbind(1):  # (B, N, N), the first layer first
        rolled = (residual * kept + (1 - residual) * layer) @ rolled
    return rolled
