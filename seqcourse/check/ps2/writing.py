"""Exercise 4: a batch of sentences written greedily."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise
from seqcourse.check.ps2.decoders import Step, ending_decoder
from seqcourse.tokens import EOS, PAD, SOS


def greedy_arguments(
    left: Sequence[int], max_len: int, v: int = 9, h: int = 5, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `greedy`: a decoder that ends sentence b after about left[b] words."""
    hidden = normal({"h": (len(left), h)}, seed=seed + 2)["h"]
    remaining = torch.tensor([[float(steps)] for steps in left], dtype=torch.float64)
    return {
        "step": ending_decoder(v, h, seed, hurry=25.0, once=True),
        "state": (hidden, remaining),
        "first": torch.full((len(left),), SOS),
        "max_len": max_len,
    }


def reference_greedy(step: Step, state: Any, first: Tensor, max_len: int) -> Tensor:
    """The likeliest words (B, L), each row to its <eos>, then <pad>."""
    tokens, written = first, []
    ended = torch.zeros(len(first), dtype=torch.bool)
    while len(written) < max_len and not ended.all():
        logits, state = step(tokens, state)
        tokens = logits.argmax(dim=-1)
        written.append(torch.where(ended, PAD, tokens))
        ended = ended | (tokens == EOS)
    return torch.stack(written, dim=1)


greedy = Exercise(
    "greedy",
    make=greedy_arguments,
    reference=reference_greedy,
    cases={
        "the first example": dict(left=(4, 2, 6), max_len=9, seed=0),
        "a batch of 1": dict(left=(3,), max_len=7, seed=10),
        "sentences that max_len cuts off": dict(left=(20, 3), max_len=5, seed=20),
        "a sentence that ends at once": dict(left=(1, 4), max_len=9, seed=30),
        "sentences that all end together": dict(left=(3, 3), max_len=8, seed=40),
        "max_len 1": dict(left=(4, 2), max_len=1, seed=50),
    },
    forbid=("greedy", "beam_search", "exhaustive_search", "seqcourse.decode.sample"),
)
