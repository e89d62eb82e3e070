"""What a sandbox sees of assignment 8: the functions that students' answers are handed."""

from __future__ import annotations

import torch
from torch import Tensor

State = tuple[Tensor, Tensor]


def score(s: Tensor, grid: Tensor, *, w_s: Tensor, w_h: Tensor, v: Tensor, scale: float = 1.0) -> Tensor:
    """Additive scores (B, N); scale makes them larger, or changes their sign."""
    return scale * torch.tanh((s @ w_s)[:, None] + grid @ w_h) @ v


def gate(s: Tensor, *, w: Tensor, b: Tensor) -> Tensor:
    """Any number for each picture, (B, 1)."""
    return s @ w + b


def cell(x: Tensor, state: State, *, w_x: Tensor, w_s: Tensor) -> State:
    """A step of an LSTM: x, (s, m) -> (s, m)."""
    s, m = state
    i, f, g, o = (x @ w_x + s @ w_s).chunk(4, dim=-1)
    m = torch.sigmoid(f) * m + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(m), m


def readout(y: Tensor, s: Tensor, c: Tensor, *, w_y: Tensor, w_s: Tensor, w_c: Tensor) -> Tensor:
    """Logits (B, V), linear in the word, the state and the context."""
    return y @ w_y + s @ w_s + c @ w_c


def lstm(x: Tensor, lengths: Tensor, *, w_in: Tensor, w_again: Tensor) -> Tensor:
    """A layer that reads in both directions: x (B, T, D) -> (B, T, 2 H)."""
    real = torch.arange(x.shape[1]) < torch.as_tensor(lengths)[:, None]
    both = []
    for side, order in enumerate((range(x.shape[1]), range(x.shape[1] - 1, -1, -1))):
        state, states = x.new_zeros(len(x), w_again.shape[-1]), {}
        for t in order:
            new = torch.tanh(x[:, t] @ w_in[side] + 0.5 * state @ w_again[side])
            state = torch.where(real[:, t, None], new, 0 * new)
            states[t] = state
        both.append(torch.stack([states[t] for t in range(x.shape[1])], dim=1))
    return torch.cat(both, dim=-1)
