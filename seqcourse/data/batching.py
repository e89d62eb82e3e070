"""Batches of tensors: padding, the loader, batches of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy
import torch
from torch import Tensor

from seqcourse.errors import CourseError
from seqcourse.tokens import EOS, PAD, SOS

_POOL = 100  # number of batches whose sentences are sorted by length together


def pad(sequences: Sequence[Sequence[int]], value: int = PAD) -> tuple[Tensor, Tensor]:
    """Stack id lists of different lengths into one tensor, padded at the end.

    A list without ids becomes a row of padding with the length 0. It has a place in a table; a model
    that reads it raises an error, for there is nothing to read.

    Args:
        sequences: B lists of ids.
        value: the id used as padding.

    Returns:
        ids (B, T) and lengths (B,), both int64; T is the longest length.

    Raises:
        CourseError: the list is empty, or what is in it are no lists of ids.
    """
    if len(sequences) == 0:
        raise CourseError("Expected at least one sequence to pad, but the list is empty.")
    lengths = numpy.array([len(ids) for ids in sequences], dtype=numpy.int64)
    table = numpy.full((len(sequences), int(lengths.max())), value, dtype=numpy.int64)
    for row, ids in enumerate(sequences):
        given = numpy.asarray(ids)
        if len(ids) and given.dtype.kind not in "iub":
            raise CourseError(
                f"pad makes a table of ids, which are whole numbers, but sequence {row} is {ids!r:.60}."
            )
        table[row, : len(ids)] = given
    return torch.from_numpy(table), torch.from_numpy(lengths)


def pad_targets(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Id lists for teacher forcing: <sos> and each list, and each list and <eos>, both (B, T')."""
    return pad([[SOS, *ids] for ids in sequences])[0], pad([[*ids, EOS] for ids in sequences])[0]


class TensorBatch:
    """A dataclass of tensors with the batch first."""

    def to(self, device: torch.device | str) -> Self:
        """The same batch with every tensor on ``device``."""
        return type(self)(*(part.to(device) for part in vars(self).values()))

    @property
    def terms(self) -> int:
        """How many terms the mean loss of this batch is over: one for each row, as a rule."""
        return len(next(iter(vars(self).values())))


class TargetBatch(TensorBatch):
    """A batch for teacher forcing, with the fields ``src``, ``tgt_in`` and ``tgt_out``.

    ``tgt_in`` is <sos> and the target, ``tgt_out`` the target and <eos>: at every position the model
    reads ``tgt_in`` up to that position and predicts ``tgt_out`` there.
    """

    def __len__(self) -> int:
        return len(self.src)

    @property
    def tokens(self) -> int:
        """The number of target tokens in the loss, without padding."""
        return int((self.tgt_out != PAD).sum())

    @property
    def terms(self) -> int:
        return self.tokens


@dataclass(frozen=True)
class Batch(TargetBatch):
    """Sentence pairs as tensors, ready for teacher forcing."""

    src: Tensor  # (B, T), each row ends with <eos>
    src_lengths: Tensor  # (B,), <eos> counted
    tgt_in: Tensor  # (B, T')
    tgt_out: Tensor  # (B, T')
    index: Tensor  # (B,), index of every row in the data set


class Loader:
    """The batches of a data set: iterate over them once per epoch.

    Args:
        plan: maps an epoch's number to its groups, one per batch. The groups depend only on a seed and
            that number, so resumed training sees the same batches.
        collate: maps a group to its batch.
    """

    def __init__(
        self, plan: Callable[[int], Sequence[Any]], collate: Callable[[Any], TensorBatch]
    ) -> None:
        self._plan, self._collate = plan, collate
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Plan the batches of epoch ``epoch``."""
        self.epoch, self.groups = epoch, self._plan(epoch)

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Any]:
        return map(self._collate, self.groups)


def cut(items: Sequence[Any], size: int) -> list[Any]:
    """Consecutive parts of ``size`` items; the last one may be shorter."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """The random number generator of an epoch."""
    return torch.Generator().manual_seed(seed * 100_003 + epoch)


def shuffled(count: int, batch_size: int, shuffle: bool, seed: int) -> Callable[[int], Sequence[Tensor]]:
    """A plan: all rows in groups of ``batch_size``, reshuffled in every epoch if ``shuffle``."""

    def plan(epoch: int) -> Sequence[Tensor]:
        if not shuffle:
            return torch.arange(count).split(batch_size)
        return torch.randperm(count, generator=epoch_generator(seed, epoch)).split(batch_size)

    return plan


def check_counts(counts: dict[str, int], batch_size: int) -> None:
    """Raise CourseError unless all counts are equal and at least 1, and the batch size is at least 1."""
    if len(set(counts.values())) > 1 or 0 in counts.values() or batch_size < 1:
        came = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise CourseError(
            f"Expected as many {' as '.join(counts)}, at least one, and a batch size of at least 1, "
            f"but got {came} and a batch size of {batch_size}."
        )


class Batches(Loader):
    """Sentence pairs in batches of similar length.

    Args:
        src_ids: source id lists without specials; <eos> is appended.
        tgt_ids: target id lists without specials; <sos> and <eos> are added.
        batch_size: sentences in a batch.
        batch_tokens: instead of ``batch_size``: the largest number of positions in a batch (sentences
            times the longest sequence, including specials). A single pair above the limit gets its
            own batch.
        shuffle: reshuffle in every epoch.
        seed: of the order.
        bucket: group sentences of similar length, to reduce padding.
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
        count = len(src_ids)
        limit = batch_size if batch_tokens is None else min(batch_size, batch_tokens)
        check_counts({"source sentences": count, "target sentences": len(tgt_ids)}, limit)
        src_sizes = numpy.array([len(ids) + 1 for ids in src_ids])
        tgt_sizes = numpy.array([len(ids) + 1 for ids in tgt_ids])

        def plan(epoch: int) -> list[numpy.ndarray]:
            rng = numpy.random.default_rng([seed, epoch])
            order = rng.permutation(count) if shuffle else numpy.arange(count)
            if bucket:
                pool = batch_size * _POOL if shuffle and batch_tokens is None else count
                # lexsort sorts by its last key first, and keeps the given order among equals
                order = numpy.concatenate(
                    [
                        rows[numpy.lexsort((tgt_sizes[rows], src_sizes[rows]))]
                        for rows in cut(order, pool)
                    ]
                )
            if batch_tokens is None:
                groups = cut(order, batch_size)
            else:
                groups = _cut_by_places(order, numpy.maximum(src_sizes, tgt_sizes), batch_tokens)
            return [groups[i] for i in rng.permutation(len(groups))] if shuffle else groups

        def collate(rows: numpy.ndarray) -> Batch:
            src, src_lengths = pad([[*src_ids[row], EOS] for row in rows])
            targets = pad_targets([tgt_ids[row] for row in rows])
            return Batch(src, src_lengths, *targets, torch.from_numpy(rows.astype("int64")))

        super().__init__(plan, collate)


def _cut_by_places(order: numpy.ndarray, sizes: numpy.ndarray, limit: int) -> list[numpy.ndarray]:
    """Consecutive rows whose number times their largest size is at most ``limit``."""
    groups, start, longest = [], 0, 0
    for at, row in enumerate(order):
        longest = max(longest, int(sizes[row]))
        if at > start and longest * (at - start + 1) > limit:
            groups.append(order[start:at])
            start, longest = at, int(sizes[row])
    return [*groups, order[start:]]
