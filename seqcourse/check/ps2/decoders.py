"""Small decoders with fixed weights, which the checks of assignment 2 hand to students' functions.

Each is a function step(tokens, state) -> (logits, state) for any batch size. The ids are those of the
course: 0 is padding, 1 <sos>, 2 <eos>, words begin with 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check import core
from seqcourse.tokens import EOS, PAD, SOS  # noqa: F401  (the checks take all three from here)

Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
NEVER = -30.0  # the logit of what a decoder never writes


def plain_decoder(v: int, h: int, seed: int, dtype: torch.dtype = torch.float64) -> Step:
    """A decoder that does not care for special words; its state is one tensor (B, H)."""
    drawn = core.normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed=seed + 1, dtype=dtype)

    def step(tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.tanh(drawn["table"][tokens] + state @ drawn["w"])
        return 2 * state @ drawn["out"], state

    return step


def ending_decoder(v: int, h: int, seed: int, hurry: float = 1.0, once: bool = False) -> Step:
    """A decoder that writes words and <eos>, and sooner or later <eos>.

    Its state is a pair: (B, H), and (B, 1) steps left, of which one is used at every step. <eos>
    becomes likely when none is left, and with `once` unlikely again after that; `hurry` says how
    quickly.
    """
    plain = plain_decoder(v, h, seed)

    def step(tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Any]:
        hidden, left = state
        logits, hidden = plain(tokens, hidden)
        left = left - 1
        special = torch.full((len(tokens), 2), NEVER, dtype=logits.dtype)  # <pad> and <sos>
        push = hurry * (1 - left.abs() if once else -left)
        ending = logits[:, EOS : EOS + 1] / 2 + push
        return torch.cat([special, ending, logits[:, EOS + 1 :]], dim=1), (hidden, left)

    return step
