"""`seqcourse bench`: it says how long it takes, goes on, and fails only where a bar is really missed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks._bars import missed
from seqcourse import CourseError
from seqcourse.cli import bench
from tests.house.test_house import ROOT


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A folder with measurements: one that is fine, one that misses its bar, one that breaks."""
    (tmp_path / "benchmarks").mkdir()
    for name, ends in {"fine": 0, "short": 1, "broken": 3}.items():
        lines = ['"""Measure.\n\nAbout 2 minutes on two idle cores.\n"""', "import sys"]
        lines += [f"print('{name}: a row', flush=True)", f"sys.exit({ends})"]
        (tmp_path / "benchmarks" / f"{name}.py").write_text("\n".join(lines))
    monkeypatch.setattr(bench, "find_root", lambda: tmp_path)
    return tmp_path


def test_it_says_its_length_first_and_goes_on_after_a_missed_bar(course, capfd):
    with pytest.raises(CourseError, match="a bar that short states"):
        bench.run_benchmarks(["short", "fine"])
    told = capfd.readouterr().out.splitlines()
    assert told[0] == "2 measurements, about 4 minutes on two idle cores."
    assert told[1:] == [
        "short: about 2 minutes on two idle cores",
        "short: a row",
        "fine: about 2 minutes on two idle cores",
        "fine: a row",
    ]
    bench.run_benchmarks(["fine"])
    with pytest.raises(CourseError, match="broken stopped with exit code 3"):
        bench.run_benchmarks(["broken", "fine"])


def test_every_measurement_says_how_long_it_takes(tmp_path):
    there = list((ROOT / "benchmarks").glob("[a-z]*.py"))
    assert len(there) > 10
    for program in there:
        assert 0 < bench.minutes(program) < 60, program.name
    (tmp_path / "silent.py").write_text('"""Measure."""')
    with pytest.raises(CourseError, match="silent.py should say"):
        bench.minutes(tmp_path / "silent.py")


@pytest.mark.parametrize(
    ("values", "is_missed"),
    [
        ([1.0, 1.1, 1.2], False),
        ([1.04, 1.06, 1.2, 1.03, 1.07], False),  # the median is above, but so is half of the turns
        ([1.06, 1.07, 1.2, 1.04, 1.08], True),
        ([1.06], True),
        ([1.05], False),
    ],
)
def test_a_bar_is_missed_by_more_than_the_spread(values, is_missed):
    assert missed(values, 1.05) is is_missed


@pytest.mark.nightly
def test_the_profiler_says_nothing():
    program = (
        "import _side_by_side as s, torch; x = torch.ones(9, 9); print(s.peak_mib(lambda: x @ x) > 0)"
    )
    kept = {name: value for name, value in os.environ.items() if name != "KINETO_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "benchmarks",
        env=kept | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.stdout == "True\n"
