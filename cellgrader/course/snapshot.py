"""Snapshots of folders, to be sent to workers on any machine.

A snapshot holds a folder's regular files and its links, which are never followed. It lists what it
leaves out: pipes, devices, and files that are unreadable or too large.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cellgrader import bounds
from cellgrader.course.folders import CONFIG_FILE, Course, is_assignment
from cellgrader.course.small_files import APPEAL, TIMESTAMP, time
from cellgrader.errors import CourseError
from cellgrader.notebook.parse import NotGradable, read_bytes, shown

LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")
SENTENCES = "sentences.tsv"


@dataclass(frozen=True)
class Snapshot:
    """The content of a folder.

    files: path -> bytes.
    links: path -> target.
    left_out: what is missing, each with a reason.
    """

    files: dict[str, bytes]
    links: dict[str, str]
    left_out: tuple[str, ...] = ()

    def digest(self) -> bytes:
        """A digest of the content, independent of the folder's location."""
        parts: list[bytes] = []
        for path in sorted(self.files):
            parts += [b"file", os.fsencode(path), self.files[path]]
        for path in sorted(self.links):
            parts += [b"link", os.fsencode(path), os.fsencode(self.links[path])]
        parts += [os.fsencode(line) for line in self.left_out]
        return digest(parts)

    def unpack(self, folder: Path) -> None:
        """Write everything below ``folder``, creating it if necessary."""
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        # Create links last, so that no file is written through one.
        for path, destination in self.links.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(destination)

    def sentence(self) -> str:
        """What was left out, in a sentence; "" if nothing was."""
        if not self.left_out:
            return ""
        more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
        return f"Ignored: {', '.join(self.left_out[:3])}{more}."


def refused(folder: Path) -> str:
    """Why a submission's folder cannot be read by whoever grades; "" if it can."""
    try:
        os.scandir(folder).close()
    except PermissionError:
        student = shown(folder.parent.name)
        return (
            f"whoever grades should be able to read {student}/{shown(folder.name)}, but the system "
            f"refuses. Change the rights: chmod -R u+rwX {student}"
        )
    return ""


def folder_snapshot(folder: Path) -> Snapshot:
    """Take a snapshot of a submission's folder. A folder that is a link is left out entirely.

    A student's appeals are no part of the work, so they are not in it.

    Raises:
        CourseError: the folder itself cannot be read.
    """
    if os.path.islink(folder.parent) or os.path.islink(folder):  # False where nobody may look
        return Snapshot({}, {}, (f"{shown(folder.name)} (a link to another place)",))
    if why := refused(folder):
        raise CourseError(why)
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    left_out: list[str] = []
    size = 0
    for number, path in enumerate(entries_below(folder)):
        name = path.relative_to(folder).as_posix()
        if number == bounds.FILES:
            left_out.append(f"everything after the first {bounds.FILES:,} files and folders")
            break
        if name.lower() == APPEAL:
            continue
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                links[name] = os.readlink(path)
            elif stat.S_ISDIR(status.st_mode):
                if name.count("/") == bounds.DEPTH:
                    left_out.append(f"{shown(name)} (in more than {bounds.DEPTH} folders)")
                os.scandir(path).close()  # what cannot be opened is said
            elif not stat.S_ISREG(status.st_mode):
                left_out.append(f"{shown(name)} (not a regular file)")
            elif status.st_size > bounds.FILE or size + status.st_size > bounds.FOLDER:
                left_out.append(f"{shown(name)} ({status.st_size >> 20} MiB)")
            else:
                files[name] = read_bytes(path, bounds.FILE)
                size += len(files[name])
        except OSError as error:
            left_out.append(f"{shown(name)} ({error.strerror})")
        except NotGradable:  # it was exchanged for something else meanwhile, or nobody may read it
            left_out.append(f"{shown(name)} (cannot be read)")
    if TIMESTAMP in files and time(files[TIMESTAMP]) is None:
        left_out.append(f"{TIMESTAMP} (not a time)")
    return Snapshot(files, links, tuple(left_out))


def course_snapshot(course: Course, name: str) -> Snapshot:
    """The files that a worker needs for an assignment, with paths relative to the course's root.

    These are the solution, the hidden checks, the released notebook and nbgrader's settings.
    """
    folders = [course.solutions / name, course.assignments / name, course.folder / "released" / name]
    paths = [file for folder in folders for file in folder.rglob("*")]
    checks = course.solutions / "checks"
    # Checks may import other files in their folder.
    paths += [path for path in checks.glob("*.py") if path.stem == name or not is_assignment(path.stem)]
    paths += [course.root / CONFIG_FILE, *(checks / name).glob("*.txt")]
    paths += (checks / name).glob("*.safetensors")
    files = {
        path.relative_to(course.root).as_posix(): path.read_bytes()
        for path in sorted(paths)
        if path.is_file()
        and not set(LEFT_OUT) & set(path.parts)
        and not (path.suffix == ".ipynb" and path.stem != name)
    }
    files |= _own_sentences(course, name)
    return Snapshot(files, {})


def digest(parts: Iterable[bytes]) -> bytes:
    """SHA-256 of a sequence of byte strings. Lengths are hashed too, so boundaries matter."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "big"))
        hasher.update(part)
    return hasher.digest()


def entries_below(folder: Path) -> Iterable[Path]:
    """Yield what is below a folder, one folder after the other, without following links.

    The order is fixed where a folder has no more entries than the budget allows.
    """
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as listed:
                entries = sorted(islice(listed, bounds.FILES + 1), key=lambda entry: entry.name)
        except OSError:
            continue
        yield from (place / entry.name for entry in entries)
        if depth < bounds.DEPTH:
            inside = [place / each.name for each in entries if each.is_dir(follow_symlinks=False)]
            waiting += [(each, depth + 1) for each in reversed(inside)]


def _own_sentences(course: Course, name: str) -> dict[str, bytes]:
    """The instructor's own hidden sentences, at the place where the check looks for them."""
    place = str(course.settings["leaderboard.sentences"])
    if not place or not (course.solutions / "checks" / f"{name}.py").is_file():
        return {}
    path = course.root / place
    try:
        return {f"solutions/checks/{name}/{SENTENCES}": path.read_bytes()}
    except OSError as error:
        raise CourseError(
            f"leaderboard.sentences in course.toml should be a file with English sentences and their "
            f"translations, but {place} cannot be read: {error.strerror}."
        ) from None
