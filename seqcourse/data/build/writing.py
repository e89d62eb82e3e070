"""Write a data set's folder with a note about the source of its files; shared by all builders."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from seqcourse.data.readers import write_beside


def sha256(*paths: Path) -> str:
    """The SHA-256 hex digest of the files' concatenated contents."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def write_set(name: str, folder: Path, files: dict[str, bytes | str], note: dict[str, Any]) -> None:
    """Write a data set's files, then its note with their checksums, and print its counts.

    ``seqcourse data check`` and ``seqcourse doctor`` compare the files with the note.

    Args:
        name: of the builder.
        folder: of the data set.
        files: name -> content.
        note: "package", "file", "sha256", "licence", "filter", "counts" and any further entries.
    """
    for file, content in files.items():
        write_beside(folder / file, content.encode() if isinstance(content, str) else content)
    written = sorted(path for path in folder.iterdir() if path.name != "source.json")
    note = {
        **note,
        "build": f"python -m seqcourse.data.build {name} --source FOLDER",
        "files": {path.name: sha256(path) for path in written},
    }
    text = json.dumps(note, indent=2, ensure_ascii=False) + "\n"
    write_beside(folder / "source.json", text.encode())
    print(f"{folder.name}: {json.dumps(note['counts'])}")
