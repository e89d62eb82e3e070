"""Every limit stops the code that goes beyond it, and says so."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cellgrader.sandbox import ConfinedKernelManager, Limits, Warm, cgroup
from cellgrader.sandbox.limits import MIB

from .confining import in_sandbox, need_sandbox, processes_below, run, told

FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
MANY_PROCESSES = """
import os, time
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(600)
    except OSError:  # the limit: an error would end the cell, perhaps before the kernel is ended
        break
time.sleep(600)
"""
MANY_THREADS = """
import threading, time
for _ in range(200):
    try:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    except RuntimeError:
        break
time.sleep(600)
"""
TOUCH = "for i in range(0, len(x), 4096): x[i] = 1\n"
MANY_HOGS = f"""
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = bytearray({150 * MIB})
        for i in range(0, len(x), 4096): x[i] = 1
        time.sleep(600)
time.sleep(600)
"""
SHARED_HOG = f"import mmap, time\nx = mmap.mmap(-1, {900 * MIB})\n{TOUCH}time.sleep(600)"
ENDLESS = "while True: pass"
IGNORES_SIGNALS = """
import os, signal
for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
os.fork()
while True: pass
"""
# Processes that live so short that no look at the sandbox finds them.
SHORT_LIVES = """
import os
while True:
    if os.fork() == 0:
        for _ in range(10**6): pass
        os._exit(0)
    os.wait()
"""
WHILE_IT_PRINTS = "while True: print('x' * 100_000, flush=True)"
BELOW_PYTHON = "import os\nwhile True: os.write(1, b'x' * 100_000)"


MANY_FILES = "import os\nfor k in range(10**6): os.mkdir(f'/dev/shm/{k}')"
# Each process stays below its own limit of open files.
MANY_SOCKETS = """
import os, socket, time
for _ in range(4):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(150)]
        time.sleep(600)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def warm():
    need_sandbox()
    with Warm(preload=()) as process:
        yield process


@pytest.mark.parametrize(
    ("code", "limits", "words"),
    [
        pytest.param(FORK_BOMB, {"processes": 40}, "started more than 40 processes", id="fork bomb"),
        pytest.param(
            MANY_PROCESSES,
            {"processes": 40},
            "started more than 40 processes",
            id="processes",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            MANY_THREADS,
            {"processes": 40},
            "started more than 40 processes",
            id="threads",
            marks=pytest.mark.nightly,
        ),
        pytest.param(MANY_HOGS, {"memory": 600 * MIB}, "used more than 600 MiB of memory", id="memory"),
        pytest.param(
            SHARED_HOG,
            {"memory": 600 * MIB},
            "used more than 600 MiB of memory",
            id="shared",
            marks=pytest.mark.nightly,
        ),
        pytest.param(ENDLESS, {"cpu": 2}, "used more than 2 seconds of processor time", id="endless"),
        pytest.param(
            IGNORES_SIGNALS,
            {"cpu": 2},
            "used more than 2 seconds of processor time",
            id="deaf",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            SHORT_LIVES,
            {"cpu": 2},
            "used more than 2 seconds of processor time",
            id="short lives",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "import time\ntime.sleep(600)", {"wall": 6}, "ran for more than 6 seconds", id="sleep"
        ),
        pytest.param(WHILE_IT_PRINTS, {"output": 5 * MIB, "message": 100 * MIB}, "output", id="output"),
        pytest.param(
            BELOW_PYTHON,
            {"output": 5 * MIB, "message": 100 * MIB},
            "output",
            id="raw output",
            marks=pytest.mark.nightly,
        ),
        pytest.param(MANY_FILES, {"files": 2_000}, "made more than 2,000 files", id="empty files"),
        pytest.param(MANY_SOCKETS, {}, "opened more than 512 sockets", id="sockets"),
        pytest.param(
            "print('x' * 4_000_000)", {"message": MIB}, "message of more than 1 MiB", id="message"
        ),
    ],
)
def test_it_ends_and_says_why(warm, code, limits, words):
    said, why_dead = in_sandbox(warm, code, "print('went on')", limits=replace(Limits(), **limits))
    assert words in why_dead
    assert "went on" not in said


@pytest.mark.nightly
def test_a_kernel_that_is_ended_between_two_parts_of_a_message_harms_nobody(warm):
    """While libzmq was told never to connect again, two of fifty such kernels ended the grader."""
    limits = Limits(output=5 * MIB, message=100 * MIB)
    for _ in range(100):
        _, why_dead = in_sandbox(warm, WHILE_IT_PRINTS, limits=limits)
        assert "output" in why_dead


@pytest.mark.parametrize(
    ("code", "error"),
    [
        pytest.param(f"x = bytearray({2000 * MIB})\n{TOUCH}", "MemoryError", id="memory of one"),
        pytest.param("open('x', 'wb').write(bytes(3 << 20))", "File too large", id="file"),
        pytest.param(
            "for i in range(100): open(f'{i}', 'wb').write(bytes(1 << 20))",
            "No space left",
            id="scratch",
        ),
        pytest.param(
            "for i in range(100): open(f'/exchange/{i}', 'wb').write(bytes(1 << 20))",
            "No space left",
            id="exchange",
        ),
        pytest.param(
            "for i in range(100): open(f'/dev/shm/{i}', 'wb').write(bytes(1 << 20))",
            "No space left",
            id="shared memory",
        ),
        pytest.param("f = [open('/dev/null') for _ in range(9999)]", "Too many open files", id="files"),
    ],
)
def test_what_one_process_asks_for_in_vain_is_an_error_and_the_rest_goes_on(warm, code, error):
    limits = Limits(memory=1000 * MIB, file_size=2 * MIB, scratch=20 * MIB, exchange=20 * MIB)
    said, why_dead = in_sandbox(warm, code, "f = None\nprint('went on')", limits=limits)
    assert error in said and "went on" in said
    assert why_dead == ""


def test_a_cell_that_takes_too_long_is_interrupted_and_the_rest_goes_on(warm):
    said, why_dead = in_sandbox(warm, "import time\ntime.sleep(600)", "print('went on')", seconds=5)
    assert "KeyboardInterrupt" in said and "went on" in said
    assert why_dead == ""


@pytest.mark.nightly
def test_a_cell_that_ignores_the_interruption_is_killed(warm):
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)"
    limits = Limits(grace=1)
    said, why_dead = in_sandbox(warm, code, "print('went on')", seconds=2, limits=limits)
    assert why_dead == "kept running after it was interrupted"
    assert "went on" not in said


def test_an_honest_notebook_stays_below(warm):
    code = """
import torch
x = torch.randn(64, 64, requires_grad=True)
for _ in range(20): (x @ x).sum().backward()
loader = torch.utils.data.DataLoader(torch.arange(6), batch_size=2, num_workers=2)
print([batch.tolist() for batch in loader])
"""
    said, why_dead = in_sandbox(warm, code)
    assert said == "[[0, 1], [2, 3], [4, 5]]\n" and why_dead == ""


def test_control_groups_go_with_the_sandbox(warm):
    """Where they can be made, the kernel's processes are in them; afterwards they are gone."""
    if not cgroup.controllers():
        pytest.skip("This user cannot make control groups here.")

    async def during() -> tuple[list[Path], str]:
        km = ConfinedKernelManager(warm=warm)
        try:
            await km.start_kernel()
            folders = list(km._group.folders)
            kernel = max(processes_below(warm.pid))
            for folder in folders:
                assert str(kernel) in (folder / "cgroup.procs").read_text().split()
            return folders, told(await run(km, "print(1)"))
        finally:
            await km.shutdown_kernel()

    folders, said = asyncio.run(during())
    assert folders and said == "1\n"
    assert not any(folder.exists() for folder in folders)


@pytest.mark.nightly
def test_the_watch_is_enough_without_control_groups(warm, monkeypatch):
    monkeypatch.setattr(cgroup, "_parents", dict)
    limits = replace(Limits(), memory=600 * MIB)
    assert in_sandbox(warm, MANY_HOGS, limits=limits)[1] == "used more than 600 MiB of memory"
    limits = replace(Limits(), processes=40)
    assert in_sandbox(warm, FORK_BOMB, limits=limits)[1] == "started more than 40 processes"


def test_groups_of_a_killed_grader_are_swept(tmp_path):
    gone, ours, other = (tmp_path / name for name in ("cellgrader-999999999-0", "", "another"))
    ours = tmp_path / f"cellgrader-{os.getpid()}-0"
    for folder in (gone, ours, other):
        folder.mkdir()
    cgroup._sweep(tmp_path)
    assert not gone.exists() and ours.exists() and other.exists()
