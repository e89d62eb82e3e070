"""Exercise 7: a whole translation, from a model's encode, start and step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.core import Case, Likely
from seqcourse.check.ps2.decoders import EOS, PAD, SOS, ending_decoder

READINGS = count()
FORBIDDEN = {"translate": ("greedy", "beam_search", "exhaustive_search", "seqcourse.decode.sample")}
ANOTHER = "The memory of this step is another one than that of start: the source is encoded once."


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


class Small:
    """A model with fixed weights and the three methods of the course's models.

    It ends a sentence after about as many words as the first source word's id says (minus 3), and
    would go on with other words after <eos>.
    """

    def __init__(self, v: int, h: int, seed: int) -> None:
        drawn = core.normal({"table": (64, h)}, seed=seed + 7)
        self.table = drawn["table"]
        self.decoder = ending_decoder(v, h, seed, hurry=12.0, once=True)

    def __repr__(self) -> str:
        return "a small model"

    def encode(self, src: Tensor, src_lengths: Tensor) -> Memory:
        mask = functional.length_mask(src_lengths, src.shape[1])
        return Memory(self.table[src], mask, next(READINGS))

    def start(self, memory: Memory, batch_size: int | None = None) -> Any:
        read = (memory.states * memory.mask[..., None]).sum(dim=1)
        first = (memory.states[:, :1] - self.table).abs().sum(dim=-1).argmin(dim=-1)  # (B,)
        left = (first - 3).to(read.dtype)[:, None]
        return torch.tanh(read), left, memory.reading

    def step(self, tokens: Tensor, state: Any, memory: Memory) -> Step:
        hidden, left, first = state
        if memory.reading not in (first, None):
            raise ValueError(ANOTHER)
        logits, (hidden, left) = self.decoder(tokens, (hidden, left))
        even = memory.mask / memory.mask.sum(dim=1, keepdim=True)
        return Step(logits, (hidden, left, first), even)


def translate_arguments(
    left: Sequence[int],
    lengths: Sequence[int],
    max_len: int,
    v: int = 9,
    h: int = 5,
    seed: int = 0,
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
    return {"model": Small(v, h, seed), "src": src, "lengths": ends, "max_len": max_len}


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
    """The words written, one tensor (B,) per step; the options make the mistakes of TRANSLATE."""
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


TRANSLATE = [
    Likely(
        "Does every step start from the first state? Hand on out.state.",
        _with(keep=False),
    ),
    Likely("Is <sos> fed again and again? Feed the newest word.", _with(own=False)),
    Likely(
        "Is the source encoded again at every step? Encode it once, before the first word.",
        _with(again=True),
    ),
    Likely("Did you begin with <eos>? The first word fed is <sos>, data.SOS.", _with(first=EOS)),
    Likely("Did you begin with <pad>? The first word fed is <sos>, data.SOS.", _with(first=PAD)),
    Likely(
        "Is the padding of the source read as words? Hand the lengths on to encode.",
        _with(read=lambda src, lengths: torch.full_like(lengths, src.shape[1])),
    ),
    Likely("Did you take the unlikeliest word? It is argmax.", _with(choose=lambda z: z.argmin(dim=-1))),
    Likely(
        "Does a sentence go on after its <eos>? From there on its row is <pad>.",
        _with(fill=None),
    ),
    Likely(
        "Does a sentence go on after its <eos>? From there on its row is <pad>.",
        _with(fill=None, until=None),
    ),
    Likely("Is a finished row filled with <eos>? It has one <eos>, then <pad>.", _with(fill=EOS)),
    Likely(
        "Does the loop stop when the first sentence ends? It goes on until all have ended.",
        _with(until=torch.any),
    ),
    Likely(
        "Does the loop always run to max_len? When all sentences have ended it stops: no column is "
        "<pad> in every row.",
        _with(until=None),
    ),
    Likely("Did you leave out the <eos>? It is part of the result.", _without_eos),
    Likely("Did you leave out the <eos>? It is part of the result.", _eos_column_missing),
    Likely("Does your result begin with <sos>? Only what was written is asked for.", _with_first),
    Likely(
        "Is there one word too few? max_len words may be written.",
        lambda model, src, lengths, max_len: reference_translate(model, src, lengths, max_len - 1),
    ),
    Likely(
        "Is there one word too many? At most max_len words may be written.",
        lambda model, src, lengths, max_len: reference_translate(model, src, lengths, max_len + 1),
    ),
    Likely(
        "Did you stack along the first axis? The batch comes first: torch.stack(written, dim=1).",
        lambda *arguments: torch.stack(_columns(*arguments)),
    ),
    Likely("Did you return a list? Stack it to one tensor.", lambda *arguments: _columns(*arguments)),
    Likely(
        "model.step returns one thing with several parts: out.logits and out.state.",
        _unpacked,
    ),
    Likely(
        "model.step returns one thing with several parts: out.logits and out.state.",
        _whole_step,
    ),
]


def translate(student: Callable[..., Tensor]) -> None:
    """Check exercise 7 with small models."""
    sizes = {
        "the first example": ((4, 2, 6), (3, 5, 4), 9),
        "a batch of 1": ((3,), (4,), 7),
        "sentences that max_len cuts off": ((20, 3), (4, 2), 5),
        "a sentence that ends at once": ((1, 4), (2, 6), 9),
        "sentences that all end together": ((3, 3), (5, 5), 8),
        "max_len 1": ((4, 2), (3, 3), 1),
    }
    cases = [
        Case(label, lambda s=size, k=k: translate_arguments(*s, seed=10 * k))
        for k, (label, size) in enumerate(sizes.items())
    ]
    core.check_function(
        "translate",
        student,
        reference_translate,
        cases,
        TRANSLATE,
        forbidden=FORBIDDEN["translate"],
    )
