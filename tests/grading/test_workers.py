"""Workers on this machine: started, given jobs, replaced when they die, and gone at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from cellgrader import bounds
from cellgrader.processes import local
from cellgrader.processes.pool import Died

# By their full name, by which workers find them too.
from tests.grading import jobs

from .toy import ROOT


def below() -> set[psutil.Process]:
    """The processes below this one: the workers, and the server that forks them."""
    return set(psutil.Process().children(recursive=True))


@contextlib.contextmanager
def two():
    with local.start(jobs.Note("a note"), workers=2) as there:
        yield there


def test_every_job_has_its_result_and_its_turn():
    with two() as there:
        keys = [f"job {i}" for i in range(9)]
        loaded: list[str] = []

        def load(key: str) -> int:
            loaded.append(key)
            return int(key.split()[1])

        found = list(there.results(jobs.double, keys, load))
        assert sorted(found) == [(f"job {i}", i, 2 * i) for i in range(9)]
        # A job is made when its turn has come: not all submissions are in memory at once.
        assert loaded == keys
        notes = list(there.results(jobs.note_on, ["a", "b"], str))
        assert [note for _, _, note in notes] == ["a note", "a note"]


def test_at_most_as_many_jobs_are_out_as_there_are_workers(tmp_path):
    loaded, out, gate = [], [], tmp_path / "open"

    def load(key: str) -> str:
        loaded.append(key)
        return str(gate)

    def open_gate() -> None:
        out.append(len(loaded))  # no job ends before
        gate.touch()

    with two() as there:
        timer = threading.Timer(1, open_gate)
        timer.start()
        assert len(list(there.results(jobs.wait_for, [str(i) for i in range(8)], load))) == 8
        timer.join()
    assert out[0] <= 2 and len(loaded) == 8


def test_who_dies_is_tried_once_more_and_takes_nobody_along(tmp_path):
    once = str(tmp_path / "died once")
    work = {"always": "always", "once": once, "a": "", "b": "", "c": ""}
    with two() as there:
        found = {key: result for key, _, result in there.results(jobs.die, list(work), work.get)}
    assert found.pop("always") == Died("the process that examined it died, twice")
    assert found == {"once": "alive", "a": "alive", "b": "alive", "c": "alive"}


def test_who_needs_too_much_memory_takes_nobody_along(monkeypatch):
    monkeypatch.setattr(bounds, "WORKER", 400 << 20)
    work = {"large": bounds.WORKER, "a": 0, "b": 0}
    with two() as there:
        found = {key: result for key, _, result in there.results(jobs.fill, list(work), work.get)}
    assert found.pop("large") == Died("the process that examined it died, twice")
    assert found == {"a": "alive", "b": "alive"}


def test_an_error_of_one_job_is_its_result():
    with two() as there:
        ((_, _, found),) = there.results(jobs.raise_error, ["a"], str)
    assert found == Died("ValueError: what went wrong")


def test_a_job_that_cannot_be_made_or_sent_is_its_result():
    def load(key: str) -> object:
        if key in "abd":
            raise ValueError(f"nothing in {key}")
        return threading.Lock() if key == "3" else int(key)

    with two() as there:
        found = {key: result for key, _, result in there.results(jobs.double, list("ab1d23"), load)}
    assert found.pop("1") == 2 and found.pop("2") == 4
    assert found.pop("3").why.startswith("TypeError: cannot pickle")
    assert found == {key: Died(f"ValueError: nothing in {key}") for key in "abd"}


def test_what_goes_wrong_as_a_job_begins_ends_the_run():
    def begun(key: str) -> None:
        raise BrokenPipeError("nobody reads what is shown")

    with (
        pytest.raises(BrokenPipeError),
        local.start(jobs.Note(""), workers=1, begun=begun) as there,
    ):
        list(there.results(jobs.double, ["1"], int))


def test_workers_have_one_thread_and_a_safe_path(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with two() as there:
        ((_, _, found),) = there.results(jobs.environment, ["a"], lambda _: ["OMP_NUM_THREADS"])
    assert found == ["1"]
    assert "OMP_NUM_THREADS" not in os.environ


def test_nothing_is_left_when_the_block_ends():
    before = below()
    with two():
        there = below() - before
        assert len(there) >= 2
        # Other users of this machine find no port at which they could come in.
        assert not [port for process in there for port in process.net_connections("inet")]
    # The server that forks workers stays for the next time.
    assert len(below() - before) <= 2


def test_an_interruption_does_not_wait_for_what_is_running():
    before, started = below(), time.monotonic()
    with pytest.raises(KeyboardInterrupt), two() as there:
        for _ in there.results(jobs.sleep, ["quick", "slow"], {"quick": 0, "slow": 600}.get):
            raise KeyboardInterrupt
    assert time.monotonic() - started < 300
    assert len(below() - before) <= 2


#: A run on this machine, with a job that takes long.
COMMAND = """
import sys
import seqcourse  # makes the course known to the grader
from cellgrader.processes import local
from tests.grading import jobs

def main():
    names = ["dask", "distributed"]
    with local.start(jobs.Note(""), workers=1) as there:
        ((_, _, found),) = there.results(jobs.loaded, ["a"], lambda key: names)
        print([*found, *(name for name in names if name in sys.modules)], flush=True)
        list(there.results(jobs.sleep, ["b", "c"], lambda key: 600))

if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.fixture
def waiting():
    """A run in a process group of its own, in the midst of a long job; and what it has printed."""
    # A short name: that of a socket in it may have a hundred letters or so.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (Path(folder) / "run.py").write_text(COMMAND)
        process = subprocess.Popen(
            [sys.executable, str(Path(folder) / "run.py")],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()
            process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another matter there")
def test_a_run_does_without_dask_and_ctrl_c_leaves_no_traceback(waiting):
    """It reaches the whole foreground group, as in a terminal."""
    process, said = waiting
    assert said == "[]\n"
    started = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=120) == ("interrupted\n", "")
    _, alive = psutil.wait_procs(started, timeout=120)
    assert not alive


@pytest.mark.skipif(os.name != "posix", reason="a signal that nobody can catch")
def test_workers_end_when_the_command_is_killed(waiting):
    process, _ = waiting
    started = psutil.Process(process.pid).children(recursive=True)
    assert started
    process.kill()
    _, alive = psutil.wait_procs(started, timeout=120)
    assert not alive
    assert process.communicate() == ("", "")


def test_only_one_module_of_the_grader_imports_dask():
    """So that everything else works where it is not installed."""
    grader = Path(local.__file__).parents[1]
    named = [
        path.name
        for path in grader.rglob("*.py")
        if "import dask" in (text := path.read_text()) or "from distributed" in text
    ]
    assert named == ["cluster.py"]
