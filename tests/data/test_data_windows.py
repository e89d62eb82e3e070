"""Windows of one long text for language models."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqcourse import data
from seqcourse.errors import CourseError


@given(st.integers(30, 200), st.integers(1, 9), st.integers(1, 2), st.integers(0, 5))
def test_windows_never_overlap_and_targets_are_one_place_later(size, length, batch_size, epoch):
    batches = data.TextBatches(torch.arange(size), length, batch_size)
    batches.set_epoch(epoch)
    seen: list[int] = []
    count = 0
    for batch in batches:
        count += 1
        assert batch.tokens.shape == batch.targets.shape == (batch_size, length)
        assert torch.equal(batch.targets, batch.tokens + 1)  # the text is 0, 1, 2, ...
        assert int(batch.targets.max()) < size
        seen += batch.tokens.flatten().tolist()
    assert count == len(batches)
    assert len(set(seen)) == len(seen)
    assert len(seen) > size - (batch_size + 1) * length - length  # hardly anything is left out


def test_an_epoch_has_its_own_windows_and_the_same_ones_again():
    def tokens(epoch: int) -> list[list[int]]:
        batches = data.TextBatches(torch.arange(500), 7, 3, seed=1)
        batches.set_epoch(epoch)
        return [batch.tokens.flatten().tolist() for batch in batches]

    assert tokens(2) == tokens(2)
    assert tokens(2) != tokens(3)


def test_a_text_that_is_too_short_gets_a_sentence():
    with pytest.raises(CourseError, match="A text of 10 tokens has too few windows of 8"):
        data.TextBatches(torch.arange(10), 8, 2)
    with pytest.raises(CourseError, match="at least 1, but are 0 and 2"):
        data.TextBatches(torch.arange(10), 0, 2)


def test_drawn_windows_are_other_ones_in_every_epoch_and_the_same_for_a_seed():
    ids = torch.arange(50)
    one, other = (data.DrawnTexts(ids, 7, 4, steps=3, seed=1) for _ in range(2))
    first = [batch.tokens for batch in one]
    assert all(map(torch.equal, first, [batch.tokens for batch in other]))
    one.set_epoch(1)
    assert not any(map(torch.equal, first, [batch.tokens for batch in one]))
    batch = next(iter(one))
    assert batch.tokens.shape == (4, 7) and torch.equal(batch.targets, batch.tokens + 1)


def test_every_window_of_a_text_can_be_drawn():
    begins = {
        row[0].item() for batch in data.DrawnTexts(torch.arange(10), 7, 4, 50) for row in batch.tokens
    }
    assert begins == {0, 1, 2}
    with pytest.raises(CourseError, match="no window of 10 tokens"):
        data.DrawnTexts(torch.arange(10), 10, 4, 50)
