"""Workers: started, given jobs, replaced when they die, and gone at the end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from functools import partial

import psutil
import pytest

from cellgrader.errors import CourseError
from cellgrader.processes import cluster
from cellgrader.processes.cluster import Died

# By their full name, by which workers find them too.
from tests.grading import jobs

from .elsewhere import dask_processes


def workers() -> set[int]:
    """The worker processes below this one: Dask's, and what they started."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


@contextlib.contextmanager
def two():
    with cluster.start(jobs.WorkerState("a note"), "test", workers=2) as there:
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
        notes = list(there.results(partial(jobs.note_on, "test"), ["a", "b"], str))
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
    assert out[0] <= 4 and len(loaded) == 8


def test_who_dies_is_tried_once_more_and_takes_nobody_along(tmp_path):
    once = str(tmp_path / "died once")
    work = {"always": "always", "once": once, "a": "", "b": "", "c": ""}
    with two() as there:
        found = {key: result for key, _, result in there.results(jobs.die, list(work), work.get)}
    assert found.pop("always") == Died("the process that examined it died, twice")
    assert found == {"once": "alive", "a": "alive", "b": "alive", "c": "alive"}


def test_an_error_of_one_job_is_its_result():
    with two() as there:
        ((_, _, found),) = there.results(jobs.raise_error, ["a"], str)
    assert found == Died("ValueError: what went wrong")


def test_a_job_that_cannot_be_made_is_its_result():
    def load(key: str) -> int:
        if key in "abd":
            raise ValueError(f"nothing in {key}")
        return int(key)

    with two() as there:
        found = {key: result for key, _, result in there.results(jobs.double, list("ab1d2"), load)}
    assert found.pop("1") == 2 and found.pop("2") == 4
    assert found == {key: Died(f"ValueError: nothing in {key}") for key in "abd"}


def test_workers_have_one_thread_and_a_safe_path(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with two() as there:
        ((_, _, found),) = there.results(jobs.environment, ["a"], lambda _: ["OMP_NUM_THREADS"])
    assert found == ["1"]
    assert "OMP_NUM_THREADS" not in os.environ


def test_nothing_is_left_when_the_block_ends():
    before = workers()
    with two():
        assert len(workers() - before) >= 2
    left = workers() - before
    # The server that forks workers stays for the next time.
    assert len(left) <= 2


def test_an_interruption_does_not_wait_for_what_is_running():
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), two() as there:
        for _ in there.results(jobs.sleep, ["quick", "slow"], {"quick": 0, "slow": 600}.get):
            raise KeyboardInterrupt
    assert time.monotonic() - started < 300


#: Another process: a client that was refused can block those after it in its own.
STRANGER = """
import sys
from distributed import Client
try:
    Client(sys.argv[1], timeout=2)
except (OSError, TypeError, ValueError, RuntimeError):
    sys.exit("refused")
"""


def test_strangers_on_this_machine_cannot_talk_to_the_workers():
    """The port is open to everybody here; without the run's own certificate nobody is let in."""
    with two() as there:
        address = there.client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        for at in (address, address.replace("tls:", "tcp:")):
            stranger = [sys.executable, "-c", STRANGER, at]
            done = subprocess.run(stranger, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 1 and "refused" in done.stderr.splitlines()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("dask")) as address:
        yield address


def test_a_cluster_that_is_there_already(scheduler):
    for note in ("first run", "second run"):  # the second state takes the place of the first
        with cluster.start(jobs.WorkerState(note), "test", scheduler=scheduler) as there:
            assert there.slots == 2
            work = partial(jobs.note_on, "test")
            found = list(there.results(work, ["a", "b", "c"], str))
            assert [note for _, _, note in found] == [note] * 3


def test_a_worker_elsewhere_that_cannot_grade_is_a_sentence(scheduler):
    with (
        pytest.raises(CourseError, match=r"The worker at tcp://.* cannot grade. It has no time."),
        cluster.start(jobs.WorkerState("refuses"), "test", scheduler=scheduler),
    ):
        pass


@pytest.mark.timeout(180)  # once it hung: the stack of every thread is printed then
def test_a_cluster_that_is_not_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with (
            pytest.raises(CourseError, match=r"--scheduler should name a running scheduler"),
            cluster.start(jobs.WorkerState(""), "test", scheduler=address),
        ):
            pass
