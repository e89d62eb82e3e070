"""`seqcourse watch` in a process of its own, on a small class that hands in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import psutil

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks

# Seconds: far above what anything takes here, so that only something that hangs meets them.
PATIENCE = 300
RIGHT = {
    "double": "def double(x):\n    return x * 2",
    "half": "def half(x):\n    return x * 0.5",
    "quadruple": "def quadruple(x):\n    return double(double(x))",
    "poll": "poll = 'yes'",
}


def work(course: Course, *solved: str, words: str = "") -> dict:
    """The released notebook with these exercises solved."""
    book = notebooks.read(course.released("ps1"))
    for cell in book["cells"]:
        name = notebooks.mark(cell).get("grade_id")
        if name in solved:
            cell["source"] = f"{RIGHT[name]}\n# {words}"
    return book


def hand_in(course: Course, student: str, *solved: str, words: str = "") -> None:
    """Put work into the inbox, as a program does that writes a file piece by piece."""
    path = course.submitted / student / "ps1" / "ps1.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(work(course, *solved, words=words))
    with path.open("w") as file:
        for part in (text[:1000], text[1000:]):
            file.write(part)
            file.flush()


def submit(course: Course, inbound: Path, student: str, second: int, *solved: str) -> None:
    """Hand in through the exchange, as nbgrader does."""
    when = f"2026-11-25 10:00:{second:02} UTC"
    folder = inbound / f"{student}+ps1+{when}+random{second}"
    folder.mkdir()
    (folder / "ps1.ipynb").write_text(json.dumps(work(course, *solved)))
    write_time(folder, when)
    (folder / "submission_secret.txt").write_text(secret(student, second))


def write_time(folder: Path, when: str) -> None:
    """What `nbgrader submit` would have written beside the work at another time."""
    path = folder / "timestamp.txt"
    path.write_text(when)
    moment = datetime.fromisoformat(when.replace(" UTC", "+00:00")).timestamp()
    os.utime(path, (moment, moment))


def secret(student: str, second: int) -> str:
    """What nbgrader draws for a submission, here made from the student and the time."""
    return f"{student}{second}".encode().hex().ljust(128, "0")


class Watch:
    """The command, and what it says line by line."""

    def __init__(self, course: Course, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "seqcourse.cli", "watch", "ps1", "--workers", "2", *options]
        self.output = course.root / f"watch-{time.monotonic_ns()}.txt"
        with self.output.open("w") as file:
            self.process = subprocess.Popen(
                command,
                cwd=course.root,
                env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self.output.read_text()

    def until(self, done: Callable[[], object], words: str) -> None:
        """Wait for something that the watcher does."""
        started = time.monotonic()
        while not done():
            assert self.process.poll() is None, f"{words}, but it ended:\n{self.said}"
            assert time.monotonic() - started < PATIENCE, f"{words}, but:\n{self.said}"
            time.sleep(0.1)

    def says(self, words: str) -> None:
        self.until(lambda: words in self.said, f"it should say {words!r}")

    def end(self) -> str:
        """Let it end by itself; returns what it said."""
        self.process.wait(PATIENCE)
        assert self.process.returncode == 0, self.said
        return self.said

    def stop(self) -> str:
        """Stop it as a service is stopped."""
        self.process.terminate()
        return self.end()

    def kill(self) -> None:
        """Kill it, and nothing below it: that must see for itself that its master is gone."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait(PATIENCE)
        _, alive = psutil.wait_procs(below, timeout=PATIENCE)
        assert not alive, f"still there after the watcher was killed: {alive}"
