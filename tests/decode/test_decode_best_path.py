"""Paths of CTC: what they write."""

import pytest
import torch

from seqcourse import decode
from seqcourse.decode import BLANK


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("_aa_ab_", "aab"),
        ("aaa", "a"),
        ("a_a", "aa"),
        ("___", ""),
        ("", ""),
        ("abba", "aba"),
    ],
)
def test_runs_become_one_and_blanks_go(path, text):
    assert "".join(decode.collapse(path, blank="_")) == text


def test_each_row_is_read_to_its_own_end():
    path = torch.tensor([[5, 5, BLANK, 5, 6], [7, BLANK, BLANK, 8, 8]])
    logits = 9.0 * torch.nn.functional.one_hot(path, 10).float()
    assert decode.best_path(logits, torch.tensor([5, 3])) == [[5, 5, 6], [7]]
