"""Exercise 3: what asks a captioner to look at the whole picture."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind


def stochastic_arguments(
    lengths: Sequence[int], places: int = 5, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `doubly_stochastic`: weights (B, T, N), each row a softmax, and the real steps."""
    shape = (len(lengths), max(lengths), places)
    scores = normal({"weights": shape}, seed, dtype)["weights"]
    real = torch.arange(max(lengths)) < torch.tensor(list(lengths))[:, None]
    return {"weights": (1.5 * scores).softmax(dim=-1), "real": real}


def reference_doubly_stochastic(weights: Tensor, real: Tensor) -> Tensor:
    """How far what each place got over the real steps is from 1, squared: a sum, averaged over (B,)."""
    got = (weights * real[..., None]).sum(dim=1)  # (B, N)
    return ((1 - got) ** 2).sum(dim=-1).mean()


doubly_stochastic = Exercise(
    "doubly_stochastic",
    make=stochastic_arguments,
    reference=reference_doubly_stochastic,
    likely={
        "Does real not fit the weights? It is (B, T), they are (B, T, N): real[..., None] is for all "
        "places alike.": stopping("must match the size|shape of the mask|not broadcastable")
    },
    cases={
        "the first example": dict(lengths=[3, 3]),
        "other sizes": dict(lengths=[4, 4, 4], places=9, seed=1),
        "one sentence": Kind(dict(lengths=[6], seed=2), "Does a squeeze() or [0] drop the batch?"),
        "all sizes equal": dict(lengths=[5, 5, 5, 5, 5], seed=3),
        "sentences of lengths 5, 2 and 4": Kind(
            dict(lengths=[5, 2, 4], seed=4),
            "Sentences end at different steps: only the real ones count.",
        ),
        "a sentence without a word": dict(lengths=[3, 0, 2], seed=6),
        "float32": Kind(
            dict(lengths=[6, 3], dtype=torch.float32, seed=5), "Create new tensors like the old ones."
        ),
    },
    forbid=("doubly_stochastic", "captioning_loss"),
)
