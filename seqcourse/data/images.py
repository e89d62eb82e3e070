"""Pictures with labels as batches of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

from seqcourse.errors import CourseError


@dataclass(frozen=True)
class ImageBatch:
    """Pictures (B, C, H, W), from -1 (black) to 1 (white), and their classes (B,)."""

    images: Tensor
    labels: Tensor

    @property
    def inputs(self) -> tuple[Tensor]:
        """What a model reads."""
        return (self.images,)

    def to(self, device: torch.device | str) -> ImageBatch:
        """The same on ``device``."""
        return ImageBatch(self.images.to(device), self.labels.to(device))


class ImageBatches:
    """Pictures with their classes, in another order in every epoch.

    Args:
        images: (N, H, W) or (N, H, W, C), uint8; they are turned into numbers batch by batch.
        labels: the class of each, (N,).
        batch_size: pictures of a batch.
        shuffle: another order in every epoch.
        seed: where the order comes from.

    Raises:
        CourseError: if there is nothing, or there are not as many labels as pictures.
    """

    def __init__(
        self,
        images: numpy.ndarray,
        labels: numpy.ndarray,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        if len(images) != len(labels) or len(images) == 0 or batch_size < 1:
            raise CourseError(
                f"ImageBatches takes as many labels as pictures, at least one, and a batch size of at "
                f"least 1, but got {len(images)} pictures, {len(labels)} labels and {batch_size}."
            )
        self._images = images
        self._labels = torch.from_numpy(numpy.asarray(labels, dtype=numpy.int64))
        self._batch_size, self._shuffle, self._seed, self.epoch = batch_size, shuffle, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of epoch ``epoch``."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._labels) // self._batch_size)

    def __iter__(self) -> Iterator[ImageBatch]:
        for rows in shuffled(len(self._labels), self._batch_size, self._shuffle, self._seed, self.epoch):
            yield ImageBatch(image_tensor(self._images[rows.numpy()]), self._labels[rows])


def shuffled(size: int, batch_size: int, shuffle: bool, seed: int, epoch: int) -> tuple[Tensor, ...]:
    """The rows of each batch of an epoch."""
    order = torch.arange(size)
    if shuffle:
        order = torch.randperm(size, generator=torch.Generator().manual_seed(seed * 100_003 + epoch))
    return order.split(batch_size)


def image_tensor(images: numpy.ndarray) -> Tensor:
    """Pictures (N, H, W) or (N, H, W, C), 0 to 255, as (N, C, H, W), -1 to 1."""
    if images.dtype != numpy.uint8 or images.ndim not in (3, 4):
        raise CourseError(
            f"Pictures should be (N, H, W) or (N, H, W, C) with bytes from 0 to 255, but they are "
            f"{images.shape} of type {images.dtype}."
        )
    x = torch.from_numpy(numpy.array(images)).float() / 127.5 - 1
    return x[:, None] if images.ndim == 3 else x.permute(0, 3, 1, 2).contiguous()
