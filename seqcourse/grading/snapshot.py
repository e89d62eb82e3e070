"""Folders by value: what a worker needs travels to it, wherever it runs.

A snapshot holds a folder's regular files and its links (as links, nobody follows them). Pipes, devices
and what cannot be read or is far too large stay behind, and the snapshot says so.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from seqcourse.grading.course import ASSIGNMENT_NAME, CONFIG_FILE, Course
from seqcourse.grading.parse import shown

# Bytes of one file, bytes of all, files that travel, and folders in folders around them; no honest
# submission comes near. Few enough folders for paths that every system takes.
LARGEST = 256 << 20
MOST = 512 << 20
COUNT = 10_000
DEEPEST = 12
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


@dataclass(frozen=True)
class Snapshot:
    """The content of a folder: path -> bytes, and path -> target for links."""

    files: dict[str, bytes]
    links: dict[str, str]
    left_out: tuple[str, ...] = ()

    def digest(self) -> bytes:
        """Equal for equal content, whatever the folder's place."""
        parts: list[bytes] = []
        for path in sorted(self.files):
            parts += [b"file", os.fsencode(path), self.files[path]]
        for path in sorted(self.links):
            parts += [b"link", os.fsencode(path), os.fsencode(self.links[path])]
        parts += [os.fsencode(line) for line in self.left_out]
        return digest(parts)

    def unpack(self, folder: Path) -> None:
        """Write everything below ``folder``, which is made if it is not there."""
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        # Links last: nothing is written through one.
        for path, goal in self.links.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(goal)

    def sentence(self) -> str:
        """What stayed behind, in words; "" where nothing did."""
        if not self.left_out:
            return ""
        more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
        return f"Not looked at: {', '.join(self.left_out[:3])}{more}."


def folder_snapshot(folder: Path) -> Snapshot:
    """Read a submission's folder. One that is a link leads to somebody else's work, or anywhere."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return Snapshot({}, {}, (f"{folder.name} (a link to another place)",))
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    left_out: list[str] = []
    size = 0
    for path in _below(folder):
        name = path.relative_to(folder).as_posix()
        if len(files) + len(links) >= COUNT:
            left_out.append(f"whatever comes after {COUNT} files")
            break
        try:
            told = path.lstat()
            if stat.S_ISLNK(told.st_mode):
                links[name] = os.readlink(path)
            elif stat.S_ISDIR(told.st_mode):
                left_out.append(f"{shown(name)} (in more than {DEEPEST} folders)")
            elif not stat.S_ISREG(told.st_mode):
                left_out.append(f"{shown(name)} (no file)")
            elif told.st_size > LARGEST or size + told.st_size > MOST:
                left_out.append(f"{shown(name)} ({told.st_size >> 20} MiB)")
            else:
                files[name] = path.read_bytes()
                size += told.st_size
        except OSError as error:
            left_out.append(f"{shown(name)} ({error.strerror})")
    return Snapshot(files, links, tuple(left_out))


def course_snapshot(course: Course, name: str) -> Snapshot:
    """What a worker needs to know about an assignment, with paths from the course's root.

    That is the instructor's folder, its hidden checks, what was released, and nbgrader's settings.
    """
    folders = [course.solutions / name, course.assignments / name, course.folder / "released" / name]
    paths = [file for folder in folders for file in folder.rglob("*")]
    checks = course.solutions / "checks"
    # Other files beside the checks may be what they import.
    paths += [
        path
        for path in checks.glob("*.py")
        if path.stem == name or not ASSIGNMENT_NAME.fullmatch(path.stem)
    ]
    paths.append(course.root / CONFIG_FILE)
    files = {
        path.relative_to(course.root).as_posix(): path.read_bytes()
        for path in sorted(paths)
        if path.is_file() and not set(LEFT_OUT) & set(path.parts)
    }
    return Snapshot(files, {})


def digest(parts: Iterable[bytes]) -> bytes:
    """SHA-256 of byte strings; where one ends and the next begins counts."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.digest()


def _below(folder: Path) -> Iterable[Path]:
    """Everything below a folder that is no folder itself, in order; links are not followed.

    Folders that lie too deep are not opened, but stand for what they hold.
    """
    for place, folders, names in os.walk(folder):
        folders.sort()
        closed = [name for name in folders if os.path.islink(os.path.join(place, name))]
        if len(Path(place).relative_to(folder).parts) == DEEPEST:
            closed, folders[:] = folders[:], []
        for name in sorted([*names, *closed]):
            yield Path(place) / name
