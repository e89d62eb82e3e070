"""Read and write notebooks, and list their exercises and points from nbgrader's metadata."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cellgrader.errors import CourseError

MARKER = re.compile(r"^\s*(?:#+|<!--)?\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)\s*(?:-->)?\s*$")
# The heading above an exercise's answers: "## Exercise 4 · Scores by a small network".
HEADING = re.compile(r"^#+ Exercise (\d+)\b", re.M)


@dataclass(frozen=True)
class Exercise:
    """One exercise: an answer cell and what it is worth.

    ``tests`` are the grade_ids of the test cells that follow the answer cell up to the next one.
    ``automatic`` points come from them; ``manual`` points are given by hand. ``number`` is that of the
    heading above, with a letter if there are several answers below it: 3, 4a, 4b.
    """

    name: str
    code: bool
    tests: tuple[str, ...] = ()
    automatic: float = 0.0
    manual: float = 0.0
    number: str = ""

    @property
    def points(self) -> float:
        return self.automatic + self.manual


@dataclass
class _Draft:
    name: str
    code: bool
    number: str
    tests: list[str] = field(default_factory=list)
    automatic: float = 0.0
    manual: float = 0.0


def text(cell: dict) -> str:
    """The source of a cell, which may be stored as one string or as a list of lines."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def mark(cell: dict) -> dict:
    """nbgrader's metadata of a cell, or {}."""
    found = cell.get("metadata", {}).get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def read(path: Path) -> dict:
    """Read a notebook.

    Raises:
        CourseError: the file is missing, or is not a notebook; the sentence says why.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CourseError(f"The notebook {path.name} should be in {path.parent}, but is not.") from None
    except UnicodeDecodeError as error:
        raise CourseError(
            f"{path.name} should be a notebook in UTF-8, but byte {error.start} is not valid UTF-8. "
            f"Save it again from JupyterLab."
        ) from None
    try:
        notebook = json.loads(content)
    except json.JSONDecodeError as error:
        ends = error.pos >= len(content.rstrip()) - 1 or error.msg.startswith("Unterminated")
        why = "it breaks off" if ends else f"it is not valid JSON ({error.msg})"
        raise CourseError(
            f"{path.name} should be a notebook, but {why} at line {error.lineno}, column "
            f"{error.colno}. Ask for the file again."
        ) from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise CourseError(
            f"{path.name} should be a notebook of format 4 with a list of cells, but has none. "
            f"Open it in JupyterLab and save it again."
        )
    return notebook


def write(notebook: dict, path: Path) -> None:
    """Write a notebook atomically."""
    write_text(path, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, content: str, mode: int = 0o644) -> None:
    """Write a text file atomically.

    Surrogates from file names that are not UTF-8 are written as escapes, as JSON does: \\udcf6.
    """
    with writing(path, mode) as file:
        file.write(content.encode("utf-8", "backslashreplace"))


@contextmanager
def writing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Context manager: a temporary file to write to, which is moved into place when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def exercises(notebook: dict) -> list[Exercise]:
    """The exercises of a notebook, in order.

    An answer cell that nothing grades is none of them: it belongs to the written answer beside it, such
    as the code of a figure.

    Raises:
        CourseError: a test cell comes before the first answer cell.
    """
    drafts: list[_Draft] = []
    number = ""
    for cell in notebook["cells"]:
        grader = mark(cell)
        if cell["cell_type"] == "markdown":
            number = ([number] + HEADING.findall(text(cell)))[-1]
        if grader.get("solution"):
            draft = _Draft(grader["grade_id"], cell["cell_type"] == "code", number)
            if grader.get("grade"):
                draft.tests.append(grader["grade_id"])
                draft.manual += float(grader.get("points", 0))
            drafts.append(draft)
        elif grader.get("grade"):
            if not drafts:
                raise CourseError(
                    f"The test cell {grader['grade_id']!r} should follow the answer cell that it "
                    f"grades, but there is no answer cell before it."
                )
            drafts[-1].tests.append(grader["grade_id"])
            drafts[-1].automatic += float(grader.get("points", 0))
    found = []
    drafts = [draft for draft in drafts if draft.tests]
    for place, draft in enumerate(drafts, start=1):
        alike = [other.name for other in drafts if other.number == draft.number]
        letter = chr(ord("a") + alike.index(draft.name)) if len(alike) > 1 else ""
        label = f"{draft.number}{letter}" if draft.number else f"{place}"
        tests = tuple(draft.tests)
        found.append(Exercise(draft.name, draft.code, tests, draft.automatic, draft.manual, label))
    return found


def without_markers(source: str) -> str:
    """An answer as a student would hand it in: the solution without its BEGIN and END lines."""
    return "\n".join(line for line in source.split("\n") if not MARKER.match(line))


def regions(source: str, kind: str) -> list[str]:
    """The lines between ``BEGIN kind`` and ``END kind`` (kind: SOLUTION, HIDDEN TESTS)."""
    found: list[str] = []
    inside = False
    for line in source.split("\n"):
        match = MARKER.match(line)
        if match and match.group(2) == kind:
            inside = match.group(1) == "BEGIN"
        elif inside:
            found.append(line)
    return found
