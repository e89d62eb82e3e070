"""Questions about pictures as batches of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

from seqcourse.data.batching import pad
from seqcourse.data.captioned import to_tensor
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class Asked:
    """One question about a picture: token ids, id of the answer, and its kind."""

    tokens: tuple[int, ...]
    answer: int
    kind: str


@dataclass(frozen=True)
class QuestionBatch:
    """Pictures (B, 3, S, S) of type uint8, questions (B, T) padded at the end, their lengths (B,), the
    ids of the answers (B,), and of the thing at each place of a grid (B, N), 0 where there is none."""

    images: Tensor
    tokens: Tensor
    lengths: Tensor
    labels: Tensor
    regions: Tensor

    @property
    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        """What a model reads."""
        return self.images, self.tokens, self.lengths

    def to(self, device: torch.device | str) -> QuestionBatch:
        """The same on ``device``."""
        return QuestionBatch(*(part.to(device) for part in vars(self).values()))


class QuestionBatches:
    """Questions about pictures in batches.

    For training, every epoch asks one question about each picture: first a kind is drawn among those
    that can be asked about it, then a question of that kind; both, and the order, depend on nothing but
    the seed and the epoch's number. Otherwise all questions are asked in the order given.

    Args:
        pictures: (N, S, S, 3) of type uint8.
        regions: id of the thing at each place of a grid, (N, places), 0 where there is none.
        questions: for each picture what can be asked about it, at least one question.
        batch_size: questions of a batch.
        shuffle: one question about each picture, in another order in every epoch.
        seed: where order and choice come from.

    Raises:
        CourseError: if there are not as many lists of questions as pictures, or one is empty.
    """

    def __init__(
        self,
        pictures: numpy.ndarray,
        regions: numpy.ndarray,
        questions: Sequence[Sequence[Asked]],
        batch_size: int = 64,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        if not len(pictures) == len(questions) == len(regions) or len(pictures) == 0 or batch_size < 1:
            raise CourseError(
                f"QuestionBatches takes as many lists of questions and rows of regions as pictures, at "
                f"least one, and a batch size of at least 1, but got {len(questions)}, {len(regions)}, "
                f"{len(pictures)} and {batch_size}."
            )
        if not all(questions):
            raise CourseError("There should be a question about every picture, but one has none.")
        self._pictures, self._batch_size = to_tensor(pictures), batch_size
        self._regions = torch.from_numpy(numpy.asarray(regions, dtype=numpy.int64))
        self._questions, self._shuffle, self._seed, self.epoch = questions, shuffle, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the questions and the order of epoch ``epoch``."""
        self.epoch = epoch

    def __len__(self) -> int:
        count = len(self._questions) if self._shuffle else sum(map(len, self._questions))
        return -(-count // self._batch_size)

    def __iter__(self) -> Iterator[QuestionBatch]:
        chosen = list(self._drawn() if self._shuffle else self._all())
        for at in range(0, len(chosen), self._batch_size):
            part = chosen[at : at + self._batch_size]
            tokens, lengths = pad([asked.tokens for _, asked in part])
            rows = torch.tensor([row for row, _ in part])
            labels = torch.tensor([asked.answer for _, asked in part])
            images, regions = self._pictures[rows], self._regions[rows]
            yield QuestionBatch(images, tokens, lengths, labels, regions)

    def _all(self) -> Iterator[tuple[int, Asked]]:
        for row, questions in enumerate(self._questions):
            yield from ((row, asked) for asked in questions)

    def _drawn(self) -> Iterator[tuple[int, Asked]]:
        rng = numpy.random.default_rng([self._seed, self.epoch])
        for row in rng.permutation(len(self._questions)).tolist():
            questions = self._questions[row]
            kinds = sorted({asked.kind for asked in questions})
            kind = kinds[int(rng.integers(len(kinds)))]
            those = [asked for asked in questions if asked.kind == kind]
            yield row, those[int(rng.integers(len(those)))]
