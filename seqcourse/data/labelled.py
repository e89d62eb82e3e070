"""Labelled texts as batches, for a classifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.data.batching import pad
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class LabelledBatch:
    """Texts (B, T), padded at the end, their lengths (B,) and their classes (B,)."""

    tokens: Tensor
    lengths: Tensor
    labels: Tensor

    def to(self, device: torch.device | str) -> LabelledBatch:
        """The same on ``device``."""
        return LabelledBatch(*(part.to(device) for part in vars(self).values()))


class LabelledBatches:
    """Texts with their classes, in another order in every epoch.

    Args:
        texts: token ids of each text.
        labels: its class.
        batch_size: texts of a batch.
        shuffle: another order in every epoch.
        seed: where the order comes from.
    """

    def __init__(
        self,
        texts: Sequence[Sequence[int]],
        labels: Sequence[int],
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        if len(texts) != len(labels) or not texts or batch_size < 1:
            raise CourseError(
                f"LabelledBatches takes as many labels as texts, at least one, and a batch size of at "
                f"least 1, but got {len(texts)} texts, {len(labels)} labels and {batch_size}."
            )
        self._texts, self._labels, self._batch_size = list(texts), torch.tensor(labels), batch_size
        self._shuffle, self._seed, self.epoch = shuffle, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of epoch ``epoch``."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._texts) // self._batch_size)

    def __iter__(self) -> Iterator[LabelledBatch]:
        order = torch.arange(len(self._texts))
        if self._shuffle:
            generator = torch.Generator().manual_seed(self._seed * 100_003 + self.epoch)
            order = torch.randperm(len(order), generator=generator)
        for rows in order.split(self._batch_size):
            tokens, lengths = pad([self._texts[row] for row in rows])
            yield LabelledBatch(tokens, lengths, self._labels[rows])
