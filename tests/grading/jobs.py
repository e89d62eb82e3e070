"""Jobs that the tests send to workers; workers import them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from distributed import WorkerPlugin


class WorkerState(WorkerPlugin):
    """A worker's state that holds nothing but a note."""

    def __init__(self, note: str) -> None:
        self.note = note

    def refusal(self) -> str:
        return "It has no time." if self.note == "refuses" else ""


def note_on(run: str, key: str, job: object) -> object:
    from distributed import get_worker

    return get_worker().plugins[run].note


def double(key: str, job: int) -> int:
    time.sleep(0.05)
    return 2 * job


def wait_for(key: str, job: str) -> None:
    """Wait until there is a file of this name."""
    while not Path(job).exists():
        time.sleep(0.01)


def environment(key: str, job: list[str]) -> list[str | None]:
    return [os.environ.get(name) for name in job]


def die(key: str, job: str) -> str:
    """Kill this worker: always for "always", the first time for a path, never for anything else."""
    if job == "always":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.startswith("/") and not Path(job).exists():
        Path(job).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def raise_error(key: str, job: object) -> None:
    raise ValueError("what went wrong")


def sleep(key: str, job: int) -> None:
    time.sleep(job)
