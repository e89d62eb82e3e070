"""The probe in its own process: what an answer does to it costs that answer only."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
import time

import pytest
import torch

from cellgrader.probe_files import ENDING, REQUEST, RESULT
from seqcourse.check import ps1
from seqcourse.check.grade import verdict
from seqcourse.check.grade.probe import run
from seqcourse.check.hidden import HiddenCheck

CHECK = HiddenCheck(
    "training_pairs-grade",
    ps1.training_pairs,
    {"a short text": dict(size=9, length=2), "another one": dict(size=12, length=3)},
    seconds=1.0,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="probes are forked where fork exists")


def ask(folder, student) -> tuple[verdict.Verdict, str]:
    """The verdict on an answer, and how the probe ended."""
    judge = verdict.Judge(CHECK, seed=3)
    (folder / REQUEST).write_bytes(pickle.dumps(judge.request))
    run(folder, {"training_pairs": student})
    result, ending = folder / RESULT, folder / ENDING
    how = ending.read_text(encoding="utf-8") if ending.exists() else ""
    return judge.verdict(result.read_bytes() if result.exists() else None, how), how


def cuts(ids, length):
    """A right answer."""
    used = ids[: (len(ids) - 1) // length * length + 1]
    return used[:-1].reshape(-1, length), used[1:].reshape(-1, length)


def leaves(ids, length):
    os._exit(7)


def leaves_with_0(ids, length):
    os._exit(0)


def raises_exit(ids, length):
    raise SystemExit(0)


def interrupts(ids, length):
    raise KeyboardInterrupt


def hangs(ids, length):
    while True:
        pass


def sleeps_and_ignores(ids, length):
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def waits_for_others(ids, length):
    """As on a busy machine: a right answer takes longer than its seconds, and computes little."""
    time.sleep(0.8)
    return cuts(ids, length)


def kills_itself(ids, length):
    os.kill(os.getpid(), 9)


def crashes(ids, length):
    import ctypes
    import faulthandler

    faulthandler.disable()  # it would tell about this on the terminal of the tests
    ctypes.string_at(0)


def recurses(ids, length):
    return recurses(ids, length)


@pytest.mark.parametrize(
    ("student", "ending", "words"),
    [
        (leaves, "exit 7", "ended the process that called it"),
        (raises_exit, "exit 1", "ended the process that called it"),
        (interrupts, "exit 1", "ended the process that called it"),
        (hangs, "timeout", "took too long"),
        (sleeps_and_ignores, "timeout", "took too long"),
        (kills_itself, "signal 9", "was stopped by the system"),
        (crashes, "signal 11", "was stopped by the system"),
        (recurses, "", "RecursionError"),
        (None, "", "stopped with TypeError"),
    ],
)
def test_an_answer_that_ends_or_hangs_its_process_gets_nothing_and_a_sentence(
    tmp_path, student, ending, words
):
    found, how = ask(tmp_path, student)
    assert (found.share, how) == (0, ending) and words in found.sentence


def test_an_answer_has_its_seconds_in_processor_time(tmp_path):
    assert ask(tmp_path, waits_for_others) == (verdict.Verdict(1.0), ""), "1.6 seconds for 2 calls, of 1"


def test_leaving_with_exit_code_0_is_no_answer(tmp_path):
    assert ask(tmp_path, leaves_with_0)[0].share == 0


def test_results_of_an_earlier_answer_are_not_taken_for_those_of_this_one(tmp_path):
    assert ask(tmp_path, cuts)[0].share == 1
    assert ask(tmp_path, leaves)[0].share == 0
    assert ask(tmp_path, cuts)[0].share == 1, "the ending is forgotten too"


def test_an_answer_that_forks_leaves_nothing_running(tmp_path):
    import fcntl  # lies where fork does

    held, marks = tmp_path / "held", tmp_path / "marks"

    def forks(ids, length):
        if os.fork() == 0:
            with held.open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                marks.touch()
                time.sleep(600)
            os._exit(0)
        while not marks.exists():
            time.sleep(0.01)
        return cuts(ids, length)

    assert ask(tmp_path, forks)[0].share == 1
    with held.open() as lock:
        # a killed process takes a moment to let go; one left running would keep it for 10 minutes
        for _ in range(600):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
        else:
            pytest.fail("the answer's own process still runs")


def test_what_an_answer_prints_goes_nowhere(tmp_path, capfd):
    def loud(ids, length):
        print("to stdout", ids.tolist())
        print("to stderr", ids.tolist(), file=sys.stderr)
        os.write(1, b"deep down")
        os.write(2, b"deep down")
        return cuts(ids, length)

    assert ask(tmp_path, loud)[0].share == 1
    assert capfd.readouterr() == ("", "")


def test_what_an_answer_breaks_in_its_process_is_whole_in_the_kernel(tmp_path):
    def breaks(ids, length):
        torch.equal = torch.allclose = lambda *arguments, **options: True
        json.dumps = None
        return ids, ids

    before = torch.equal, json.dumps
    assert ask(tmp_path, breaks)[0].share == 0
    assert (torch.equal, json.dumps) == before


def test_nothing_that_is_left_to_do_is_left_out(tmp_path):
    def stub(ids, length):
        raise NotImplementedError("not solved yet")

    assert not ask(tmp_path, stub)[0].solved
    judge = verdict.Judge(CHECK, seed=3)
    (tmp_path / REQUEST).write_bytes(pickle.dumps(judge.request))
    run(tmp_path, {})
    assert "There is no training_pairs" in judge.verdict((tmp_path / RESULT).read_bytes()).sentence


def test_a_kernel_that_has_computed_on_many_threads_is_probed_all_the_same(tmp_path):
    """Threads do not come along through a fork; waiting for them would hang the probe."""
    source = f"""
        import json, torch
        from pathlib import Path
        from seqcourse.check.grade.probe import run

        torch.set_num_threads(4)
        x = torch.randn(20_000, 50, requires_grad=True)
        (x @ torch.randn(50, 500)).softmax(-1).sum().backward()

        def training_pairs(ids, length):
            big = torch.randn(20_000, 50, requires_grad=True)
            (big @ torch.randn(50, 500)).softmax(-1).sum().backward()
            used = ids[: (len(ids) - 1) // length * length + 1]
            return used[:-1].reshape(-1, length), used[1:].reshape(-1, length)

        run(Path({str(tmp_path)!r}), globals())
    """
    judge = verdict.Judge(CHECK, seed=3)
    request = dict(judge.request, seconds=60)
    (tmp_path / REQUEST).write_bytes(pickle.dumps(request))
    environment = {key: value for key, value in os.environ.items() if not key.endswith("NUM_THREADS")}
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], check=True, timeout=120, env=environment
    )
    assert judge.verdict((tmp_path / RESULT).read_bytes()).share == 1
