"""Where the database of grades is.

SQLite in a file beside the class, or any database that SQLAlchemy knows; PostgreSQL is tested.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

DB_URL = "SEQCOURSE_DB_URL"
POSTGRES = re.compile(r"^postgres(ql)?://")
SQLITE = "sqlite:///"
# Seconds to wait for somebody else who writes, in formgrader for example.
PATIENCE = 60


def find_url(given: str, file: Path, config: Path | None) -> str:
    """The address of a gradebook, in SQLAlchemy's form.

    Args:
        given: what the command was told; it comes first.
        file: the SQLite file to take where nothing else is said.
        config: nbgrader_config.py, for a class that follows it. Before it comes the environment
            variable SEQCOURSE_DB_URL. A file's path is one from the course's folder.
    """
    url = given
    if not url and config is not None:
        url = os.environ.get(DB_URL, "") or _configured(config, _changed(config))
        relative = sqlite_file(url)
        if relative is not None and not relative.is_absolute():
            url = f"{SQLITE}{config.parent / url.removeprefix(SQLITE)}"
    if url in ("", f"{SQLITE}{file}"):
        return f"{SQLITE}{file}?timeout={PATIENCE}"
    # The driver that comes with seqcourse[postgres]; the default differs between SQLAlchemy's versions.
    return POSTGRES.sub("postgresql+psycopg://", url, count=1)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@lru_cache(maxsize=16)
def _configured(path: Path, changed: int) -> str:
    """What a settings file says; it is read again only when it has changed."""
    from traitlets.config import PyFileConfigLoader

    if not changed:
        return ""
    settings = PyFileConfigLoader(path.name, str(path.parent)).load_config()
    return str(settings.CourseDirectory.get("db_url", "") or "")


def shown(url: str) -> str:
    """A gradebook's address without its password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "an address that cannot be read"


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite gradebook; None for other databases."""
    if not url.startswith(SQLITE):
        return None
    return Path(url.removeprefix(SQLITE).partition("?")[0])
