"""What a sandbox sees of assignment 1: the functions that are handed to students' answers."""

from __future__ import annotations

import torch
from torch import Tensor

State = tuple[Tensor, Tensor]


def write_step(
    tokens: Tensor, state: State, table: Tensor, w: Tensor, out: Tensor
) -> tuple[Tensor, State]:
    """A step of a small network that also counts its steps: logits (B, V) and the next state."""
    h, count = state
    h = torch.tanh(table[tokens] + h @ w)
    return h @ out, (h, count + 1)


def unlikeliest(asked: list[Tensor], logits: Tensor) -> Tensor:
    """What `choose` is in the check of `continue_text`: the entry with the smallest logit, (B,).

    Like a draw, it comes out differently each time: the next entry is that with the second smallest
    logit, and so on. `asked` holds what it was asked for.
    """
    asked.append(logits)
    return logits.argsort(dim=-1)[:, (len(asked) - 1) % logits.shape[-1]]


def read_chunk(
    tokens: Tensor, h: Tensor, table: Tensor, w: Tensor, out: Tensor
) -> tuple[Tensor, Tensor]:
    """A small network reads tokens (B, L): logits (B, L, V) and the state after them, (B, H)."""
    logits = []
    for now in tokens.unbind(dim=1):
        h = torch.tanh(table[now] + h @ w)
        logits.append(h @ out)
    return torch.stack(logits, dim=1), h
