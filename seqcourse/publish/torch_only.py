"""What an ejected file takes from the course: each formula in its short form, with PyTorch alone."""

from __future__ import annotations

import math
from collections import namedtuple

import torch

Step = namedtuple("Step", "logits state weights", defaults=[None])


def causal_mask(size, past=0, device=None):
    """True where a query may look: at itself and at what stands before it."""
    return torch.ones(size, past + size, dtype=torch.bool, device=device).tril(past)


def length_mask(lengths, size):
    """True at the places of a padded batch that hold a real word, (B, T)."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def softmax(x, dim=-1, mask=None):
    """Weights that sum to 1; 0 where the mask hides, also if it hides everything."""
    if mask is None:
        return torch.softmax(x, dim)
    return torch.softmax(x.masked_fill(~mask, -math.inf), dim).masked_fill(~mask, 0.0)


def attention(q, k, v, mask=None, *, causal=False, need_weights=False, dropout=0.0):
    """softmax(Q K^T / sqrt(D)) V, and the weights."""
    if causal:
        size, past = q.shape[-2], k.shape[-2] - q.shape[-2]
        ahead = torch.ones(size, past + size, dtype=torch.bool, device=q.device).tril(past)
        mask = ahead if mask is None else mask & ahead
    weights = softmax(q @ k.mT / math.sqrt(q.shape[-1]), mask=mask)
    return torch.dropout(weights, dropout, dropout > 0) @ v, weights


def sinusoidal_encoding(positions, width, base=10_000.0):
    """Sines and cosines of the positions, from fast ones to slow ones, (N, D)."""
    positions = positions if isinstance(positions, torch.Tensor) else torch.arange(positions)
    steps = torch.arange(0, width, 2, device=positions.device)
    angles = positions[..., None] * torch.exp(-math.log(base) * steps / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def layer_norm(x, gamma, beta, eps=1e-5):
    """Every vector with mean 0 and variance 1, scaled and shifted."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)
