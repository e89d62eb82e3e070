"""From lists of ids to batches of tensors: padding, bucketing, shifting for teacher forcing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy
import torch

from seqcourse.data.vocabulary import EOS, PAD, SOS
from seqcourse.errors import CourseError

_POOL = 100  # batches' worth of sentences that are sorted by length together


def pad(sequences: Sequence[Sequence[int]], value: int = PAD) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack id lists of different lengths into one tensor, filled up at the end.

    Args:
        sequences: B lists of ids.
        value: the id that fills the empty places.

    Returns:
        ids (B, T) and lengths (B,), both int64; T is the longest length.

    Raises:
        CourseError: there is no sequence at all.
    """
    if len(sequences) == 0:
        raise CourseError("Expected at least one sequence to pad, but the list is empty.")
    lengths = numpy.array([len(ids) for ids in sequences], dtype=numpy.int64)
    table = numpy.full((len(sequences), int(lengths.max())), value, dtype=numpy.int64)
    for row, ids in enumerate(sequences):
        table[row, : len(ids)] = ids
    return torch.from_numpy(table), torch.from_numpy(lengths)


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as tensors, ready for teacher forcing.

    ``tgt_in`` is <sos> and the target, ``tgt_out`` the target and <eos>: at every place the
    model reads ``tgt_in`` up to there and is asked for ``tgt_out`` there.
    """

    src: torch.Tensor  # (B, T), each row ends with <eos>
    src_lengths: torch.Tensor  # (B,), <eos> counted
    tgt_in: torch.Tensor  # (B, T')
    tgt_out: torch.Tensor  # (B, T')
    index: torch.Tensor  # (B,), the place of every row in the data set

    def __len__(self) -> int:
        return self.src.shape[0]

    @property
    def tokens(self) -> int:
        """How many target tokens the loss is taken over (padding does not count)."""
        return int((self.tgt_out != PAD).sum())

    def to(self, device: torch.device | str) -> Batch:
        """The same batch with every tensor on ``device``."""
        return Batch(
            self.src.to(device),
            self.src_lengths.to(device),
            self.tgt_in.to(device),
            self.tgt_out.to(device),
            self.index.to(device),
        )


class Batches:
    """A data set cut into batches of sentences of about the same length.

    Iterate over it once per epoch. ``set_epoch(n)`` gives epoch n its own order, which depends
    on nothing but the seed and n, so that a resumed training sees what it would have seen.

    Args:
        src_ids: source id lists without specials; <eos> is appended.
        tgt_ids: target id lists without specials; <sos> and <eos> are added.
        batch_size: sentences in a batch.
        batch_tokens: instead of ``batch_size``: the largest number of places (sentences times
            the longest sequence in the batch, specials counted) that a batch may have. A pair
            that is longer by itself gets a batch of its own.
        shuffle: another order in every epoch.
        seed: where the order comes from.
        bucket: put sentences of about the same length together, so that little is padding.
    """

    def __init__(
        self,
        src_ids: Sequence[Sequence[int]],
        tgt_ids: Sequence[Sequence[int]],
        batch_size: int = 64,
        batch_tokens: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        bucket: bool = True,
    ) -> None:
        if len(src_ids) != len(tgt_ids):
            raise CourseError(
                f"Expected as many source as target sentences, "
                f"but got {len(src_ids)} and {len(tgt_ids)}."
            )
        if len(src_ids) == 0:
            raise CourseError("Expected at least one sentence pair to make batches of, got none.")
        if batch_size < 1 or (batch_tokens is not None and batch_tokens < 1):
            raise CourseError(
                f"batch_size and batch_tokens should be at least 1, "
                f"but are {batch_size} and {batch_tokens}."
            )
        self._src = src_ids
        self._tgt = tgt_ids
        self._batch_size = batch_size
        self._batch_tokens = batch_tokens
        self._shuffle = shuffle
        self._seed = seed
        self._bucket = bucket
        self._src_sizes = numpy.array([len(ids) + 1 for ids in src_ids])
        self._tgt_sizes = numpy.array([len(ids) + 1 for ids in tgt_ids])
        self._sizes = numpy.maximum(self._src_sizes, self._tgt_sizes)
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of epoch ``epoch``."""
        self.epoch = epoch
        self._plan = self._make_plan()

    def __len__(self) -> int:
        return len(self._plan)

    def __iter__(self) -> Iterator[Batch]:
        for rows in self._plan:
            yield self._make_batch(rows)

    def _make_plan(self) -> list[numpy.ndarray]:
        rng = numpy.random.default_rng([self._seed, self.epoch])
        count = len(self._sizes)
        order = rng.permutation(count) if self._shuffle else numpy.arange(count)
        if self._bucket:
            pool = count
            if self._shuffle and self._batch_tokens is None:
                pool = self._batch_size * _POOL
            order = numpy.concatenate(
                [self._by_length(order[at : at + pool]) for at in range(0, count, pool)]
            )
        plan = list(self._cut(order))
        if self._shuffle:
            plan = [plan[i] for i in rng.permutation(len(plan))]
        return plan

    def _by_length(self, rows: numpy.ndarray) -> numpy.ndarray:
        # lexsort sorts by its last key first, and keeps the given order among equals
        return rows[numpy.lexsort((self._tgt_sizes[rows], self._src_sizes[rows]))]

    def _cut(self, order: numpy.ndarray) -> Iterator[numpy.ndarray]:
        if self._batch_tokens is None:
            for at in range(0, len(order), self._batch_size):
                yield order[at : at + self._batch_size]
            return
        start = 0
        longest = 0
        for at, row in enumerate(order):
            longest = max(longest, int(self._sizes[row]))
            if at > start and longest * (at - start + 1) > self._batch_tokens:
                yield order[start:at]
                start, longest = at, int(self._sizes[row])
        yield order[start:]

    def _make_batch(self, rows: numpy.ndarray) -> Batch:
        src, src_lengths = pad([[*self._src[row], EOS] for row in rows])
        tgt_in, _ = pad([[SOS, *self._tgt[row]] for row in rows])
        tgt_out, _ = pad([[*self._tgt[row], EOS] for row in rows])
        return Batch(src, src_lengths, tgt_in, tgt_out, torch.from_numpy(rows.astype("int64")))
