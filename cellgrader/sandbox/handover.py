"""Read and write files in a folder that student code can write to."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from cellgrader.errors import CourseError
from cellgrader.sandbox import unprivileged


def plain(name: str) -> str:
    """Return ``name`` if it is a plain file name, otherwise raise CourseError."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise CourseError(f"A file to exchange should have a plain name, but it is {name!r}.")
    return name


def put(folder: int, name: str, data: bytes) -> None:
    """Write a file, replacing one of the same name.

    Args:
        folder: a file descriptor of the folder.

    Raises:
        CourseError: the folder is full, or an existing entry cannot be removed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    owner = os.fstat(folder)
    try:
        with suppress(FileNotFoundError):
            os.unlink(plain(name), dir_fd=folder)
        with unprivileged.files_belong_to(owner.st_uid, owner.st_gid):
            descriptor = os.open(name, flags, 0o644, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise CourseError(
            f"{name} should be written to the notebook's exchange folder, but its code prevents that: "
            f"{error.strerror}."
        ) from error


def take(folder: int, name: str, most: int) -> bytes | None:
    """The bytes of a regular file, or None if there is none.

    Does not follow links and does not block on pipes or devices.

    Args:
        folder: a file descriptor of the folder.
        most: the largest size in bytes; a larger file counts as missing.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        descriptor = os.open(plain(name), flags, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)  # the file may grow while we read it
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if len(data) <= most else None
