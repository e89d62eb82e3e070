"""Exercise 1: documents as rows of inputs and targets for a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, Kind, hinted
from seqcourse.check.ps7.ids import FIRST, IGNORE, PAD

Documents = Sequence[Sequence[int]]


def batch_arguments(sizes: Sequence[int], length: int, end: int = 2, seed: int = 0) -> dict[str, Any]:
    """Arguments of `language_batch`: documents of these sizes, the length of a row, the separator."""
    generator = torch.Generator().manual_seed(seed)
    documents = [torch.randint(FIRST, 60, (size,), generator=generator).tolist() for size in sizes]
    return {"documents": documents, "length": length, "end": end}


def reference_language_batch(documents: Documents, length: int, end: int) -> tuple[Tensor, Tensor]:
    """Inputs and targets (R, length): all documents as one stream, each followed by `end`."""
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)


_FILLED = "Inputs are filled up with PAD, targets with IGNORE, as far as the last row reaches."

language_batch = Exercise(
    "language_batch",
    make=batch_arguments,
    reference=reference_language_batch,
    cases={
        "the first example": dict(sizes=(4, 1, 5), length=4),
        "another separator": Kind(
            dict(sizes=(3, 6), length=5, end=3), "Is the id of the separator written into your code?"
        ),
        "rows of one token": dict(sizes=(2, 3), length=1),
        "an empty document": dict(sizes=(3, 0, 2), length=7, seed=4),
        **hinted(
            _FILLED,
            {
                "a last row that is filled up": dict(sizes=(5, 3, 2), length=5, seed=1),
                "one document, shorter than a row": dict(sizes=(4,), length=9, seed=2),
                "a last row with a single token": dict(sizes=(6, 4), length=5, seed=3),
            },
        ),
    },
    forbid=("TextBatches",),
)
