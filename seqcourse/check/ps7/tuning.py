"""Exercise 4: the loss of fine-tuning, a classification and the language model beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind
from seqcourse.check.ps7.ids import FIRST, PAD


def tuning_arguments(
    lengths: Sequence[int],
    d: int = 3,
    classes: int = 2,
    v: int = 9,
    weight: float = 0.5,
    scale: float = 1.0,
    extra: int = 0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `fine_tuning_loss`: states of padded texts, their classes, both output layers.

    extra: columns of padding that no text reaches.
    """
    generator = torch.Generator().manual_seed(seed)
    batch, time = len(lengths), max(lengths) + extra
    tokens = torch.randint(FIRST, v, (batch, time), generator=generator)
    real = torch.arange(time) < torch.tensor(list(lengths))[:, None]
    drawn = normal(
        {"states": (batch, time, d), "w_classes": (classes, d), "w_words": (v, d)}, seed, dtype
    )
    labels = torch.randint(classes, (batch,), generator=generator)
    if scale > 1:  # the unlikeliest class, so that the loss is large and not 0
        last = drawn["states"][torch.arange(batch), torch.tensor(list(lengths)) - 1]
        labels = (last @ drawn["w_classes"].T).argmin(dim=-1)
    return {
        "states": scale * drawn["states"],
        "tokens": tokens.where(real, PAD),
        "lengths": torch.tensor(list(lengths)),
        "labels": labels,
        "w_classes": drawn["w_classes"],
        "w_words": drawn["w_words"],
        "weight": weight,
    }


def _minus_log(logits: Tensor, wanted: Tensor) -> Tensor:
    """Minus the log-probability of what is wanted, without the last axis."""
    return -logits.log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0]


def reference_fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight) -> Tensor:
    """The loss of the class, read at each text's end, plus `weight` times that of the next words."""
    last = states[torch.arange(len(states)), lengths - 1]
    words = _minus_log(states[:, :-1] @ w_words.T, tokens[:, 1:])
    real = torch.arange(1, tokens.shape[1]) < lengths[:, None]
    return _minus_log(last @ w_classes.T, labels).mean() + weight * words[real].mean()


_PADDED = "Texts end at different places: the class is read at each one's end, and padding is no target."

fine_tuning_loss = Exercise(
    "fine_tuning_loss",
    make=tuning_arguments,
    reference=reference_fine_tuning_loss,
    cases={
        "the first example": dict(lengths=[5, 5]),
        "other sizes": dict(lengths=[4, 4, 4], d=5, classes=4, v=7, seed=1),
        "one text": Kind(dict(lengths=[6], seed=2), "Does a squeeze() or [0] drop the batch?"),
        "a weight of 0": dict(lengths=[4, 4], weight=0.0, seed=3),
        "float32": Kind(
            dict(lengths=[5, 5], dtype=torch.float32), "Create new tensors like the old ones."
        ),
        "texts of lengths 3, 6 and 2": Kind(dict(lengths=[3, 6, 2], classes=3, seed=4), _PADDED),
        "texts of lengths 7 and 4": Kind(dict(lengths=[7, 4], weight=2.0, seed=5), _PADDED),
        "padding beyond the longest text": Kind(dict(lengths=[4, 2], extra=2, seed=7), _PADDED),
        "states so large that exp overflows": dict(lengths=[3, 5], scale=400.0, seed=6),
    },
    forbid=("fine_tuning_loss", "language_model_loss", "Classifier"),
)
