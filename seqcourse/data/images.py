"""Pictures as batches of tensors: with their classes, with captions, or with questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

from seqcourse.data.batching import (
    Loader,
    TargetBatch,
    TensorBatch,
    check_counts,
    cut,
    pad,
    pad_targets,
    shuffled,
)
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class ImageBatch(TensorBatch):
    """Pictures (B, C, H, W), from -1 (black) to 1 (white), and their classes (B,)."""

    images: Tensor
    labels: Tensor

    @property
    def inputs(self) -> tuple[Tensor]:
        """What a model reads."""
        return (self.images,)


class ImageBatches(Loader):
    """Pictures with their classes, reshuffled in every epoch.

    Args:
        images: (N, H, W) or (N, H, W, C), uint8; converted to floats batch by batch.
        labels: the class of each, (N,).
        batch_size: pictures of a batch.
        shuffle: reshuffle in every epoch.
        seed: of the order.

    Raises:
        CourseError: there are no pictures, or not as many labels as pictures.
    """

    def __init__(
        self,
        images: numpy.ndarray,
        labels: numpy.ndarray,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        check_counts({"labels": len(labels), "pictures": len(images)}, batch_size)
        classes = torch.from_numpy(numpy.asarray(labels, dtype=numpy.int64))

        def collate(rows: Tensor) -> ImageBatch:
            return ImageBatch(image_tensor(images[rows.numpy()]), classes[rows])

        super().__init__(shuffled(len(images), batch_size, shuffle, seed), collate)


@dataclass(frozen=True)
class CaptionBatch(TargetBatch):
    """Pictures with captions, ready for teacher forcing."""

    src: Tensor  # pictures (B, 3, S, S), uint8
    tgt_in: Tensor  # (B, T')
    tgt_out: Tensor  # (B, T')
    index: Tensor  # (B,), index of every picture in the data set


class CaptionBatches(Loader):
    """Captioned pictures, reshuffled in every epoch.

    If a picture has several captions, every epoch draws one of them.

    Args:
        pictures: (N, S, S, 3) of type uint8, as image files hold them, or what a captioner reads instead
            of pictures, a tensor (N, C, H, W).
        captions: for each picture one or more captions, each a list of ids without specials.
        batch_size: pictures of a batch.
        shuffle: a new order and choice in every epoch; otherwise the given order and the first caption.
        seed: of both.

    Raises:
        CourseError: if there are not as many captions as pictures, or a picture has none.
    """

    def __init__(
        self,
        pictures: numpy.ndarray | Tensor,
        captions: Sequence[Sequence[Sequence[int]]],
        batch_size: int = 64,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        count = len(pictures)
        check_counts({"pictures": count, "lists of captions": len(captions)}, batch_size)
        bare = next((i for i, known in enumerate(captions) if not len(known)), None)
        if bare is not None:
            raise CourseError(f"Every picture should have a caption, but picture {bare} has none.")
        images = pictures if isinstance(pictures, Tensor) else to_tensor(pictures)

        def plan(epoch: int) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
            """Rows, and a number from 0 to 1 for each that chooses its caption."""
            rng = numpy.random.default_rng([seed, epoch])
            order = rng.permutation(count) if shuffle else numpy.arange(count)
            draws = rng.random(count) if shuffle else numpy.zeros(count)
            return [(rows, draws[rows]) for rows in cut(order, batch_size)]

        def collate(group: tuple[numpy.ndarray, numpy.ndarray]) -> CaptionBatch:
            chosen = [captions[i][int(draw * len(captions[i]))] for i, draw in zip(*group, strict=True)]
            rows = torch.from_numpy(group[0].astype("int64"))
            return CaptionBatch(images[rows], *pad_targets(chosen), rows)

        super().__init__(plan, collate)


@dataclass(frozen=True)
class EncodedQuestion:
    """One question about a picture: token ids, id of the answer, and its kind."""

    tokens: tuple[int, ...]
    answer: int
    kind: str


@dataclass(frozen=True)
class QuestionBatch(TensorBatch):
    """Pictures (B, 3, S, S) of type uint8, questions (B, T) padded at the end, their lengths (B,), the
    ids of the answers (B,), and ids of the things on a grid (B, N), 0 for an empty grid cell."""

    images: Tensor
    tokens: Tensor
    lengths: Tensor
    labels: Tensor
    regions: Tensor

    @property
    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        """What a model reads."""
        return self.images, self.tokens, self.lengths


class QuestionBatches(Loader):
    """Questions about pictures.

    For training, every epoch asks one question about each picture: it draws one of the available kinds,
    then a question of that kind. Otherwise all questions are asked in the order given.

    Args:
        pictures: (N, S, S, 3) of type uint8, or what another model made of them, a tensor (N, ...).
        regions: ids of the things on a grid, (N, cells), 0 for an empty cell.
        questions: the questions about each picture, at least one.
        batch_size: questions of a batch.
        shuffle: one question about each picture, in a new order in every epoch.
        seed: of order and choice.

    Raises:
        CourseError: if there are not as many lists of questions as pictures, or one is empty.
    """

    def __init__(
        self,
        pictures: numpy.ndarray | Tensor,
        regions: numpy.ndarray,
        questions: Sequence[Sequence[EncodedQuestion]],
        batch_size: int = 64,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        counts = {"lists of questions": len(questions), "rows of regions": len(regions)}
        check_counts({**counts, "pictures": len(pictures)}, batch_size)
        if not all(questions):
            raise CourseError("There should be a question about every picture, but one has none.")
        images = pictures if isinstance(pictures, Tensor) else to_tensor(pictures)
        things = torch.from_numpy(numpy.asarray(regions, dtype=numpy.int64))

        def plan(epoch: int) -> list[list[tuple[int, EncodedQuestion]]]:
            """Rows of pictures, each with the question about it."""
            if not shuffle:
                every = [(row, one) for row, about in enumerate(questions) for one in about]
                return cut(every, batch_size)
            rng = numpy.random.default_rng([seed, epoch])
            order = rng.permutation(len(questions)).tolist()
            return cut([(row, _draw_question(questions[row], rng)) for row in order], batch_size)

        def collate(group: list[tuple[int, EncodedQuestion]]) -> QuestionBatch:
            tokens, lengths = pad([question.tokens for _, question in group])
            rows = torch.tensor([row for row, _ in group])
            labels = torch.tensor([question.answer for _, question in group])
            return QuestionBatch(images[rows], tokens, lengths, labels, things[rows])

        super().__init__(plan, collate)


def _draw_question(questions: Sequence[EncodedQuestion], rng: numpy.random.Generator) -> EncodedQuestion:
    kinds = sorted({question.kind for question in questions})
    kind = kinds[int(rng.integers(len(kinds)))]
    those = [question for question in questions if question.kind == kind]
    return those[int(rng.integers(len(those)))]


def image_tensor(images: numpy.ndarray) -> Tensor:
    """Pictures (N, H, W) or (N, H, W, C), 0 to 255, as (N, C, H, W), -1 to 1."""
    if images.dtype != numpy.uint8 or images.ndim not in (3, 4):
        raise CourseError(
            f"Pictures should be (N, H, W) or (N, H, W, C) with bytes from 0 to 255, but they are "
            f"{images.shape} of type {images.dtype}."
        )
    x = torch.from_numpy(numpy.array(images)).float() / 127.5 - 1
    return x[:, None] if images.ndim == 3 else x.permute(0, 3, 1, 2).contiguous()


def to_tensor(pictures: numpy.ndarray) -> Tensor:
    """Convert pictures (N, S, S, 3) of type uint8 to a tensor (N, 3, S, S), a view.

    Raises:
        CourseError: the shape or type is different.
    """
    pictures = numpy.asarray(pictures)
    if pictures.ndim != 4 or pictures.shape[-1] != 3 or pictures.dtype != numpy.uint8:
        raise CourseError(
            f"The pictures should be (N, height, width, 3) of type uint8, but they are {pictures.shape} "
            f"of type {pictures.dtype}."
        )
    return torch.from_numpy(pictures).permute(0, 3, 1, 2)
