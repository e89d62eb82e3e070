"""What stands between the attention layers: normalisation and activation functions."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu as _fused_gelu
from torch.nn.functional import layer_norm as _fused_layer_norm

from seqcourse.functional.precision import widened
from seqcourse.functional.widths import check_width


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    r"""Layer normalisation (Ba et al. 2016): every vector alone gets mean 0 and variance 1.

    .. math:: \mu = \frac{1}{D}\sum_i h_i, \qquad
        \sigma = \sqrt{\frac{1}{D}\sum_i (h_i - \mu)^2 + \epsilon}, \qquad
        y_i = \gamma_i \frac{h_i - \mu}{\sigma} + \beta_i

    Args:
        x: vectors, (..., D).
        gamma: scales, (D,).
        beta: shifts, (D,).
        eps: keeps a constant vector from a division by 0.

    Returns:
        As ``x``.

    Raises:
        ValueError: if the vectors have another width than gamma and beta.
    """
    check_width("layer_norm", x, gamma.shape[0])
    return _fused_layer_norm(x, gamma.shape, gamma, beta, eps)


def rms_norm(x: Tensor, gamma: Tensor, eps: float = 1e-5) -> Tensor:
    r"""Root-mean-square normalisation (Zhang and Sennrich 2019): only the length is normalised.

    .. math:: y_i = \gamma_i \, h_i \Big/ \sqrt{\frac{1}{D}\sum_j h_j^2 + \epsilon}

    Args:
        x: vectors, (..., D).
        gamma: scales, (D,).
        eps: keeps the vector 0 from a division by 0.

    Returns:
        As ``x``.

    Raises:
        ValueError: if the vectors have another width than gamma.
    """
    check_width("rms_norm", x, gamma.shape[0])
    wide = widened(x)
    y = widened(gamma) * wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return y.to(x.dtype)


def gelu(x: Tensor) -> Tensor:
    r"""Gaussian error linear unit (Hendrycks and Gimpel 2016), x times the chance to be below x.

    .. math:: x \, P(X \le x) = \frac{x}{2}\left(1 + \mathrm{erf}\frac{x}{\sqrt 2}\right), \qquad
        X \sim N(0, 1)
    """
    return _fused_gelu(x)


def gelu_sigmoid(x: Tensor) -> Tensor:
    r"""The quick approximation of :func:`gelu`, :math:`x\,\mathrm{sigmoid}(1.702\,x)`."""
    return x * torch.sigmoid(1.702 * x)


def gelu_tanh(x: Tensor) -> Tensor:
    r"""The closer approximation of :func:`gelu` that GPT-2 uses.

    .. math:: \frac{x}{2}\left(1 + \tanh\left(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right)\right)
    """
    return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Tensor) -> Tensor:
    r"""Sigmoid linear unit, :math:`x\,\mathrm{sigmoid}(x)`; also called swish."""
    return x * torch.sigmoid(x)
