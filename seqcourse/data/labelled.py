"""Labelled texts as batches, for a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.data.batching import Loader, TensorBatch, check_counts, pad, shuffled


@dataclass(frozen=True)
class LabelledBatch(TensorBatch):
    """Texts (B, T), padded at the end, their lengths (B,) and their classes (B,)."""

    tokens: Tensor
    lengths: Tensor
    labels: Tensor


class LabelledBatches(Loader):
    """Texts with their classes, reshuffled in every epoch.

    Args:
        texts: token ids of each text.
        labels: its class.
        batch_size: texts of a batch.
        shuffle: reshuffle in every epoch.
        seed: of the order.
    """

    def __init__(
        self,
        texts: Sequence[Sequence[int]],
        labels: Sequence[int],
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        check_counts({"texts": len(texts), "labels": len(labels)}, batch_size)
        classes = torch.tensor(labels)

        def collate(rows: Tensor) -> LabelledBatch:
            return LabelledBatch(*pad([texts[row] for row in rows]), classes[rows])

        super().__init__(shuffled(len(texts), batch_size, shuffle, seed), collate)
