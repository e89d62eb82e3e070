"""Normalisation and activations against their formulas and PyTorch's."""

from __future__ import annotations

import math

import torch

from seqcourse import functional as F

X = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_layer_norm_is_its_formula():
    gamma, beta = torch.rand(2, 8, dtype=torch.float64)
    mu = X.mean(-1, keepdim=True)
    sigma = ((X - mu).square().mean(-1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(F.layer_norm(X, gamma, beta), gamma * (X - mu) / sigma + beta)
    constant = F.layer_norm(torch.ones(2, 8), torch.ones(8), torch.zeros(8))
    assert (constant == 0).all()


def test_rms_norm_is_pytorchs():
    gamma = torch.rand(8, dtype=torch.float64)
    expected = torch.nn.functional.rms_norm(X, (8,), gamma, 1e-5)
    torch.testing.assert_close(F.rms_norm(X, gamma), expected)


def test_gelu_and_its_approximations():
    expected = X / 2 * (1 + torch.erf(X / math.sqrt(2)))
    torch.testing.assert_close(F.gelu(X), expected)
    assert (F.gelu_sigmoid(X) - expected).abs().max() < 0.021
    assert (F.gelu_tanh(X) - expected).abs().max() < 5e-4
    torch.testing.assert_close(F.gelu_tanh(X), torch.nn.functional.gelu(X, approximate="tanh"))


def test_silu_is_pytorchs():
    torch.testing.assert_close(F.silu(X), torch.nn.functional.silu(X))
