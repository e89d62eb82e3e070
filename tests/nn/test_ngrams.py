"""N-grams: their numbers counted by hand, what they see, what dropout leaves."""

from __future__ import annotations

import pytest
import torch

from seqcourse import functional as F
from seqcourse import nn

WORD = torch.tensor([[3, 1, 4, 1, 5]])


def test_the_number_of_a_trigram_by_hand():
    found = F.ngram_bucket(WORD, 1, 1, base=10, buckets=10_000)
    assert found.tolist() == [[31, 314, 141, 415, 150]]  # outside the word stands 0
    assert F.ngram_bucket(WORD, 2, 0, 10, 10_000).tolist() == [[3, 31, 314, 141, 415]]
    assert F.ngram_bucket(WORD, 0, 0, 10, 10_000).tolist() == WORD.tolist()


def test_what_is_behind_the_end_counts_as_nothing():
    longer = torch.cat([WORD, torch.tensor([[7, 7]])], 1)
    real = torch.tensor([[True] * 5 + [False] * 2])
    found = F.ngram_bucket(longer, 1, 2, 10, 10_000, real)[:, :5]
    assert torch.equal(found, F.ngram_bucket(WORD, 1, 2, 10, 10_000))


@pytest.mark.parametrize(("left", "right"), [(1, 1), (2, 1), (4, 4)])
def test_the_remainder_of_the_whole_number(left, right):
    """Reduced after each digit or at the end: the same, so that long n-grams overflow nothing."""
    torch.manual_seed(0)
    words = torch.randint(0, 5000, (4, 6))
    found = F.ngram_bucket(words, left, right, 5000, 997)
    for row, numbers in zip(words.tolist(), found.tolist(), strict=True):
        around = [0] * left + row + [0] * right
        for at, number in enumerate(numbers):
            whole = 0
            for digit in around[at : at + left + 1 + right]:
                whole = whole * 5000 + digit  # a Python int: as long as it needs to be
            assert number == whole % 997


def test_what_is_no_ngram():
    with pytest.raises(ValueError, match="counted in ids"):
        F.ngram_bucket(WORD.float(), 1, 1, 10, 97)
    for wrong in ((-1, 1, 10, 97), (1, -1, 10, 97), (1, 1, 0, 97), (1, 1, 10, 0)):
        with pytest.raises(ValueError, match="should be at least"):
            F.ngram_bucket(WORD, *wrong)


def test_each_vector_depends_on_its_window_and_on_nothing_else():
    layer = nn.NGrams(10, 8, windows=[(1, 1), (2, 0)], buckets=9973, size=4)
    before = layer(WORD)
    assert before.shape == (1, 5, 8)
    other = WORD.clone()
    other[0, 3] = 7
    same = (layer(other) == before).all(-1)[0].tolist()
    assert same == [True, True, False, False, False]


def test_by_hand_from_its_tables():
    layer = nn.NGrams(10, 8, windows=[(1, 1), (0, 0)], buckets=9973, size=4)
    rows = torch.cat([layer.tables[0][314], layer.tables[1][1]])
    torch.testing.assert_close(layer(WORD)[0, 1], layer.out.weight @ rows)


def test_dropout_leaves_out_whole_rows_while_training():
    torch.manual_seed(0)
    layer = nn.NGrams(10, 4, windows=[(0, 0)], buckets=97, size=4, dropout=0.25)
    torch.nn.init.eye_(layer.out.weight)
    tokens = torch.full((1, 4000), 3)
    rows = layer(tokens)[0] / layer.tables[0][3]  # 0, or one over the share that stays
    gone = (rows == 0).all(-1)
    torch.testing.assert_close(rows[~gone], torch.full_like(rows[~gone], 4 / 3))
    assert gone.float().mean().item() == pytest.approx(0.25, abs=0.03)
    torch.testing.assert_close(layer.eval()(tokens)[0, 0], layer.tables[0][3])


def test_every_row_that_is_read_learns():
    layer = nn.NGrams(10, 8, windows=[(1, 1)], buckets=97, size=4)
    layer(WORD).sum().backward()
    touched = layer.tables[0].grad.abs().sum(-1).nonzero().flatten().tolist()
    assert touched == sorted(set(F.ngram_bucket(WORD, 1, 1, 10, 97).flatten().tolist()))


@pytest.mark.parametrize("wrong", [{"windows": []}, {"dropout": 1.0}, {"dropout": -0.1}])
def test_arguments_that_are_no_use(wrong):
    with pytest.raises(ValueError, match="at least one window"):
        nn.NGrams(10, 8, **wrong)
