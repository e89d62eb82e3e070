"""What a sandbox sees of assignment 5: a cache continued twice; the decoder of `generate`, its calls
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import outcome
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.recording import record
from seqcourse.check.calls.values import Found, Given, arrays


def record_both(step: Callable[..., Any], given: Given) -> list[Any]:
    """What two continuations of the cache that a step returns give, when both are made."""
    x, past, *rest = copy(dict(given)).values()
    _, cache = step(x, past, *rest)
    return [step(new, list(cache), *rest) for new in (x, -x)]


def record_continued(
    student: Callable[..., Any], given: Given, prefix: str = "", gradient: Sequence[str] = ()
) -> Found:
    """What `record` writes down of one step, and two continuations of its cache."""
    found = record(student, given, prefix, gradient)
    return found | arrays(**{f"{prefix}continued": outcome(record_both, (student, given))})


def step(
    table: Tensor, places: Tensor, out: Tensor, w_in: Tensor, w_out: Tensor, tokens: Tensor, cache: Any
) -> tuple[Tensor, Tensor]:
    """A language model of one masked attention layer: tokens (B, n), cache -> logits, cache.

    What it writes depends much on the place and on all that came before, so that mistakes show.
    """
    if cache is None:
        cache = table.new_zeros(len(tokens), 0, table.shape[1])
    known = cache.shape[1]
    x = table[tokens] + 2 * places[known : known + tokens.shape[1]]
    cache = torch.cat([cache, x], dim=1)  # what was read: keys and values are made of it anew
    w_q, w_k, w_v = w_in.chunk(3)
    y, _ = functional.attention(x @ w_q.T, cache @ w_k.T, cache @ w_v.T, causal=True)
    return (x + 2 * y @ w_out.T) @ out.T, cache


def record_generate(student: Callable[..., Tensor], given: Given, prefix: str = "") -> Found:
    """What `record` writes down, and how many tokens each call of step was fed."""
    widths = []

    def counted(tokens: Tensor, cache: Any) -> tuple[Tensor, Tensor]:
        widths.append(tokens.shape[1] if tokens.dim() == 2 else 0)
        return given["step"](tokens, cache)

    found = record(student, {**given, "step": counted}, prefix)
    return found | arrays(**{f"{prefix}widths": torch.tensor(widths[:1000])})
