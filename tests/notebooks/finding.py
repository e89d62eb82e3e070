"""Which notebooks the course has."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("book", "solutions", "assignments")


def notebooks(*rooms: str) -> list[str]:
    """Paths of the notebooks in these folders, relative to the repository."""
    found = [path for room in rooms for path in (ROOT / room).rglob("*.ipynb")]
    kept = [path for path in found if ".ipynb_checkpoints" not in path.parts]
    return sorted(path.relative_to(ROOT).as_posix() for path in kept)


def read(name: str) -> dict:
    """A notebook as it is stored."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def text(cell: dict) -> str:
    """The source of a cell, stored as a string or as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
