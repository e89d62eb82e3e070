"""Where a class's folder holds something of one student, and how to remove it wholly."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path

from cellgrader.course.address import SQLITE, sqlite_file
from cellgrader.course.folders import Course
from cellgrader.course.records import record_path
from cellgrader.course.watched import places_of
from cellgrader.marks.appeal_points import answers_path
from cellgrader.marks.history import history_path
from cellgrader.notebook import document as notebooks
from cellgrader.platforms.giving_back import name_path
from cellgrader.submission.attempts import attempt_path
from cellgrader.viva.sheet_folders import called, sheet_folder

DROPPED = "dropped"
# Copies of the gradebook, the records and the attempts, see ``version``.
COPIES = "before-update-*"


def places(course: Course, student: str) -> Iterator[Path]:
    """The files and folders of a student who is in the class."""
    for folder in (course.submitted, course.autograded, course.feedback):
        yield folder / student
    for name in course.names():
        yield record_path(course, name, student)
        yield attempt_path(course, name, student)
        yield history_path(course, name, student)
        yield answers_path(course, name, student)
        yield name_path(course, name, student)
        yield sheet_folder(course, name, student)
        yield record_path(course, called(name), student)
        yield from places_of(course, name, student)


def traces(course: Course, student: str) -> list[Path]:
    """What else has the student's name: earlier versions of the work, and copies of the records."""
    own = [path.relative_to(course.folder) for path in places(course, student)]
    found = [copy / path for copy in course.folder.glob(COPIES) for path in own]
    for folder in course.folder.glob(f"{DROPPED}/*"):
        if folder.name == student or any((folder / path).exists() for path in own):
            found.append(folder)
    for inbound in course.folder.glob("exchange/*/inbound"):
        found += [path for path in inbound.iterdir() if path.name.split("+")[0] == student]
    return [path for path in found if path.exists()]


def erase_in_files(course: Course, student: str) -> list[str]:
    """Remove a student from files that hold the whole class; returns those that still have the name."""
    for path in course.folder.glob("removed-*.json"):
        rows = json.loads(path.read_text(encoding="utf-8"))
        left = [row for row in rows if row.get("student") != student]
        notebooks.write_text(path, json.dumps(left, indent=1) + "\n")
    for page in course.folder.glob("*.html"):  # `report` and `similar` write them again
        # A leaderboard may have a pseudonym.
        if page.name.startswith("leaderboard-") or escape(student) in page.read_text(encoding="utf-8"):
            page.unlink()
    file = sqlite_file(course.gradebook_url)
    copies = list(course.folder.glob(f"{COPIES}/*.db"))
    remain = [path for path in copies if not _erase_in_gradebook(path, student)]
    for database in [*copies, *([file] if file else [])]:
        try:
            with closing(sqlite3.connect(database)) as opened:
                opened.execute("VACUUM")  # SQLite leaves what was deleted in the file until then
        except sqlite3.OperationalError:  # another program uses it, or the disk is full
            remain.append(database)
    remain += [path for path in course.folder.glob("*.csv") if student in path.read_text("utf-8-sig")]
    remain += [*course.folder.glob("downloaded"), *course.folder.glob("return-*.zip")]
    return [
        f"{course.grading}/{path.relative_to(course.folder).as_posix()}" for path in sorted({*remain})
    ]


def _erase_in_gradebook(file: Path, student: str) -> bool:
    """Remove a student from a copy of the gradebook; False if its tables are too old for that."""
    from nbgrader.api import Gradebook, MissingEntry
    from sqlalchemy.exc import DatabaseError

    try:
        with Gradebook(f"{SQLITE}{file}") as gradebook:
            gradebook.remove_student(student)
    except MissingEntry:
        pass
    except DatabaseError:
        return False
    return True
