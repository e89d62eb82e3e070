"""Exercise 7: a whole translation, from a model's encode, start and step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import judge
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside import ps6 as inside
from seqcourse.check.ps2.writing import reference_greedy
from seqcourse.tokens import PAD, SOS


def translate_arguments(
    left: Sequence[int],
    lengths: Sequence[int],
    max_len: int,
    v: int = 9,
    h: int = 5,
    special: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `translate`: a small model, and sources of these lengths.

    left: about how many words sentence b is translated with.
    special: whether the model writes <pad> and <sos> among them.
    """
    generator = torch.Generator().manual_seed(seed + 3)
    size = max(lengths)
    src = torch.randint(3, 40, (len(lengths), size), generator=generator)
    src[:, 0] = torch.tensor(list(left)) + 3
    ends = torch.tensor(list(lengths))
    src = src.masked_fill(~functional.length_mask(ends, size), PAD)
    sources = normal({"sources": (64, h)}, seed + 7)["sources"]
    decoder = normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed + 1)
    model = inside.Small(sources, **decoder, special=special)
    return {"model": model, "src": src, "lengths": ends, "max_len": max_len}


def reference_translate(model: Any, src: Tensor, lengths: Tensor, max_len: int) -> Tensor:
    """The likeliest words (B, L), each row to its <eos>, then <pad>."""
    memory = model.encode(src, lengths)

    def step(tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        out = model.step(tokens, state, memory)
        return out.logits, out.state

    return reference_greedy(step, model.start(memory), torch.full((len(src),), SOS), max_len)


def judge_translate(found: Found, given: Given, prefix: str) -> None:
    """Judge one case: the words, then whether the loop stopped in time; raise Mistake."""
    judge(translate, found, given, prefix)
    if result(found, f"{prefix}late"):
        raise Mistake(
            "translate: the words are right, but step was called when all sentences had ended. The loop "
            "stops as soon as they have: nobody needs what comes after."
        )


translate = Exercise(
    "translate",
    make=translate_arguments,
    reference=reference_translate,
    record=inside.record_translate,
    judge=judge_translate,
    cases={
        "the first example": dict(left=[4, 2, 6], lengths=[3, 5, 4], max_len=9),
        "a batch of 1": dict(left=[3], lengths=[4], max_len=7, seed=10),
        "sentences that max_len cuts off": dict(left=[20, 3], lengths=[4, 2], max_len=5, seed=20),
        "a sentence that ends at once": dict(left=[1, 4], lengths=[2, 6], max_len=9, seed=30),
        "sentences that all end together": dict(left=[3, 3], lengths=[5, 5], max_len=8, seed=40),
        "<pad> and <sos> as the likeliest words": dict(
            left=[5, 4], lengths=[5, 3], max_len=9, special=True, seed=60
        ),
        "max_len 1": dict(left=[4, 2], lengths=[3, 3], max_len=1, seed=50),
    },
    forbid=("greedy", "beam_search", "exhaustive_search", "seqcourse.decode.sample"),
)
