"""The address of the gradebook database.

Either an SQLite file in the class's folder, or any database that SQLAlchemy supports. PostgreSQL is
tested.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

DB_URL = "SEQCOURSE_DB_URL"
POSTGRES = re.compile(r"^postgres(ql)?://")
SQLITE = "sqlite:///"
# Seconds to wait for another writer, such as formgrader.
PATIENCE = 60


def find_url(given: str, file: Path, configured: str | None, root: Path) -> str:
    """Return the gradebook's SQLAlchemy URL.

    The first of these that is set wins: ``given``, the environment variable SEQCOURSE_DB_URL,
    ``configured``, ``file``.

    Args:
        given: the address from the command line, or "".
        file: the default SQLite file.
        configured: the address in course.toml, or None for a class that ignores both it and the
            environment variable.
        root: the course's folder; a relative SQLite path begins there.
    """
    url = given
    if not url and configured is not None:
        url = os.environ.get(DB_URL, "") or configured
        relative = sqlite_file(url)
        if relative is not None and not relative.is_absolute():
            url = f"{SQLITE}{root / url.removeprefix(SQLITE)}"
    if url in ("", f"{SQLITE}{file}"):
        return f"{SQLITE}{file}?timeout={PATIENCE}"
    # Name the driver of the extra "postgres": SQLAlchemy's default driver depends on its version.
    return POSTGRES.sub("postgresql+psycopg://", url, count=1)


def shown(url: str) -> str:
    """A gradebook's address with its password hidden."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "an invalid address"


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite gradebook, or None for another kind of database."""
    if not url.startswith(SQLITE):
        return None
    return Path(url.removeprefix(SQLITE).partition("?")[0])
