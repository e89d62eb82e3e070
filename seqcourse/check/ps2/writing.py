"""Exercise 4: a batch of sentences written greedily."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal
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


def columns(
    step: Step,
    state: Any,
    first: Tensor,
    max_len: int,
    *,
    fill: int | None = PAD,
    until: Callable[[Tensor], Tensor] | None = torch.all,
    choose: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(dim=-1),
    keep: bool = True,
    own: bool = True,
    forget: str = "",
) -> list[Tensor]:
    """The words written, one tensor (B,) per step; the options make mistakes.

    forget: "words" or "row" is looked at for an <eos>, in the newest column alone.
    """
    tokens, written = first, []
    ended = torch.zeros(len(first), dtype=torch.bool)
    while len(written) < max_len:
        logits, new = step(tokens, state)
        state = new if keep else state
        word = choose(logits)
        written.append(word if fill is None else torch.where(ended, fill, word))
        word = written[-1] if forget == "row" else word
        ended = (word == EOS) | (ended & (not forget))
        tokens = word if own else first
        if until is not None and until(ended):
            break
    return written


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: torch.stack(columns(*arguments, **mistake), dim=1)


def mistakes(variant: Callable[..., Callable[..., Any]], listed: Callable[..., list]) -> dict[str, Any]:
    """Likely mistakes of a greedy search.

    variant: makes the search that makes a mistake, from options of `columns`.
    listed: the right search, as a list of columns.
    """
    right = variant()

    def without_eos(*arguments):
        written = right(*arguments)
        return torch.where(written == EOS, PAD, written)

    def column_missing(*arguments):
        written = without_eos(*arguments)
        return written[:, : int((written != PAD).sum(dim=1).max())]

    return {
        "Is it forgotten which rows have ended? Two steps after its <eos> a row begins again: "
        "ended = ended | (tokens == EOS).": (variant(forget="words"), variant(forget="row")),
        "Does every sentence get the word of the first? Each has its own.": variant(
            choose=lambda z: z.argmax(-1)[:1].expand(len(z))
        ),
        "Did you leave out the <eos>? It is part of the result.": (without_eos, column_missing),
        "Is there one word too few? max_len words may be written.": (
            lambda *arguments: right(*arguments[:-1], arguments[-1] - 1)
        ),
        "Did you return a list? Stack it to one tensor.": listed,
    }


reference_greedy = _with()


greedy = Exercise(
    "greedy",
    make=greedy_arguments,
    reference=reference_greedy,
    likely=mistakes(_with, columns),
    cases=cases_of(
        greedy_arguments,
        {
            "the first example": dict(left=(4, 2, 6), max_len=9, seed=0),
            "a batch of 1": dict(left=(3,), max_len=7, seed=10),
            "sentences that max_len cuts off": dict(left=(20, 3), max_len=5, seed=20),
            "a sentence that ends at once": dict(left=(1, 4), max_len=9, seed=30),
            "sentences that all end together": dict(left=(3, 3), max_len=8, seed=40),
            "max_len 1": dict(left=(4, 2), max_len=1, seed=50),
        },
    ),
    forbid=("greedy", "beam_search", "exhaustive_search", "seqcourse.decode.sample"),
    idea="A batch is written together, but each sentence stops at its own <eos>.",
    see=("03", "Greedy: the likeliest next word"),
)
