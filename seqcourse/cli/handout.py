"""``seqcourse start`` and ``seqcourse update``: the course's notebooks in a folder of the student's.

The wheel carries the same files under ``seqcourse/handout/``; ``setup.py`` puts them there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from seqcourse import __version__
from seqcourse.cli.front import write_front
from seqcourse.cli.root import STARTED, find_work, is_course, is_started, shown, typed
from seqcourse.errors import CourseError

# What a student gets: patterns in a checkout. A link in one of these files must lead to one of them.
FILES = (
    "book/[0-9][0-9]*_*.ipynb",
    "book/appendix_notation.md",
    "book/appendix_glossary.md",
    "book/appendix_disagreements.md",
    "book/appendix_environment.md",
    "book/appendix_on_your_own.md",
    "book/appendix_syllabus.md",
    "assignments/ps*/ps*.ipynb",
    "assignments/ps*/*.md",
    "assignments/ps*/worked.json",
    "assignments/ps*/.vscode/settings.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
)
PACKAGE = Path(__file__).resolve().parents[1]
# Where an update keeps what it replaces.
BEFORE = ".seqcourse/before"


def names(root: Path) -> list[str]:
    """The files that a student gets, as paths in ``root``."""
    found = (path for pattern in FILES for path in root.glob(pattern))
    return sorted(path.relative_to(root).as_posix() for path in found)


def start(folder: Path) -> None:
    """Make a folder with the chapters and the assignments.

    Raises:
        CourseError: the folder holds something already, or cannot be made.
    """
    if is_started(folder):
        raise CourseError(
            f"{shown(folder)} is a folder of the course already. "
            f"What is new comes with: seqcourse update {typed(folder)}"
        )
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{shown(folder)} should be a new folder, but it is a file. Name another one.")
    with _writing(folder):
        held = [path.name for path in folder.iterdir()] if folder.exists() else []
        if set(held) - {STARTED.parent.name}:
            raise CourseError(
                f"{shown(folder)} should be new or empty, but it holds {len(held)} files or folders "
                f"({', '.join(sorted(held)[:3])}). Name another folder."
            )
        _write(folder / STARTED, json.dumps({"version": __version__, "files": {}}).encode())
    _bring(folder)
    print(f"Next: cd {typed(folder)}, then: seqcourse lab")


def update(folder: Path | None = None) -> None:
    """Bring what is new in this version of the course into a folder that ``start`` made.

    Raises:
        CourseError: it is no such folder, it is of a newer version, or it cannot be written.
    """
    folder = folder or find_work()
    if not is_started(folder):
        why = "there is no such folder"
        if is_course(folder):
            why = "it is a checkout of the course, where `git pull` brings what is new"
        elif folder.exists():
            why = f"it has no {STARTED.as_posix()}"
        raise CourseError(
            f"{shown(folder)} should be a folder that `seqcourse start` made, but {why}. "
            f"A new one: seqcourse start my-course"
        )
    _bring(folder)


def version_of(folder: Path) -> str:
    """The version of the course that was brought into a folder last; "" if that cannot be read."""
    return _given(folder)[0]


def _bring(folder: Path) -> None:
    """Bring every file up to date and say what was done. After a kill, the next call does the rest."""
    root = PACKAGE / "handout"
    root = root if root.is_dir() else PACKAGE.parent
    listed = names(root)
    if not listed:
        raise CourseError(
            "The course was installed without its notebooks. Install its wheel, or clone the repository."
        )
    version, given = _given(folder)
    if _order(version) > _order(__version__):
        raise CourseError(
            f"{shown(folder)} has version {version} of the course, but version {__version__} is "
            f"installed. Install the newer one: pip install --upgrade seqcourse"
        )
    new, replaced, beside = [], [], []
    with _writing(folder):
        for name in listed:
            target, content = folder / name, (root / name).read_bytes()
            was, now = given.get(name), [_digest(content), _sources(content)]
            here = target.read_bytes() if target.exists() else None
            if here is None:
                new.append(name)
                _write(target, content)
            elif now != was and here != content:
                if was and _sources(here) == was[1]:  # the student may have run it, but not changed it
                    kept = folder / BEFORE / f"{name}.{_digest(here)[:12]}"
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(target, kept)
                    _write(target, content)
                    replaced.append(name)
                elif not was or was[1] != now[1]:
                    beside.append((name, _put_beside(target, content)))
            given[name] = now
            _write(folder / STARTED, json.dumps({"version": __version__, "files": given}).encode())
    write_front(folder)
    unchanged = len(listed) - len(new) - len(replaced) - len(beside)
    print(
        f"{shown(folder)}, version {__version__}: {len(new)} files are new, {len(replaced)} are "
        f"brought up to date, {unchanged} stay as they are."
    )
    if replaced:
        print(f"What was replaced, with the outputs of your runs, lies in {shown(folder / BEFORE)}.")
    for name, path in beside:
        print(f"You changed {name}: it stays yours. The new version lies beside it: {path.name}")
    for name in sorted(given.keys() - set(listed)):
        if (folder / name).exists():
            print(f"{name} is no longer a part of the course. It stays where it is.")


def _given(folder: Path) -> tuple[str, dict[str, list[str]]]:
    """The version that was brought last and, by file, the digests of what was brought.

    A damaged list is an empty one: every file that differs then counts as the student's.
    """
    try:
        told = json.loads((folder / STARTED).read_text(encoding="utf-8"))
        version, given = str(told["version"]), dict(told["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", {}
    return version, {name: pair for name, pair in given.items() if isinstance(pair, list)}


def _order(version: str) -> tuple[int, ...]:
    """A key that sorts versions."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sources(content: bytes) -> str:
    """A digest of what a person writes: of a notebook, its cells without what running them adds."""
    try:
        cells = json.loads(content)["cells"]
        told = [(c["cell_type"], "".join(c["source"]), c.get("attachments")) for c in cells]
    except (ValueError, KeyError, TypeError):
        return _digest(content)
    return _digest(json.dumps(told, sort_keys=True).encode())


def _put_beside(target: Path, content: bytes) -> Path:
    """Write a new version beside a student's file, under a name that is free."""
    number = 1
    while True:
        tail = f"-{number}" if number > 1 else ""
        path = target.with_name(f"{target.stem}-{__version__}{tail}{target.suffix}")
        if not path.exists():
            _write(path, content)
            return path
        if path.read_bytes() == content:
            return path
        number += 1


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is whole or not there, whenever the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    os.replace(part, path)


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the system says of files into a sentence."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            f"{shown(folder)} could not be written: {error.strerror} ({error.filename}). "
            f"Nothing is lost. Make room or get the rights, and give the same command again; "
            f"once the folder is there: seqcourse update {typed(folder)}"
        ) from error
