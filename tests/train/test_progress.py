"""The progress bar: on standard output where a person looks, nowhere else."""

import sys

import pytest

from seqcourse import train
from seqcourse.settings import STATIC_VARIABLE


@pytest.mark.parametrize(("terminal", "static", "shown"), [(1, "", 1), (0, "", 0), (1, "1", 0)])
def test_the_bar_is_shown_where_a_person_looks(terminal, static, shown, monkeypatch, capsys):
    monkeypatch.setenv(STATIC_VARIABLE, static)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: bool(terminal))
    assert list(train.progress(range(3), "reading")) == [0, 1, 2]
    printed = capsys.readouterr()
    assert ("reading" in printed.out) == shown
    assert printed.err == ""  # graders take anything there for a failure


def test_a_line_in_a_pipe_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["seqcourse.train.progress"], "PAUSE", 0.0)
    assert list(train.progress(range(4), "epoch 1")) == [0, 1, 2, 3]
    assert capsys.readouterr().out.splitlines()[2] == "epoch 1: 2 of 4, 0 s"


def test_stopping_early_is_no_error():
    for item in train.progress(iter([1, 2, 3]), total=3):
        assert item == 1
        break
