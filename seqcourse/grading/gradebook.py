"""Makes the database of grades: an SQLite file beside the class, or tables in another database."""

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

from seqcourse.errors import CourseError
from seqcourse.grading.address import SQLITE, shown, sqlite_file
from seqcourse.grading.course import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

# Seconds after which a command says so before it begins.
SOON = 5
# How the folder begins in which a gradebook is made; a killed run leaves one behind.
NEW = "gradebook-"


def open_gradebook(course: Course) -> None:
    """Create the gradebook if it is not there.

    Done once before anything is graded. A new SQLite file gets its place when it is complete, so
    that a process killed on the way leaves none, or a whole one.

    Raises:
        CourseError: there is something else in its place, or the database cannot be reached.
    """
    from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

    course.make_folder()
    _find_our_programs()
    url = course.gradebook_url
    file = sqlite_file(url)
    try:
        if file is None:
            _open(course, url)
        elif file.exists():
            _wait_for(file)
            _open(course, url)
        else:
            with _beside(file) as new:
                _open(course, f"{SQLITE}{new}")
                os.replace(new, file)
    except (DatabaseError, sqlite3.DatabaseError) as error:
        what = f"{course.grading}/gradebook.db" if file else shown(url)
        said = " ".join(str(getattr(error, "orig", error)).split())
        if file and "locked" in said:
            raise CourseError(
                f"{what} should be free to be written to, but another program uses it. Wait until that "
                f"is done, or close it; then run this again. Leave the file where it is."
            ) from error
        advice = "Put a copy of it back, or move it away: grading then begins a new one, without the "
        advice += "points that were given by hand."
        if file is None:
            advice = "Start the server, and make the database and the user: createdb seqcourse"
        raise CourseError(
            f"{what} should be a gradebook of nbgrader, but cannot be used: {said}. {advice}"
        ) from error
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        said = f": {error}" if isinstance(error, ModuleNotFoundError) else ""
        raise CourseError(
            f"The gradebook's address should be like postgresql://user@host/database, but {shown(url)} "
            f"cannot be used{said}. PostgreSQL needs its driver: pip install 'seqcourse[postgres]'"
        ) from None


def _wait_for(file: Path) -> None:
    """Wait some seconds until nobody else uses an SQLite file; sqlite3.OperationalError after that."""
    with closing(sqlite3.connect(file, timeout=SOON)) as database:
        database.execute("BEGIN EXCLUSIVE")
        database.rollback()


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """A place for a new file on the same disk."""
    folder = Path(tempfile.mkdtemp(dir=file.parent, prefix=NEW))
    try:
        yield folder / file.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _open(course: Course, url: str) -> None:
    """Have nbgrader make its tables and the course's rows.

    Some of nbgrader's parts ask for the course by its id and some by the default one.
    """
    from nbgrader.api import Gradebook

    course_id = course.config().CourseDirectory.get("course_id", "")
    for identifier in dict.fromkeys(("default_course", course_id or "")):
        with Gradebook(url, identifier) as gradebook:
            _complete(gradebook)


def _complete(gradebook: Gradebook) -> None:
    """Write the version of the tables where a process was killed between making them and that."""
    from nbgrader.api import get_alembic_version
    from sqlalchemy import inspect, text

    if "alembic_version" not in inspect(gradebook.engine).get_table_names():
        gradebook.db.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    told = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).first()
    # With an assignment in it, it may be one from before nbgrader counted versions.
    if told is None and not gradebook.assignments:
        version = get_alembic_version()
        gradebook.db.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    gradebook.db.commit()


def _find_our_programs() -> None:
    """Put this environment's programs on the search path.

    nbgrader calls the program ``alembic`` when it makes a gradebook, and finds it only where the
    environment is activated; `.venv/bin/seqcourse` works without that.
    """
    programs = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if programs not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([programs, path])
