"""Exercise 10: a model's loss with three faults, each graded on inputs where the others do not show.

A decoder that does not hear what it is fed shows what the encoder and the mean do. Sentences of one
length have no padding, on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.inside.ps2 import read_word
from seqcourse.check.ps2.decoders import Step, plain_decoder
from seqcourse.check.ps2.losses import reference_teacher_forced_loss, sentences
from seqcourse.tokens import PAD

Reader = Callable[[Tensor, Tensor], Tensor]
LEFT = {
    1: "Symptom 1 is still there. Which words does each direction read of the shorter source, and when?",
    2: "Symptom 2 is still there. What does the decoder know when it is asked for a word?",
    3: "Symptom 3 is still there. How many words were asked for?",
}


def translation_arguments(
    source: Sequence[int],
    target: Sequence[int],
    deaf: bool = False,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> dict[str, Any]:
    """Arguments of `translation_loss` for sources and targets of so many words.

    deaf: the decoder takes no notice of the words that it is fed.
    """
    options = dict(seed=seed, dtype=dtype)
    encoder = normal({"table": (8, 3), "one": (3, 3), "other": (3, 3), "h": (len(source), 3)}, **options)
    step = plain_decoder(8, 6, **options)
    if deaf:
        step.keywords["table"] *= 0
    return {
        "read": partial(read_word, table=encoder["table"], w=encoder["one"]),
        "read_back": partial(read_word, table=encoder["table"], w=encoder["other"]),
        "step": step,
        "h": encoder["h"],
        "x": sentences(source, 8, seed + 2)[:, 1:-1].where(
            torch.arange(max(source)) < torch.tensor(list(source))[:, None], PAD
        ),
        "lengths": torch.tensor(list(source)),
        "y": sentences(target, 8, seed + 3),
    }


def reference_translation_loss(
    read: Reader, read_back: Reader, step: Step, h: Tensor, x: Tensor, lengths: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """The losses of the pairs, (B,), and their mean per word, ()."""
    states = []
    for row, length, first in zip(x, lengths.tolist(), h, strict=True):
        ahead = back = first[None]
        for t in range(length):
            ahead = read(row[t : t + 1], ahead)
            back = read_back(row[length - 1 - t : length - t], back)
        states.append(torch.cat([ahead, back], dim=1))
    return reference_teacher_forced_loss(step, torch.cat(states), y)


translation_loss = Exercise(
    "translation_loss",
    make=translation_arguments,
    reference=reference_translation_loss,
    cases={
        "one pair of one word": dict(source=[1], target=[1], deaf=True),
        "symptom 1: padded sources": Kind(dict(source=[4, 2, 3], target=[2, 2, 2], deaf=True), LEFT[1]),
        "symptom 2: no padding": Kind(dict(source=[3, 3], target=[4, 4]), LEFT[2]),
        "symptom 3: padded targets": Kind(dict(source=[3, 3, 3], target=[4, 1, 2], deaf=True), LEFT[3]),
        "all of that at once": Kind(
            dict(source=[2, 5, 3], target=[1, 3, 6]), "Each symptom is gone where it is alone."
        ),
        "float32": dict(source=[2, 4], target=[3, 1], dtype=torch.float32),
    },
)
