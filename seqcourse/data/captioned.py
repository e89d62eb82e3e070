"""Captioned pictures as batches of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

from seqcourse.data.batching import pad
from seqcourse.data.vocabulary import EOS, PAD, SOS
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class CaptionBatch:
    """Pictures with captions, ready for teacher forcing.

    ``tgt_in`` is <sos> and the caption, ``tgt_out`` the caption and <eos>.
    """

    src: Tensor  # pictures (B, 3, S, S), uint8
    tgt_in: Tensor  # (B, T')
    tgt_out: Tensor  # (B, T')
    index: Tensor  # (B,), the place of every picture in the data set

    def __len__(self) -> int:
        return self.src.shape[0]

    @property
    def tokens(self) -> int:
        """How many words the loss is taken over."""
        return int((self.tgt_out != PAD).sum())

    def to(self, device: torch.device | str) -> CaptionBatch:
        """The same batch with every tensor on ``device``."""
        return CaptionBatch(*(part.to(device) for part in vars(self).values()))


class CaptionBatches:
    """Captioned pictures in batches, in another order in every epoch.

    ``set_epoch(n)`` gives epoch n its own order and, where a picture has several captions, its own
    choice of them; both depend on nothing but the seed and n.

    Args:
        pictures: (N, S, S, 3) of type uint8, as image files hold them.
        captions: for each picture one or more captions, each a list of ids without specials.
        batch_size: pictures of a batch.
        shuffle: another order and choice in every epoch; else as given, and the first caption.
        seed: where both come from.

    Raises:
        CourseError: if there are not as many captions as pictures, or a picture has none.
    """

    def __init__(
        self,
        pictures: numpy.ndarray,
        captions: Sequence[Sequence[Sequence[int]]],
        batch_size: int = 64,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        if len(pictures) != len(captions) or len(pictures) == 0 or batch_size < 1:
            raise CourseError(
                f"CaptionBatches takes as many lists of captions as pictures, at least one, and a batch "
                f"size of at least 1, but got {len(pictures)} pictures, {len(captions)} lists and "
                f"{batch_size}."
            )
        bare = next((i for i, known in enumerate(captions) if not len(known)), None)
        if bare is not None:
            raise CourseError(f"Every picture should have a caption, but picture {bare} has none.")
        self._pictures = to_tensor(pictures)
        self._captions, self._batch_size = captions, batch_size
        self._shuffle, self._seed, self.epoch = shuffle, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of epoch ``epoch``."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._pictures) // self._batch_size)

    def __iter__(self) -> Iterator[CaptionBatch]:
        rng = numpy.random.default_rng([self._seed, self.epoch])
        count = len(self._pictures)
        order = rng.permutation(count) if self._shuffle else numpy.arange(count)
        draws = rng.random(count) if self._shuffle else numpy.zeros(count)
        for at in range(0, count, self._batch_size):
            rows = order[at : at + self._batch_size]
            chosen = [self._captions[i][int(draws[i] * len(self._captions[i]))] for i in rows]
            tgt_in, _ = pad([[SOS, *ids] for ids in chosen])
            tgt_out, _ = pad([[*ids, EOS] for ids in chosen])
            rows = torch.from_numpy(rows.astype("int64"))
            yield CaptionBatch(self._pictures[rows], tgt_in, tgt_out, rows)


def to_tensor(pictures: numpy.ndarray) -> Tensor:
    """Pictures as image files hold them, (N, S, S, 3) of type uint8, to (N, 3, S, S), a view.

    Raises:
        CourseError: if they are something else.
    """
    pictures = numpy.asarray(pictures)
    if pictures.ndim != 4 or pictures.shape[-1] != 3 or pictures.dtype != numpy.uint8:
        raise CourseError(
            f"The pictures should be (N, height, width, 3) of type uint8, but they are {pictures.shape} "
            f"of type {pictures.dtype}."
        )
    return torch.from_numpy(pictures).permute(0, 3, 1, 2)
