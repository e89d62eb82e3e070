"""Exercise 7: a whole translation, from a model's encode, start and step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal
from seqcourse.check.inside import ps6 as inside
from seqcourse.tokens import EOS, PAD, SOS


def translate_arguments(
    left: Sequence[int], lengths: Sequence[int], max_len: int, v: int = 9, h: int = 5, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `translate`: a small model, and sources of these lengths.

    left: about how many words sentence b is translated with.
    """
    generator = torch.Generator().manual_seed(seed + 3)
    size = max(lengths)
    src = torch.randint(3, 40, (len(lengths), size), generator=generator)
    src[:, 0] = torch.tensor(list(left)) + 3
    ends = torch.tensor(list(lengths))
    src = src.masked_fill(~functional.length_mask(ends, size), PAD)
    sources = normal({"sources": (64, h)}, seed + 7)["sources"]
    decoder = normal({"table": (v, h), "w": (h, h), "out": (h, v)}, seed + 1)
    model = inside.Small(sources, **decoder)
    return {"model": model, "src": src, "lengths": ends, "max_len": max_len}


def _columns(
    model: Any,
    src: Tensor,
    lengths: Tensor,
    max_len: int,
    *,
    read: Callable[[Tensor, Tensor], Tensor] = lambda src, lengths: lengths,
    first: int = SOS,
    fill: int | None = PAD,
    until: Callable[[Tensor], Tensor] | None = torch.all,
    choose: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(dim=-1),
    keep: bool = True,
    own: bool = True,
    again: bool = False,
) -> list[Tensor]:
    """The words written, one tensor (B,) per step; the options make the mistakes of _TRANSLATE."""
    memory = model.encode(src, read(src, lengths))
    state = model.start(memory)
    start = tokens = torch.full((len(src),), first)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written: list[Tensor] = []
    while len(written) < max_len:
        memory = model.encode(src, lengths) if again else memory
        out = model.step(tokens, state, memory)
        state = out.state if keep else state
        word = choose(out.logits)
        written.append(word if fill is None else torch.where(ended, fill, word))
        ended = ended | (word == EOS)
        tokens = word if own else start
        if until is not None and until(ended):
            break
    return written


def reference_translate(model: Any, src: Tensor, lengths: Tensor, max_len: int) -> Tensor:
    """The likeliest word at every step, each row up to its <eos>, then padding: (B, L)."""
    return torch.stack(_columns(model, src, lengths, max_len), dim=1)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: torch.stack(_columns(*arguments, **mistake), dim=1)


def _without_eos(*arguments):
    written = reference_translate(*arguments)
    return torch.where(written == EOS, PAD, written)


def _eos_column_missing(*arguments):
    written = _without_eos(*arguments)
    return written[:, : int((written != PAD).sum(dim=1).max())]


def _with_first(model, src, lengths, max_len):
    written = reference_translate(model, src, lengths, max_len)
    return torch.cat([torch.full((len(src), 1), SOS), written], dim=1)


def _unpacked(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    logits, state = model.step(torch.full((len(src),), SOS), model.start(memory), memory)


def _whole_step(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    return model.step(torch.full((len(src),), SOS), model.start(memory), memory).argmax(dim=-1)


_TRANSLATE = {
    "Does every step start from the first state? Hand on out.state.": _with(keep=False),
    "Is <sos> fed again and again? Feed the newest word.": _with(own=False),
    "Is the source encoded again at every step? Encode it once, before the first word.": _with(
        again=True
    ),
    "Did you begin with <eos>? The first word fed is <sos>, data.SOS.": _with(first=EOS),
    "Did you begin with <pad>? The first word fed is <sos>, data.SOS.": _with(first=PAD),
    "Is the padding of the source read as words? Hand the lengths on to encode.": _with(
        read=lambda src, lengths: torch.full_like(lengths, src.shape[1])
    ),
    "Did you take the unlikeliest word? It is argmax.": _with(choose=lambda z: z.argmin(dim=-1)),
    "Does a sentence go on after its <eos>? From there on its row is <pad>.": (
        _with(fill=None),
        _with(fill=None, until=None),
    ),
    "Is a finished row filled with <eos>? It has one <eos>, then <pad>.": _with(fill=EOS),
    "Does the loop stop when the first sentence ends? It goes on until all have ended.": _with(
        until=torch.any
    ),
    "Does the loop always run to max_len? When all sentences have ended it stops: no column is "
    "<pad> in every row.": _with(until=None),
    "Did you leave out the <eos>? It is part of the result.": (_without_eos, _eos_column_missing),
    "Does your result begin with <sos>? Only what was written is asked for.": _with_first,
    "Is there one word too few? max_len words may be written.": (
        lambda model, src, lengths, max_len: reference_translate(model, src, lengths, max_len - 1)
    ),
    "Is there one word too many? At most max_len words may be written.": (
        lambda model, src, lengths, max_len: reference_translate(model, src, lengths, max_len + 1)
    ),
    "Did you stack along the first axis? The batch comes first: torch.stack(written, dim=1).": (
        lambda *arguments: torch.stack(_columns(*arguments))
    ),
    "Did you return a list? Stack it to one tensor.": (lambda *arguments: _columns(*arguments)),
    "model.step returns one thing with several parts: out.logits and out.state.": (
        _unpacked,
        _whole_step,
    ),
}


translate = Exercise(
    "translate",
    make=translate_arguments,
    reference=reference_translate,
    likely=_TRANSLATE,
    cases=cases_of(
        translate_arguments,
        {
            "the first example": dict(left=[4, 2, 6], lengths=[3, 5, 4], max_len=9),
            "a batch of 1": dict(left=[3], lengths=[4], max_len=7, seed=10),
            "sentences that max_len cuts off": dict(left=[20, 3], lengths=[4, 2], max_len=5, seed=20),
            "a sentence that ends at once": dict(left=[1, 4], lengths=[2, 6], max_len=9, seed=30),
            "sentences that all end together": dict(left=[3, 3], lengths=[5, 5], max_len=8, seed=40),
            "max_len 1": dict(left=[4, 2], lengths=[3, 3], max_len=1, seed=50),
        },
    ),
    forbid=("greedy", "beam_search", "exhaustive_search", "seqcourse.decode.sample"),
    idea="The source is encoded once; then every step hands its state and its word on to the next.",
    see=("11", "It translates"),
)
