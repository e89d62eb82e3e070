"""Exercise 3: the loss of a decoder that hears the true words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind, hinted
from seqcourse.check.ps2.decoders import Step, plain_decoder
from seqcourse.tokens import EOS, PAD, SOS


def sentences(lengths: Sequence[int], v: int, seed: int = 0) -> Tensor:
    """A padded batch (B, N): <sos>, as many words as `lengths` says, <eos>."""
    generator = torch.Generator().manual_seed(seed)
    size = max(lengths) + 2
    rows = torch.randint(3, v, (len(lengths), size), generator=generator)
    places = torch.arange(size)
    ends = torch.tensor(list(lengths))[:, None] + 1
    rows = torch.where(places == ends, EOS, torch.where(places > ends, PAD, rows))
    rows[:, 0] = SOS
    return rows


def loss_arguments(
    lengths: Sequence[int], v: int = 8, h: int = 4, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `teacher_forced_loss`: a decoder, its first state, padded sentences."""
    return {
        "step": plain_decoder(v, h, seed, dtype),
        **normal({"state": (len(lengths), h)}, seed=seed, dtype=dtype),
        "y": sentences(lengths, v, seed),
    }


def unroll(step: Step, state: Tensor, y: Tensor) -> Tensor:
    """Logits (B, N - 1, V) of a run that hears the true words."""
    logits: list[Tensor] = []
    for t in range(y.shape[1] - 1):
        scores, state = step(y[:, t], state)
        logits.append(scores)
    return torch.stack(logits, dim=1)


def reference_teacher_forced_loss(step: Step, state: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Loss of every sentence (B,) and the mean per word of the batch, without padding."""
    targets = y[:, 1:]
    logits = unroll(step, state, y)
    losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    real = targets != PAD
    totals = (losses * real).sum(dim=1)
    return totals, totals.sum() / real.sum()


teacher_forced_loss = Exercise(
    "teacher_forced_loss",
    make=loss_arguments,
    reference=reference_teacher_forced_loss,
    cases={
        "the first example": dict(lengths=[4, 4]),
        "other sizes": dict(lengths=[6, 6, 6], v=5, h=3, seed=1),
        "a batch of 1": Kind(dict(lengths=[3], seed=2), "Does a squeeze() or [0] drop the batch?"),
        "float32": Kind(
            dict(lengths=[4, 4], dtype=torch.float32), "Create new tensors like the old ones."
        ),
        "an empty sentence: <sos>, <eos>": dict(lengths=[0, 0], seed=3),
        **hinted(
            "Where the target is <pad> nothing was asked: leave it out of the sums and of the mean.",
            {
                "lengths 2, 5 and 3": dict(lengths=[2, 5, 3], seed=4),
                "lengths 4, 1, 1 and 0": dict(lengths=[4, 1, 1, 0], seed=5),
            },
        ),
    },
    forbid=(
        "teacher_forcing_loss",
        "language_model_loss",
        "seqcourse.train.unroll",
        "seqcourse.decode.score",
    ),
)
