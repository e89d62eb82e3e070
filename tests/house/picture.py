"""Draws the house: which room of the package imports which, read from the imports themselves.

python -m tests.house.picture          # writes the drawing into CONTRIBUTING.md
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.test_rooms import EVERYBODY, MAY_IMPORT, PACKAGE, files, imports, room_of

GUIDE = PACKAGE.parent / "CONTRIBUTING.md"
DRAWING = re.compile(r"```mermaid\n.*?```", re.S)


def arrows() -> dict[str, set[str]]:
    """For each room the rooms that its files import, without those that everybody imports."""
    found = {}
    for room in sorted(set(MAY_IMPORT) - EVERYBODY):
        names = {name for path in files(room) for name in imports(path)}
        found[room] = {*filter(None, map(room_of, names))} - EVERYBODY - {room}
    return found


def below(room: str, found: dict[str, set[str]]) -> set[str]:
    """Every room that a room reaches, directly or through others."""
    return found[room].union(*(below(other, found) for other in found[room]))


def drawing() -> str:
    """The arrows as a Mermaid graph; one that others imply is left out."""
    found = arrows()
    lines = ["```mermaid", "graph TD"]
    for room, others in found.items():
        implied = set().union(*(below(other, found) for other in others))
        lines += [f"    {room} --> {other}" for other in sorted(others - implied)]
    alone = sorted(set(found) - {part for others in found.values() for part in others})
    lines += [f"    {room}" for room in alone if not found[room]]
    return "\n".join([*lines, "```"])


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(DRAWING.sub(drawing(), text), encoding="utf-8")
    print(f"{Path(GUIDE).name}: drawn")
