"""The version of a class's data: what an older or a newer package left in grading/.

grading/version.json names the form of the data and the programs that wrote it. When the programs change
in the middle of a term, the gradebook and the records are copied first, then brought up to date.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.address import SQLITE, shown, sqlite_file
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.profile import program, the_course

if TYPE_CHECKING:
    from cellgrader.course.folders import Course

# The form of what this package writes into grading/, and the oldest one that it can read. Raise FORM
# when an older package would misread the files, and OLDEST when this one no longer reads old ones.
FORM, OLDEST = 1, 0
FILE = "version.json"
# What a copy holds beside the gradebook.
KEPT = ("records", "attempts", "history", "appeals", "watch", "secret", FILE)


def bring_up_to_date(course: Course) -> list[str]:
    """Make the class's data fit the installed programs; sentences say what was done.

    Raises:
        CourseError: newer programs wrote the data, or it is too old; says which version to use.
    """
    now = {
        "form": FORM,
        program(): the_course().version,
        "nbgrader": importlib.metadata.version("nbgrader"),
    }
    path = course.folder / FILE
    before = _read(path)
    if before == now:
        return []
    form = before.get("form", 0)
    if not isinstance(form, int) or not OLDEST <= form <= FORM:
        raise CourseError(
            f"{course.grading}/ should hold data of form {OLDEST} to {FORM}, which {program()} "
            f"{the_course().version} reads, but {FILE} says form {form}. Use the version that wrote "
            f"it: {program()} {before.get(program(), 'of that time')}."
        )
    file = sqlite_file(course.gradebook_url)
    told = []
    if file is None or file.exists():
        told = _update(course, file, before)
    elif course.records.is_dir():
        told = [f"A copy of the class's data is in {_copy(course, None)}."]
    notebooks.write_text(path, json.dumps(now) + "\n")
    return told


def _read(path: Path) -> dict:
    """The content of version.json; {} for a class that an older package began."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    except (FileNotFoundError, ValueError):
        return {}


def _update(course: Course, file: Path | None, before: dict) -> list[str]:
    """Copy the data, and let nbgrader change its tables if they are old."""
    from nbgrader import dbutil
    from nbgrader.api import get_alembic_version

    url = course.gradebook_url
    old, new = _revision(url), get_alembic_version()
    if old is None:  # no gradebook yet, or one whose making was interrupted
        return []
    known = {path.name.split("_")[0] for path in Path(dbutil.ALEMBIC_DIR, "versions").glob("*.py")}
    if old not in known:
        wrote = f"=={before['nbgrader']}" if "nbgrader" in before else ""
        raise CourseError(
            f"The gradebook should have tables that nbgrader {importlib.metadata.version('nbgrader')} "
            f"knows, but a newer one wrote it. Use that one: pip install -U 'nbgrader{wrote}'"
        )
    if file is None and old != new:
        raise CourseError(
            f"The tables of the gradebook at {shown(url)} are of an older nbgrader. Copy the database "
            f"(pg_dump), then bring it up to date: nbgrader db upgrade"
        )
    where = _copy(course, file)
    if old == new:
        return [f"{program()} was updated. A copy of the class's data before that is in {where}."]
    try:
        dbutil.upgrade(f"{SQLITE}{file}")
    except Exception as error:
        shutil.copy2(course.root / where / file.name, file)
        raise CourseError(
            f"nbgrader should have brought the gradebook up to date, but failed: {error}. It is as it "
            f"was. Use the nbgrader that wrote it, {before.get('nbgrader', 'an older one')}."
        ) from error
    return [f"The gradebook was brought up to date. A copy of the old data is in {where}."]


def _revision(url: str) -> str | None:
    """The version of nbgrader's tables in a database, or None if it does not say one."""
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(url)
    try:
        if "alembic_version" not in inspect(engine).get_table_names():
            return None
        with engine.connect() as connection:
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return row[0] if row else None
    finally:
        engine.dispose()


def _copy(course: Course, file: Path | None) -> str:
    """Copy the gradebook, records, attempts and secret to a new folder; its path, for a person."""
    number = 1
    while (folder := course.folder / f"before-update-{number}").exists():
        number += 1
    folder.mkdir(mode=0o700)
    for name in KEPT:
        source = course.folder / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy2(source, folder / name)
    if file is not None:
        target = folder / file.name
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(file)) as from_, closing(sqlite3.connect(target)) as to:
            from_.backup(to)  # also while another program has it open
    return f"{course.grading}/{folder.name}"
