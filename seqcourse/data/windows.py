"""One long text, cut into windows for a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqcourse.data.batching import Loader, TensorBatch, epoch_generator
from seqcourse.errors import CourseError
from seqcourse.tokens import NOT_ASKED


@dataclass(frozen=True)
class TextBatch(TensorBatch):
    """Windows of a text: at every position the model reads ``tokens`` and predicts ``targets``."""

    tokens: Tensor  # (B, T)
    targets: Tensor  # (B, T), the tokens shifted by one position

    @property
    def terms(self) -> int:
        return int((self.targets != NOT_ASKED).sum())


class TextBatches(Loader):
    """A text as batches of windows of T tokens.

    Every epoch shifts its windows by an offset that depends on the seed and the epoch's number, so that
    the windows' edges vary.

    Args:
        ids: the text, (N,).
        length: T, tokens of a window.
        batch_size: windows of a batch.
        shuffle: a new start and order in every epoch.
        seed: of start and order.
    """

    def __init__(
        self, ids: Tensor, length: int, batch_size: int, shuffle: bool = True, seed: int = 0
    ) -> None:
        if length < 1 or batch_size < 1:
            raise CourseError(
                f"length and batch_size should be at least 1, but are {length} and {batch_size}."
            )
        count = (len(ids) - length) // length
        if count < batch_size:
            raise CourseError(
                f"A text of {len(ids)} tokens has too few windows of {length} tokens for one batch of "
                f"{batch_size}. Take a longer text, a shorter length or a smaller batch."
            )

        def plan(epoch: int) -> Sequence[Tensor]:
            """The start of every window."""
            generator, offset, order = epoch_generator(seed, epoch), 0, torch.arange(count)
            if shuffle:
                offset = int(torch.randint(length, (), generator=generator))
                order = torch.randperm(count, generator=generator)
            whole = order[: count // batch_size * batch_size]
            return (offset + whole * length).split(batch_size)

        super().__init__(plan, lambda begins: _windows(ids, begins, length))


class DrawnTexts(Loader):
    """Windows that begin anywhere in a text, drawn anew in every epoch.

    Args:
        ids: the text, (N,).
        length: T, tokens of a window.
        batch_size: windows of a batch.
        steps: batches of an epoch.
        seed: of the draws.
    """

    def __init__(self, ids: Tensor, length: int, batch_size: int, steps: int, seed: int = 0) -> None:
        if len(ids) <= length:
            raise CourseError(
                f"A text of {len(ids)} tokens has no window of {length} tokens with one to follow. Take "
                "a longer text or a shorter length."
            )

        def plan(epoch: int) -> Sequence[Tensor]:
            generator = epoch_generator(seed, epoch)
            return torch.randint(len(ids) - length, (steps, batch_size), generator=generator)

        super().__init__(plan, lambda begins: _windows(ids, begins, length))


def _windows(ids: Tensor, begins: Tensor, length: int) -> TextBatch:
    """The windows that begin there."""
    text = ids[begins[:, None] + torch.arange(length + 1)]  # (B, T + 1)
    return TextBatch(text[:, :-1], text[:, 1:])
