"""Formulas of captioning: what asks a decoder to look at the whole picture."""

from __future__ import annotations

from torch import Tensor


def doubly_stochastic(weights: Tensor, real: Tensor) -> Tensor:
    r"""How far the weights that each place gets over a whole caption are from 1 (Xu et al. 2015).

    .. math:: R = \frac{1}{B} \sum_b \sum_i \Big(1 - \sum_t a_{b,t,i}\Big)^2

    At each step t the weights sum to 1 over the places i, whatever the decoder does. This asks besides
    that they sum to about 1 over the steps, so that no place of the picture is left out.

    Args:
        weights: attention weights a, (B, T', N).
        real: which steps are real words and not padding, (B, T'), True = counts.

    Returns:
        A scalar, at least 0.

    Raises:
        ValueError: if there is not one sign of reality for each step.
    """
    if weights.dim() != 3 or weights.shape[:2] != real.shape:
        raise ValueError(
            f"doubly_stochastic needs weights (B, T', N) and one sign per step (B, T'), but the weights "
            f"are {tuple(weights.shape)} and the signs {tuple(real.shape)}."
        )
    got = (weights * real[..., None]).sum(1)  # (B, N)
    return (1 - got).pow(2).sum(-1).mean()
