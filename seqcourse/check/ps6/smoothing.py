"""Exercise 5: cross-entropy with label smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind


def loss_arguments(
    lengths: Sequence[int],
    v: int,
    epsilon: float = 0.1,
    pad: int = 0,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `label_smoothed_loss`: logits, words, and padding after them."""
    size = max(lengths)
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(0, v - 1, (len(lengths), size), generator=generator)
    words = torch.where(words >= pad, words + 1, words)  # any word but padding
    behind = torch.arange(size) >= torch.tensor(list(lengths))[:, None]
    drawn = normal({"logits": (len(lengths), size, v)}, seed + 1, dtype)
    return {
        "logits": scale * drawn["logits"],
        "targets": words.masked_fill(behind, pad),
        "epsilon": epsilon,
        "pad": pad,
    }


def reference_label_smoothed_loss(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """Mean over the real targets of the cross-entropy with (1 - epsilon) one-hot + epsilon / V."""
    return functional.sequence_loss(logits, targets, pad_id=pad, label_smoothing=epsilon)


label_smoothed_loss = Exercise(
    "label_smoothed_loss",
    make=loss_arguments,
    reference=reference_label_smoothed_loss,
    cases={
        "the first example": dict(lengths=[3, 3], v=5, epsilon=0.3),
        "other sizes": dict(lengths=[4] * 4, v=4, seed=1),
        "a batch of 1": Kind(dict(lengths=[3], v=6, seed=2), "Does a squeeze() or [0] drop the batch?"),
        "epsilon 0": dict(lengths=[2, 2], v=5, epsilon=0.0, seed=3),
        "padding": dict(lengths=[4, 1, 3], v=6, epsilon=0.2, seed=4),
        "padding with another id": dict(lengths=[2, 5], v=6, pad=5, seed=5),
        "logits in the hundreds": dict(lengths=[3, 2], v=5, scale=400.0, seed=6),
        "float32": dict(lengths=[3, 3], v=5, dtype=torch.float32, seed=7),
    },
    forbid=("cross_entropy", "CrossEntropyLoss", "sequence_loss", "label_loss", "teacher_forcing_loss"),
)
