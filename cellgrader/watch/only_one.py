"""One watcher at a time: the lock of an assignment, and what a killed watcher left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.course.watched import folder_of
from cellgrader.errors import CourseError


@contextmanager
def only_watcher(course: Course, name: str) -> Iterator[None]:
    """Lock an assignment for one watcher. The system releases the lock when the process ends.

    Raises:
        CourseError: another process watches it.
    """
    course.make_folder()
    folder = folder_of(course, name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not available on Windows
            pass
        except BlockingIOError:
            file.seek(0)
            raise CourseError(
                f"One process at a time should watch {name} in {course.grading}/, but process "
                f"{file.read().strip() or 'of another one'} already does. Leave it running, or stop it "
                f"first: nothing is lost, the next one goes on where it was."
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def clean_up(course: Course, name: str) -> None:
    """Remove half-written files of a watcher that was killed."""
    left: list[Path] = [*folder_of(course, name).glob("*/.*.json.*")]
    left += (course.folder / "attempts" / name).glob(".*.json.*")
    for path in left:
        path.unlink(missing_ok=True)
