"""The work of partners: whose folder holds it, and what each partner has of it.

Two hand-ins of a group are the same work if their cells are, whatever was put out, and what lies beside
the notebook for a check. The first of them counts. Different ones are never chosen between.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from cellgrader.course.folders import Course
from cellgrader.course.small_files import MARK, NEEDED, TIMESTAMP, kept, time
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.errors import CourseError
from cellgrader.notebook.mend import mend
from cellgrader.notebook.parse import NotGradable, read_bytes, shown
from cellgrader.notebook.search import find_submission, read_submission
from cellgrader.processes.limited import limited
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import without_names

# What lies beside work and is none.
BESIDE = (*NEEDED, MARK)


def whose_work(
    course: Course, name: str, submission: Submission, release: Callable[[str], dict]
) -> Submission:
    """A submission with the member whose folder is graded for all, or with why that is unclear.

    Args:
        release: reads the released notebook; called where hand-ins differ.
    """
    if submission.unclear:
        return submission
    folders = {who: course.submitted / who / name for who in submission.members}
    handed = [who for who in submission.members if course.handed_in(who, name)]
    if len(handed) < 2:
        return replace(submission, source=(handed or [submission.first])[0])
    works = {who: digest_of(folders[who]) for who in handed}
    with_work = [who for who in handed if works[who]] or handed[:1]
    if len({works[who] for who in with_work}) > 1:
        given = release(name)
        works = {who: _content(folders[who], name, given) or works[who] for who in with_work}
    if len({works[who] for who in with_work}) > 1:
        listed = " and ".join(map(shown, with_work))
        alone = ", ".join(f'["{shown(who)}"]' for who in with_work)
        unclear = (
            f"{listed} are partners, but handed in different work, and only one can count. Move the "
            f"folder {name} of the others away, or, if each works alone, write groups of one into "
            f"course.toml, under [{name}]: partners = [{alone}]"
        )
        return replace(submission, unclear=unclear)
    zone = course.settings.zone
    first = min(with_work, key=lambda who: (_when(folders[who], zone), who))
    return replace(submission, source=first)


def keep_own(course: Course, name: str, member: str, source: str) -> None:
    """Put beside a graded notebook what is this member's own, or the mark of the work's folder.

    nbgrader finds feedback by the time and secret of a student's own hand-in.
    """
    graded = course.autograded / member / name
    if member == source or not graded.is_dir():
        return
    (graded / MARK).unlink(missing_ok=True)
    if course.handed_in(member, name):
        own = kept(course.submitted / member / name)
        for file in NEEDED:
            (graded / file).unlink(missing_ok=True)
            if file in own:
                (graded / file).write_bytes(own[file])
        return
    with suppress(NotGradable):  # there is none, or a student's pipe
        (graded / MARK).write_bytes(read_bytes(course.submitted / source / name / MARK, most=200))


def digest_of(folder: Path) -> bytes:
    """A digest of the work in a folder; b"" where there is none."""
    try:
        found = without_names(folder_snapshot(folder))
    except CourseError:  # nobody may look into it
        return b"closed"
    files = {path: content for path, content in found.files.items() if path not in BESIDE}
    return replace(found, files=files).digest() if files or found.links else b""


def _content(folder: Path, name: str, release: dict) -> bytes:
    """A digest of what counts of a hand-in: cells and trained systems; b"" where they are unreadable."""
    try:
        parts = [*limited("To compare the notebook", _cells, folder, name, release), *_systems(folder)]
    except CourseError:
        return b""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "big"))
        hasher.update(part)
    return hasher.digest()


def _cells(folder: Path, name: str, release: dict) -> list[bytes]:
    """What each cell of a notebook in a folder holds."""
    found = find_submission(folder, name, release)
    return [_source(cell) for cell in mend(read_submission(found.path), release).notebook["cells"]]


def _systems(folder: Path) -> list[bytes]:
    """The trained systems in a folder."""
    files = folder_snapshot(folder).files
    return [files[path] for path in sorted(files) if path.lower().endswith(".safetensors")]


def _source(cell: dict[str, Any]) -> bytes:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return os.fsencode(cell["cell_type"]) + "\n".join(map(str.rstrip, text.splitlines())).encode(
        errors="replace"
    )


def _when(folder: Path, zone: tzinfo) -> datetime:
    """When work was handed in. Without a time it is not late, unless a platform says so."""
    content = kept(folder).get(TIMESTAMP)
    found = time(content, zone) if content else None
    if found is not None:
        return found.replace(tzinfo=UTC)
    return (
        datetime.max.replace(tzinfo=UTC)
        if (folder / MARK).is_file()
        else datetime.min.replace(tzinfo=UTC)
    )
