"""Where a decoder starts: four choices for s_0."""

from __future__ import annotations

import torch
from torch import Tensor, nn

KINDS = ("zeros", "learned", "mean", "last")


class FirstState(nn.Module):
    r"""The decoder's first state s_0 from what the encoder leaves.

    ==========  ==========================================================
    kind        s_0
    ==========  ==========================================================
    "zeros"     0
    "learned"   a parameter, the same for every sentence
    "mean"      :math:`\tanh(W \frac{1}{T} \sum_i h_i + b)`
    "last"      :math:`\tanh(W h_T + b)` (Bahdanau et al. 2015 take the backward network's)
    ==========  ==========================================================

    Args:
        kind: one of the four.
        memory_size: D_H.
        state_size: D_S.

    Raises:
        ValueError: if the kind is unknown.
    """

    def __init__(self, kind: str, memory_size: int, state_size: int) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind should be one of {', '.join(KINDS)}, but it is {kind!r}.")
        self.kind, self.state_size = kind, state_size
        if kind == "learned":
            self.state = nn.Parameter(torch.zeros(state_size))
        elif kind in ("mean", "last"):
            self.project = nn.Linear(memory_size, state_size)

    def forward(self, states: Tensor, mask: Tensor, final: Tensor) -> Tensor:
        """Encoder states (B, T, D_H), mask (B, T) and final state (B, D_H) to s_0 (B, D_S)."""
        batch = states.shape[0]
        if self.kind == "zeros":
            return states.new_zeros(batch, self.state_size)
        if self.kind == "learned":
            return self.state.expand(batch, -1)
        return torch.tanh(self.project(average(states, mask) if self.kind == "mean" else final))


def average(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of the real states of each sentence: states (B, T, D), mask (B, T), to (B, D).

    Zeros where a sentence has no real state.
    """
    real = mask[..., None].to(states.dtype)
    return (states * real).sum(1) / real.sum(1).clamp_min(1)
