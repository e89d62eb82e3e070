"""What a sandbox sees of assignment 2: small decoders, and how a search is written down.

Each decoder is a function step(tokens, state) -> (logits, state) for any batch size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.recording import record
from seqcourse.check.calls.values import Found, Given
from seqcourse.tokens import EOS

TRAINED = ("step", "state")  # of `scheduled_sampling`
NEVER = -30.0  # the logit of what a decoder never writes


def plain_step(
    tokens: Tensor, state: Tensor, table: Tensor, w: Tensor, out: Tensor
) -> tuple[Tensor, Tensor]:
    """A decoder that does not care for special words; its state is one tensor (B, H)."""
    state = torch.tanh(table[tokens] + state @ w)
    return 2 * state @ out, state


def ending_step(
    tokens: Tensor, state: tuple[Tensor, Tensor], hurry: float, once: bool, **weights: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A decoder that writes words and <eos>, and sooner or later <eos>.

    Its state is a pair: (B, H), and (B, 1) steps left, of which one is used at every step. <eos>
    becomes likely when none is left, and with `once` unlikely again after that; `hurry` says how
    quickly.
    """
    hidden, left = state
    logits, hidden = plain_step(tokens, hidden, **weights)
    left = left - 1
    special = torch.full((len(tokens), 2), NEVER, dtype=logits.dtype)  # <pad> and <sos>
    push = hurry * (1 - left.abs() if once else -left)
    ending = logits[:, EOS : EOS + 1] / 2 + push
    return torch.cat([special, ending, logits[:, EOS + 1 :]], dim=1), (hidden, left)


def record_tidily(search: Callable[..., Any]) -> Callable[..., Any]:
    """The same search; a list of words and a plain number are as good as tensors."""

    def found(*arguments: Any) -> Any:
        got = search(*arguments)
        if not isinstance(got, (tuple, list)) or len(got) != 2:
            return got
        tokens, score = got
        if isinstance(tokens, (tuple, list)):
            tokens = torch.tensor([int(token) for token in tokens], dtype=torch.int64)
        if isinstance(score, (int, float)):
            score = torch.tensor(float(score), dtype=torch.float64)
        if isinstance(score, Tensor) and score.shape == (1,):
            score = score[0]
        return tokens, score

    return found


def record_search(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """One search for a probe."""
    return record(record_tidily(student), given, prefix)


def record_scheduled(student: Callable[..., Any], given: Given, prefix: str = "") -> Found:
    """One run for a probe, with gradients where nothing is drawn."""
    return record(student, given, prefix, TRAINED if given["epsilon"] == 1 else ())


def read_word(tokens: Tensor, h: Tensor, table: Tensor, w: Tensor) -> Tensor:
    """A step of an encoder in one direction: the state (B, H) after one more word of each sentence."""
    return torch.tanh(table[tokens] + h @ w)
