"""Submissions that have arrived: folders in grading/submitted/STUDENT/psN that came to rest.

A file that is being copied is not a submission yet. So a folder counts once nothing in it has changed
for QUIET seconds. Times of files are compared for equality only: the clock may say what it likes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterable
from contextlib import suppress
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.course.snapshot import entries_below

# Seconds without a change until a folder counts as handed in.
QUIET = 2.0


class Resting:
    """Tells which of many folders have come to rest, and which of these are new."""

    def __init__(self, quiet: float = QUIET) -> None:
        self.quiet = quiet
        self._seen: dict[str, tuple[Hashable, float]] = {}
        self._taken: dict[str, Hashable] = {}

    def look(self, folders: Iterable[tuple[str, Path]]) -> tuple[list[str], list[str]]:
        """Look at folders by name.

        Returns:
            The names of those that rest and were not taken as they are, and of those that still change.
        """
        now = time.monotonic()
        rest, move = [], []
        for name, folder in folders:
            state = _state(folder)
            before, since = self._seen.get(name, (None, now))
            if state != before:
                since = now
            self._seen[name] = (state, since)
            if self._taken.get(name) == state:
                continue
            (rest if now - since >= self.quiet else move).append(name)
        return rest, move

    def state(self, name: str) -> Hashable:
        """What a folder looked like last: another value means that something in it changed."""
        return self._seen.get(name, (None,))[0]

    def since(self, name: str) -> float:
        """When a folder was last seen to change (``time.monotonic``)."""
        return self._seen[name][1]

    def take(self, name: str) -> None:
        """Count a folder as known until it changes again."""
        self._taken[name] = self._seen[name][0]

    def forget(self, name: str) -> None:
        """Let a folder be new once more, without a change."""
        self._taken.pop(name, None)


def inbox(course: Course, name: str) -> list[tuple[str, Path]]:
    """The students with a folder for an assignment, each with the folder."""
    return [(student, course.submitted / student / name) for student in course.students(name)]


def _state(folder: Path) -> Hashable:
    """All that changes when a file in a folder does, without reading a file."""
    found = []
    for path in (folder, *entries_below(folder)):
        with suppress(OSError):
            status = path.lstat()
            found.append((os.fspath(path), status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)
