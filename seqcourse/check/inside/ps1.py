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


def unlikeliest(logits: Tensor) -> Tensor:
    """What `choose` is in the check of `continue_text`: the entry with the smallest logit, (B,)."""
    return logits.argmin(dim=-1)
