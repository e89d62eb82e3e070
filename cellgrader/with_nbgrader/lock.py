"""One run at a time for a class: the lock of its folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError

# Class folders locked by this process. Releasing and then grading is one run with one lock.
_locked: set[Path] = set()
# What the lock file holds while somebody has the lock for seconds only, and how many tenths of a second
# others wait for that.
BRIEF, PATIENCE = "brief", 600


class Busy(CourseError):
    """Another run holds the class's lock."""


@contextmanager
def alone(course: Course, *, brief: bool = False) -> Iterator[None]:
    """Lock the class: two runs would overwrite each other's files.

    The operating system releases the lock when the process ends. Entering the block first removes
    incomplete files of a killed run. The lock is reentrant within a process.

    Args:
        brief: for seconds only, as a watcher does for each grade; others wait for it.
    Raises:
        Busy: another process holds the lock.
    """
    from cellgrader.with_nbgrader.save import clean_up

    folder = course.folder.resolve()
    if folder in _locked:
        yield
        return
    course.make_folder()
    with (folder / ".lock").open("a+") as file:
        _lock(file, course)
        file.truncate(0)
        file.write(BRIEF if brief else "")
        file.flush()
        _locked.add(folder)
        try:
            clean_up(course)
            yield
        finally:
            _locked.discard(folder)


def _lock(file: IO[str], course: Course) -> None:
    try:
        import fcntl
    except ImportError:  # not available on Windows
        return
    for _ in range(PATIENCE):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.1)  # the other one may have begun to write what it is
            file.seek(0)
            if file.read() != BRIEF:
                break
    raise Busy(
        f"One run at a time should grade the class in {course.grading}, but another one is "
        f"still running. Wait until it ends, then grade again."
    )
