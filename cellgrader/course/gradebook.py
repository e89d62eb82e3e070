"""Create the gradebook: an SQLite file in the class's folder, or tables in another database."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.address import SQLITE, shown, sqlite_file
from cellgrader.course.due import set_due_dates
from cellgrader.course.folders import Course
from cellgrader.course.version import bring_up_to_date
from cellgrader.errors import CourseError
from cellgrader.profile import program

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment

# Seconds to wait for a locked SQLite file before a command reports it.
SOON = 5
# Prefix of the temporary folder in which a gradebook is created; a killed run leaves it behind.
NEW = "gradebook-"


# The gradebooks that this process has opened.
_opened: set[str] = set()


@contextmanager
def opened(course: Course, *, as_it_is: bool = False) -> Iterator[Gradebook]:
    """The gradebook: the door through which every command reads and writes it.

    Args:
        as_it_is: do not bring it up to date first, as a preview that writes nothing.
    Raises:
        CourseError: as ``open_gradebook``, also where the database fails within the block.
    """
    from nbgrader.api import Gradebook

    url = course.gradebook_url
    file = sqlite_file(url)
    if not as_it_is and (url not in _opened or file is not None and not file.exists()):
        open_gradebook(course)
    check(course)
    with _in_words(course), Gradebook(url) as gradebook:
        yield gradebook


def open_gradebook(course: Course) -> None:
    """Create the gradebook if it does not exist, and give its assignments their due dates.

    A new SQLite file is moved into place when it is complete, so a killed process never leaves half a
    gradebook.

    Raises:
        CourseError: the file is not a gradebook, or the database cannot be reached.
    """
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    course.make_folder()
    _extend_path()
    url = course.gradebook_url
    file = sqlite_file(url)
    try:
        with _in_words(course):
            if file is not None and file.exists():
                _wait_for(file)
            for sentence in bring_up_to_date(course):
                print(sentence, file=sys.stderr)
            if file is None or file.exists():
                _open(course, url)
            else:
                with _temporary_path(file) as new:
                    _open(course, f"{SQLITE}{new}")
                    os.replace(new, file)
            set_due_dates(course)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        message = f": {error}" if isinstance(error, ModuleNotFoundError) else ""
        raise CourseError(
            f"The gradebook's address should be like postgresql://user@host/database, but {shown(url)} "
            f"cannot be used{message}. PostgreSQL needs its driver: pip install '{program()}[postgres]'"
        ) from None
    _opened.add(url)


def check(course: Course) -> None:
    """Raise CourseError if the file is not a database, or is still locked after SOON seconds."""
    file = sqlite_file(course.gradebook_url)
    if file is not None and file.exists():
        with _in_words(course), _reading(file):
            pass


def copy_to(course: Course, target: Path) -> None:
    """Copy the gradebook's SQLite file, also while another program has it open.

    Raises:
        CourseError: as ``check``.
    """
    file = sqlite_file(course.gradebook_url)
    assert file is not None
    # Without the lock for reading, backup would wait for another program for ever.
    with _in_words(course), _reading(file) as from_, closing(sqlite3.connect(target)) as to:
        from_.backup(to)


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    """An SQLite file, locked against writing.

    Raises:
        sqlite3.DatabaseError: it is not a database, or is still locked after SOON seconds.
    """
    source = f"{file.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(source, uri=True, timeout=SOON, isolation_level=None)) as database:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield database


@contextmanager
def _in_words(course: Course) -> Iterator[None]:
    """Turn what a database raises into a CourseError."""
    from sqlalchemy.exc import DatabaseError

    url = course.gradebook_url
    file = sqlite_file(url)
    try:
        yield
    except (DatabaseError, sqlite3.DatabaseError) as error:
        what = f"{course.grading}/gradebook.db" if file else shown(url)
        message = " ".join(str(getattr(error, "orig", error)).split())
        if file and "locked" in message:
            raise CourseError(
                f"{what} should be writable, but another program is using it. Wait until it is done, or "
                f"close it, then run this again. Leave the file where it is."
            ) from error
        advice = "Put a copy of it back, or move it away: grading then begins a new one, without the "
        advice += "points that were given by hand."
        if file is None:
            advice = f"Start the server, and make the database and the user: createdb {program()}"
        raise CourseError(
            f"{what} should be a gradebook of nbgrader, but cannot be used: {message}. {advice}"
        ) from error


def handed_in(gradebook: Gradebook, assignment: str) -> dict[str, SubmittedAssignment]:
    """An assignment's submissions by student, in a few queries for the class instead of 20 for each."""
    from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
    from sqlalchemy.orm import joinedload, selectinload

    grades = selectinload(SubmittedAssignment.notebooks).selectinload(SubmittedNotebook.grades)
    found = (
        gradebook.db.query(SubmittedAssignment)
        .filter(SubmittedAssignment.assignment.has(Assignment.name == assignment))
        .options(
            joinedload(SubmittedAssignment.student),
            joinedload(SubmittedAssignment.assignment),
            grades.joinedload(Grade.cell),
        )
    )
    return {submission.student.id: submission for submission in found}


def _wait_for(file: Path) -> None:
    """Wait until no other process is using an SQLite file.

    Raises:
        sqlite3.OperationalError: it is still locked after SOON seconds.
    """
    with closing(sqlite3.connect(file, timeout=SOON)) as database:
        database.execute("BEGIN EXCLUSIVE")
        database.rollback()


@contextmanager
def _temporary_path(file: Path) -> Iterator[Path]:
    """A temporary path for a new file, on the same disk as ``file``."""
    folder = Path(tempfile.mkdtemp(dir=file.parent, prefix=NEW))
    try:
        yield folder / file.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _open(course: Course, url: str) -> None:
    """Let nbgrader create its tables and the course's rows.

    Parts of nbgrader look the course up by its configured id, others by the default id.
    """
    from nbgrader.api import Gradebook

    course_id = course.config().CourseDirectory.get("course_id", "")
    for identifier in dict.fromkeys(("default_course", course_id or "")):
        with Gradebook(url, identifier) as gradebook:
            _write_missing_version(gradebook)


def _write_missing_version(gradebook: Gradebook) -> None:
    """Write the schema version if a process was killed after creating the tables but before this."""
    from nbgrader.api import get_alembic_version
    from sqlalchemy import inspect, text

    if "alembic_version" not in inspect(gradebook.engine).get_table_names():
        gradebook.db.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    version_row = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).first()
    # A gradebook with assignments but no version may be older than nbgrader's schema versions.
    if version_row is None and not gradebook.assignments:
        version = get_alembic_version()
        gradebook.db.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    gradebook.db.commit()


def _extend_path() -> None:
    """Add this environment's bin folder to PATH.

    nbgrader runs the program ``alembic`` to create a gradebook. PATH lacks it unless the environment is
    activated, and the command in `.venv/bin` must work without activation.
    """
    programs = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if programs not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([programs, path])
