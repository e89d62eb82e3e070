"""Pages are made several at a time, each in a process, and one that fails stops no other."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import pytest

from cellgrader.errors import CourseError
from cellgrader.processes.forked import Beside, Steps, done_now
from cellgrader.processes.limited import begin


def meet(own: Path, other: Path) -> str:
    """Wait until another process is there, too."""
    own.touch()
    while not other.exists():
        time.sleep(0.01)
    return own.name


def steps(found: list, *given, work=meet) -> Steps:
    for _ in range(2):
        going = begin("To try it", work, *given)
        yield going
        found.append(going.result())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_two_go_on_at_a_time_and_a_third_waits(tmp_path):
    found: list[str] = []
    one, two = tmp_path / "one", tmp_path / "two"
    beside = Beside(at_once=2)
    beside.add("one", steps(found, one, two))
    beside.add("two", steps(found, two, one))
    beside.add("three", steps(found, 2, 5, work=pow))
    assert beside.ended(0.0) is None and 32 not in found
    ends = [beside.ended(math.inf) for _ in range(3)]
    assert sorted(ends) == [("one", None), ("three", None), ("two", None)] and not beside
    assert sorted(map(str, found)) == ["32", "32", "one", "one", "two", "two"]
    assert beside.ended(math.inf) is None


def test_what_fails_is_told_and_stops_no_other(monkeypatch):
    def refuse() -> Steps:
        yield begin("To try it", pow, 2, 3)
        raise CourseError("It should be a notebook.")

    for forks in (True, False):
        if not forks:
            monkeypatch.delattr(os, "fork", raising=False)
        found: list[int] = []
        beside = Beside(at_once=1)
        beside.add("bad", refuse())
        beside.add("good", steps(found, 2, 3, work=pow))
        key, error = beside.ended(math.inf)
        assert key == "bad" and str(error) == "It should be a notebook."
        assert beside.ended(math.inf) == ("good", None) and found == [8, 8]
    done_now(steps(found, 2, 4, work=pow))
    assert found[-2:] == [16, 16]
