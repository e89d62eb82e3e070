"""Jobs that the tests send to workers; workers import them by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


class Note:
    """A worker's state that holds nothing but a note."""

    def __init__(self, note: str) -> None:
        self.note = note

    def set_up(self, folder: str) -> None:
        self.folder = folder

    def tear_down(self) -> None:
        pass

    def refusal(self) -> str:
        return "It has no time." if self.note == "refuses" else ""


def note_on(state: Note, key: str, job: object) -> str:
    return state.note


def double(state: Note, key: str, job: int) -> int:
    time.sleep(0.05)
    return 2 * job


def wait_for(state: Note, key: str, job: str) -> None:
    """Wait until there is a file of this name."""
    while not Path(job).exists():
        time.sleep(0.01)


def environment(state: Note, key: str, job: list[str]) -> list[str | None]:
    return [os.environ.get(name) for name in job]


def loaded(state: Note, key: str, job: list[str]) -> list[str]:
    """Which of these modules the worker has imported."""
    return [name for name in job if name in sys.modules]


def die(state: Note, key: str, job: str) -> str:
    """Kill this worker: always for "always", the first time for a path, never for anything else."""
    if job == "always":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.startswith("/") and not Path(job).exists():
        Path(job).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def fill(state: Note, key: str, job: int) -> str:
    """Take so many bytes of memory, and keep them until somebody objects."""
    taken = bytearray(job)
    for place in range(0, job, 4096):
        taken[place] = 1
    if job:
        time.sleep(600)
    return "alive"


def raise_error(state: Note, key: str, job: object) -> None:
    raise ValueError("what went wrong")


def sleep(state: Note, key: str, job: int) -> None:
    time.sleep(job)
