"""Exercise 5: which words BERT hides, and what stands there instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.ps7.ids import CLS, FIRST, IGNORE, MASK, PAD, SEP, UNK

CHOSEN, MASKED, KEPT = 0.15, 0.8, 0.9  # borders of the draws


def masking_arguments(
    lengths: Sequence[int],
    v: int = 60,
    specials: bool = True,
    borders: bool = False,
    often: bool = True,
    even: bool = True,
    none: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `mask_words`: tokens (B, T), three uniform draws for each, the vocabulary's size.

    lengths: real tokens of each row. specials: whether rows begin with <cls>, hold <sep> in the middle
    and at the end, some <unk> and <mask>, and padding. borders: draws that lie exactly on 0.15, 0.8,
    0.9 and 0. often: draws that choose about every second place. even: draws that make all three fates
    equally frequent.
    none: draws of which none chooses.
    """
    generator = torch.Generator().manual_seed(seed)
    batch, time = len(lengths), max(lengths)
    tokens = torch.randint(FIRST, v, (batch, time), generator=generator)
    draws = torch.rand(3, batch, time, generator=generator, dtype=torch.float64)
    low = torch.rand(batch, time, generator=generator, dtype=torch.float64) < 0.55
    fate = torch.randint(3, (batch, time), generator=generator)
    if none:
        draws[0] = CHOSEN + (1 - CHOSEN) * draws[0]
    elif often:
        draws[0] = torch.where(low, 0.149 * draws[0], draws[0])
    if even:
        start, width = torch.tensor([0.0, 0.8, 0.9]), torch.tensor([0.79, 0.09, 0.1])
        draws[1] = start.double()[fate] + width.double()[fate] * draws[1]
    steps = draws[2] * (v - FIRST)  # every second one close under the next step: no case for round
    draws[2, :, ::2] = ((steps.floor() + 0.9) / (v - FIRST))[:, ::2]
    if borders:
        exact = torch.tensor([CHOSEN, 0.0, 0.1, 0.05], dtype=torch.float64)
        fates = torch.tensor([MASKED, KEPT, 0.0, MASKED, KEPT], dtype=torch.float64)
        words = torch.tensor([0.0, 0.999, 0.5], dtype=torch.float64)
        place = torch.arange(batch * time).reshape(batch, time)
        draws = torch.stack([exact[place % 4], fates[place % 5], words[place % 3]])
    if specials:
        places, ends = torch.arange(time), torch.tensor(list(lengths))[:, None] - 1
        tokens = torch.where(places % 7 == 3, UNK, torch.where(places % 11 == 6, MASK, tokens))
        tokens = torch.where((places == ends) | (places == ends // 2), SEP, tokens)
        tokens = torch.where(places > ends, PAD, tokens)
        tokens[:, 0] = CLS
        draws[0] = torch.where(tokens < FIRST, 0.149 * draws[0], draws[0])  # were they words
    return {"tokens": tokens, "draws": draws, "size": v}


def reference_mask_words(tokens: Tensor, draws: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """What BERT reads (B, T), and the labels (B, T): words at the chosen places, else IGNORE."""
    chosen = (draws[0] < CHOSEN) & (tokens >= FIRST)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < KEPT, other, tokens).where(draws[1] >= MASKED, MASK)
    return torch.where(chosen, hidden, tokens), tokens.where(chosen, IGNORE)


mask_words = Exercise(
    "mask_words",
    make=masking_arguments,
    reference=reference_mask_words,
    cases={
        "the first example": dict(lengths=[30, 30], specials=False),
        "a larger vocabulary": dict(lengths=[25, 25], v=4000, specials=False, seed=1),
        "a single row, of few words": dict(lengths=[40], v=9, specials=False, seed=6),
        "rows with <cls>, <sep> and padding": Kind(
            dict(lengths=[20, 31, 9], seed=3), "Only words are chosen, the ids from FIRST on."
        ),
        "draws as they come, of which 15 % choose": dict(
            lengths=[90, 60], often=False, even=False, seed=4
        ),
        "draws exactly on the borders": dict(lengths=[60], specials=False, borders=True),
        "rows of which no word is chosen": dict(lengths=[6, 6], specials=False, none=True, seed=5),
    },
    forbid=("mask_words", "MaskedBatches"),
    fixed_precision=True,
)
