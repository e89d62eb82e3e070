"""Batches: nothing lost, nothing repeated, shifted rightly, the same again when resumed."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqcourse import data, models
from seqcourse.errors import CourseError

IDS = st.lists(st.integers(4, 9), max_size=12)
PAIRS = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=60)


def rows_of(batch: data.Batch) -> list[tuple[int, list[int], list[int]]]:
    """(index, source, target) of every row, with the specials taken off and checked."""
    rows = []
    for i in range(len(batch)):
        source = batch.src[i, : batch.src_lengths[i]].tolist()
        assert source.pop() == data.EOS
        assert not batch.src[i, batch.src_lengths[i] :].any()  # <pad> is 0
        size = int((batch.tgt_out[i] != data.PAD).sum())
        target = batch.tgt_out[i, :size].tolist()
        assert target.pop() == data.EOS
        assert batch.tgt_in[i, :size].tolist() == [data.SOS, *target]
        assert not batch.tgt_in[i, size:].any() and not batch.tgt_out[i, size:].any()
        rows.append((int(batch.index[i]), source, target))
    return rows


@given(
    PAIRS,
    st.integers(1, 9),
    st.none() | st.integers(1, 60),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)
def test_every_pair_comes_once_and_whole(pairs, size, tokens, shuffle, bucket, epoch):
    sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
    batches = data.Batches(sources, targets, size, tokens, shuffle=shuffle, bucket=bucket)
    batches.set_epoch(epoch)
    all_batches = list(batches)
    assert len(all_batches) == len(batches)
    rows = sorted(row for batch in all_batches for row in rows_of(batch))
    assert rows == [(i, s, t) for i, (s, t) in enumerate(pairs)]
    for batch in all_batches:
        assert batch.tokens == sum(len(target) + 1 for _, _, target in rows_of(batch))
        if tokens is None:
            assert len(batch) <= size
        else:
            places = len(batch) * max(batch.src.shape[1], batch.tgt_in.shape[1])
            assert places <= tokens or len(batch) == 1


def many(n: int = 3_000) -> tuple[list[list[int]], list[list[int]]]:
    return data.copy_task(n, (1, 20), seed=3)


def order(batches: data.Batches) -> list[list[int]]:
    return [batch.index.tolist() for batch in batches]


def test_an_epoch_has_its_own_order_and_the_same_one_again():
    sources, targets = many()
    batches = data.Batches(sources, targets, 32, seed=5)
    first = order(batches)
    batches.set_epoch(1)
    second = order(batches)
    assert first != second
    again = data.Batches(sources, targets, 32, seed=5)
    again.set_epoch(1)  # as after a resume: epoch 0 was not run here
    assert order(again) == second
    assert order(data.Batches(sources, targets, 32, seed=6)) != first


def test_buckets_are_not_sorted_in_time_and_hold_little_padding():
    sources, targets = many()

    def padding(bucket: bool) -> float:
        batches = list(data.Batches(sources, targets, 32, bucket=bucket))
        places = sum(batch.src.numel() for batch in batches)
        return 1 - sum(int(batch.src_lengths.sum()) for batch in batches) / places

    assert padding(bucket=True) < 0.1 < 0.3 < padding(bucket=False)
    widths = [batch.src.shape[1] for batch in data.Batches(sources, targets, 32)]
    assert widths != sorted(widths) and widths != sorted(widths, reverse=True)


def test_without_shuffle_and_buckets_the_order_is_the_given_one():
    sources, targets = many(10)
    batches = data.Batches(sources, targets, 4, shuffle=False, bucket=False)
    assert order(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@given(st.lists(IDS, min_size=1), st.integers(0, 3))
def test_pad_fills_the_end_and_tells_the_lengths(sequences, value):
    ids, lengths = data.pad(sequences, value)
    assert ids.dtype == lengths.dtype == torch.int64
    assert ids.shape == (len(sequences), max(map(len, sequences)))
    for row, length, sequence in zip(ids.tolist(), lengths.tolist(), sequences, strict=True):
        assert row == sequence + [value] * (len(row) - len(sequence))
        assert length == len(sequence)


def test_to_moves_every_tensor():
    batch = next(iter(data.Batches([[4]], [[5]]))).to("meta")
    tensors = (batch.src, batch.src_lengths, batch.tgt_in, batch.tgt_out, batch.index)
    assert all(tensor.device.type == "meta" for tensor in tensors)


def test_a_list_without_ids_has_a_place_in_a_table_and_is_read_by_no_model():
    ids, lengths = data.pad([[], [4, 5]])
    assert ids.tolist() == [[data.PAD, data.PAD], [4, 5]] and lengths.tolist() == [0, 2]
    with pytest.raises(ValueError, match="between 1 and the padded length 2"):
        models.Seq2Seq(9, 9, 4, 8).encode(ids, lengths)
    ids, lengths = data.pad([[], []])
    assert ids.shape == (2, 0) and lengths.tolist() == [0, 0]
    with pytest.raises(ValueError, match="at least one step"):
        models.Seq2Seq(9, 9, 4, 8).encode(ids, lengths)


def test_mistakes_with_batches_get_sentences():
    for wrong in ([1.5], ["a"]):
        with pytest.raises(CourseError, match="whole numbers, but sequence 1 is"):
            data.pad([[1], wrong])
    with pytest.raises(CourseError, match="at least one sequence"):
        data.pad([])
    with pytest.raises(CourseError, match="but got 2 source sentences, 1 target"):
        data.Batches([[4], [5]], [[4]])
    with pytest.raises(CourseError, match="at least one, .* but got 0"):
        data.Batches([], [])
    with pytest.raises(CourseError, match="and a batch size of 0"):
        data.Batches([[4]], [[4]], batch_size=0)


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 5), st.integers(1, 12), st.booleans())
def test_copy_task_copies_or_reverses(n, shortest, more, symbols, reverse):
    sources, targets = data.copy_task(n, (shortest, shortest + more), symbols, reverse, seed=n)
    assert len(sources) == n
    for source, target in zip(sources, targets, strict=True):
        assert shortest <= len(source) <= shortest + more
        assert all(4 <= number < 4 + symbols for number in source)
        assert target == (source[::-1] if reverse else source)
        assert target is not source
    again = data.copy_task(n, (shortest, shortest + more), symbols, reverse, seed=n)
    assert again == (sources, targets)


def test_copy_task_uses_all_lengths_and_symbols_and_its_seed():
    sources, _ = data.copy_task(500, (2, 5), symbols=3)
    assert {len(ids) for ids in sources} == {2, 3, 4, 5}
    assert {number for ids in sources for number in ids} == {4, 5, 6}
    assert data.copy_task(5, 8, seed=1) != data.copy_task(5, 8, seed=2)
    with pytest.raises(CourseError, match="length=\\(5, 2\\)"):
        data.copy_task(1, (5, 2))
