"""What a sandbox sees of assignment 6: the parts of a block, and the small model of `translate`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.tokens import EOS

READINGS = count()
NEVER = -30.0  # the logit of what the model never writes
ANOTHER = "The memory of this step is another one than that of start: the source is encoded once."


def attend(
    w_q: Tensor, w_k: Tensor, w_v: Tensor, queries: Tensor, memory: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Attention of the queries (B, N_Q, D) to the memory (B, N, D): (B, N_Q, D)."""
    return functional.attention(queries @ w_q, memory @ w_k, memory @ w_v, mask)[0]


def mlp(inner: Tensor, bias: Tensor, outer: Tensor, x: Tensor) -> Tensor:
    """Two layers with a ReLU between them: (..., D)."""
    return torch.relu(x @ inner + bias) @ outer


@dataclass
class Memory:
    """What a small model's encoder leaves: states (B, T, D), mask (B, T), the number of the reading."""

    states: Tensor
    mask: Tensor
    reading: int | None = None


@dataclass
class Step:
    """What a step gives: logits (B, V), the state after it, weights over the source (B, T)."""

    logits: Tensor
    state: Any
    weights: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class Small:
    """A model with fixed weights and the three methods of the course's models.

    It ends a sentence after about as many words as the first source word's id says (minus 3), and
    would go on with other words after <eos>.

    sources: the vectors of the source words, (64, H).
    table, w, out: the weights of the decoder, (V, H), (H, H), (H, V).
    """

    sources: Tensor
    table: Tensor
    w: Tensor
    out: Tensor

    def __repr__(self) -> str:
        return "a small model"

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        mask = functional.length_mask(src_lengths, src.shape[1])
        return Memory(self.sources[src], mask, next(READINGS))

    def start(self, memory: Memory, batch_size: int | None = None) -> Any:
        read = (memory.states * memory.mask[..., None]).sum(dim=1)
        first = (memory.states[:, :1] - self.sources).abs().sum(dim=-1).argmin(dim=-1)  # (B,)
        left = (first - 3).to(read.dtype)[:, None]
        return torch.tanh(read), left, memory.reading

    def step(self, tokens: Tensor, state: Any, memory: Memory) -> Step:
        hidden, left, first = state
        if memory.reading not in (first, None):
            raise ValueError(ANOTHER)
        hidden = torch.tanh(self.table[tokens] + hidden @ self.w)
        logits, left = 2 * hidden @ self.out, left - 1
        special = torch.full((len(tokens), 2), NEVER, dtype=logits.dtype)  # <pad> and <sos>
        ending = logits[:, EOS : EOS + 1] / 2 + 12 * (1 - left.abs())  # likely when no word is left
        logits = torch.cat([special, ending, logits[:, EOS + 1 :]], dim=1)
        even = memory.mask / memory.mask.sum(dim=1, keepdim=True)
        return Step(logits, (hidden, left, first), even)
