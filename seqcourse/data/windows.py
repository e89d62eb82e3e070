"""One long text, cut into windows for a language model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.errors import CourseError


@dataclass(frozen=True)
class TextBatch:
    """Windows of a text: at every place the model reads ``tokens`` and is asked for ``targets``."""

    tokens: Tensor  # (B, T)
    targets: Tensor  # (B, T), the tokens one place later

    def to(self, device: torch.device | str) -> TextBatch:
        """The same windows on ``device``."""
        return TextBatch(self.tokens.to(device), self.targets.to(device))


class TextBatches:
    """A text as batches of windows of T tokens.

    Every epoch starts its windows at another place, drawn from the seed and the epoch's number, so that
    words at a window's edge are not always the same ones.

    Args:
        ids: the text, (N,).
        length: T, tokens of a window.
        batch_size: windows of a batch.
        shuffle: another start and another order in every epoch.
        seed: where start and order come from.
    """

    def __init__(
        self, ids: Tensor, length: int, batch_size: int, shuffle: bool = True, seed: int = 0
    ) -> None:
        if length < 1 or batch_size < 1:
            raise CourseError(
                f"length and batch_size should be at least 1, but are {length} and {batch_size}."
            )
        self._count = (len(ids) - length) // length
        if self._count < batch_size:
            raise CourseError(
                f"A text of {len(ids)} tokens has too few windows of {length} tokens for one batch of "
                f"{batch_size}. Take a longer text, a shorter length or a smaller batch."
            )
        self._ids, self._length, self._batch_size = ids, length, batch_size
        self._shuffle, self._seed, self.epoch = shuffle, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the windows of epoch ``epoch``."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self._count // self._batch_size

    def __iter__(self) -> Iterator[TextBatch]:
        generator = torch.Generator().manual_seed(self._seed * 100_003 + self.epoch)
        offset, order = 0, torch.arange(self._count)
        if self._shuffle:
            offset = int(torch.randint(self._length, (), generator=generator))
            order = torch.randperm(self._count, generator=generator)
        for rows in order[: len(self) * self._batch_size].split(self._batch_size):
            begin = offset + rows[:, None] * self._length
            places = begin + torch.arange(self._length + 1)  # (B, T + 1)
            text = self._ids[places]
            yield TextBatch(text[:, :-1], text[:, 1:])
