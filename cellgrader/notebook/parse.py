"""Read an untrusted notebook file.

Files that would take too much time or memory are refused before they do, with a sentence.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path

from cellgrader import bounds
from cellgrader.errors import CourseError
from cellgrader.notebook.cells import CELL_TYPES, text
from cellgrader.notebook.pictures import taken_out
from cellgrader.notebook.shown_outputs import own_outputs
from cellgrader.printable import printable
from cellgrader.profile import program

MISSING, UNREADABLE = "missing", "unreadable"

SMALLER = (
    "Clear its outputs in JupyterLab (Edit, Clear Outputs of All Cells), save it, hand it in again."
)
AGAIN = "Open it in JupyterLab, save it, and hand it in again."

_STRING_OR_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{,]', re.S)
_VERSION = re.compile(r"\d[\w.+-]{0,40}", re.ASCII)
_CONFLICT = re.compile(r"^(?:<{7} |>{7} )", re.M)


class NotGradable(CourseError):
    """There is no notebook that can be graded.

    status: MISSING or UNREADABLE, as in a record.
    """

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(status, sentence)  # both, so that it can be pickled
        self.status = status

    def __str__(self) -> str:
        return self.args[1]


def read_submission(path: Path) -> dict:
    """Read an untrusted notebook and return its cells in notebook format 4.

    Pictures are taken out of the texts, and stand under "pictures": name -> base64. Outputs are
    sanitised by ``own_outputs``. Of nbgrader's metadata, only grade_id is kept; of the
    notebook's, only the version of its release. Sources and ids are not validated here; ``mend`` does
    that.

    Raises:
        NotGradable: the file is not a notebook, or would take too much time or memory.
    """
    content = _decoded(read_bytes(path), shown(path.name))
    notebook = _parsed(content, shown(path.name))
    del content
    if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):
        notebook = _from_format_3(notebook)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise NotGradable(
            UNREADABLE,
            f"{shown(path.name)} should be a notebook with a list of cells, but has none. {AGAIN}",
        )
    if len(cells) > bounds.CELLS:
        raise NotGradable(
            UNREADABLE,
            f"{shown(path.name)} should have at most {bounds.CELLS:,} cells, but has {len(cells):,}. "
            f"Delete those that are not needed, and hand it in again.",
        )
    pictures: dict[str, str] = {}
    kept = [_slim(cell, pictures) for cell in cells if isinstance(cell, dict)]
    characters = sum(len(cell["source"]) for cell in kept)
    if characters > bounds.SOURCES:
        longest = max(range(len(kept)), key=lambda place: len(kept[place]["source"]))
        raise NotGradable(
            UNREADABLE,
            f"{shown(path.name)} should have at most {bounds.SOURCES:,} characters in its cells, but "
            f"has {characters:,}. Shorten cell {longest + 1} first, and hand it in again.",
        )
    metadata = {program(): {"version": version}} if (version := release_of(notebook)) else {}
    book = {"cells": kept, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return book | {"pictures": pictures}


def release_of(notebook: dict) -> str:
    """The version with which a notebook was released; "" if it does not say one."""
    metadata = notebook.get("metadata")
    ours = metadata.get(program()) if isinstance(metadata, dict) else None
    version = ours.get("version") if isinstance(ours, dict) else None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else ""


def shown(name: str) -> str:
    """A file's name for use in a sentence: printable characters only, at most 60."""
    return printable(name, 60)


def read_bytes(path: Path, most: int = bounds.NOTEBOOK) -> bytes:
    """The content of an untrusted file: a regular one of at most ``most`` bytes.

    Raises:
        NotGradable: it is missing, something else, or larger.
    """
    name = shown(path.name)
    try:
        # Do not follow links, and do not block on a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise NotGradable(
            UNREADABLE,
            f"{name} should be an ordinary file, but the system refuses to open it "
            f"({(error.strerror or 'unknown reason').lower()}). Hand in the notebook itself.",
        ) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotGradable(
                UNREADABLE,
                f"{name} should be an ordinary file, but is not. Hand in the notebook itself.",
            )
        if status.st_size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise NotGradable(
        UNREADABLE,
        f"{name} should be at most {most // 1_000_000} MB large, but has "
        f"{status.st_size // 1_000_000:,} MB. {SMALLER}",
    )


def plain_text(content: bytes) -> str:
    """The text of a small file in UTF-8 or, with a byte order mark, UTF-16, as Windows' editors save."""
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def _decoded(content: bytes, name: str) -> str:
    """Decode UTF-8, UTF-16, UTF-32, or Latin-1 if it is unambiguous."""
    if not content.strip(b" \t\r\n\0"):
        raise NotGradable(
            UNREADABLE, f"{name} should be a notebook, but is empty. Hand the file in again."
        )
    encoding = json.detect_encoding(content)
    try:
        decoded = content.decode(encoding)
    except UnicodeDecodeError as error:
        # Bytes 0x80 to 0x9f mean different characters in Latin-1 and in Windows-1252.
        if encoding != "utf-8" or re.search(rb"[\x80-\x9f]", content):
            raise NotGradable(
                UNREADABLE,
                f"{name} should be a notebook in UTF-8, but byte {error.start} is not valid UTF-8. "
                f"{AGAIN}",
            ) from None
        decoded = content.decode("latin-1")
    if sys.getsizeof(decoded) > 2 * bounds.NOTEBOOK:
        raise NotGradable(UNREADABLE, f"{name} should be smaller. {SMALLER}")
    return decoded.lstrip("\ufeff")


def _parsed(content: str, name: str) -> object:
    """Parse JSON after estimating how much memory it would take."""
    if sum(map(content.count, ",[{")) > bounds.VALUES and _values(content) > bounds.VALUES:
        raise NotGradable(
            UNREADABLE,
            f"{name} should be a notebook, but has more than {bounds.VALUES:,} parts. Delete cells that "
            f"are not needed. {SMALLER}",
        )
    try:
        return json.loads(content)
    except RecursionError:
        raise NotGradable(
            UNREADABLE, f"{name} should be a notebook, but is nested too deeply. {AGAIN}"
        ) from None
    except json.JSONDecodeError as error:
        if _CONFLICT.search(content):
            raise NotGradable(
                UNREADABLE,
                f"{name} should be a notebook, but holds an unfinished merge of two versions (lines "
                f"that begin with <<<<<<< and >>>>>>>). Choose one version, and hand it in again.",
            ) from None
        ends = error.pos >= len(content.rstrip()) - 1 or error.msg.startswith("Unterminated")
        why = "it breaks off" if ends else f"it is not valid JSON ({error.msg})"
        raise NotGradable(
            UNREADABLE,
            f"{name} should be a notebook, but {why} at line {error.lineno}, column {error.colno}. "
            f"Hand the file in again.",
        ) from None
    except ValueError:
        # For example a number with thousands of digits.
        raise NotGradable(
            UNREADABLE, f"{name} should be a notebook, but holds an invalid value. {AGAIN}"
        ) from None


def _values(content: str) -> int:
    """A lower bound of the number of values in a JSON text, counted up to the limit and 1."""
    values = strings = 0
    for match in _STRING_OR_MARK.finditer(content):
        if content[match.start()] == '"':
            strings += 1
        else:
            values += 1
        if values > bounds.VALUES or strings > 2 * bounds.VALUES:
            return bounds.VALUES + 1
    return values


def _slim(cell: dict, pictures: dict[str, str]) -> dict:
    """The parts of a cell that grading needs; ``pictures`` gets those of its text."""
    metadata = cell.get("metadata")
    grader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = grader.get("grade_id") if isinstance(grader, dict) else None
    kind = cell.get("cell_type")
    source, found = (text(cell), {}) if kind == "code" else taken_out(cell)
    pictures |= found
    slim = {
        "cell_type": kind if kind in CELL_TYPES else "raw",
        "metadata": {"nbgrader": {"grade_id": name}} if isinstance(name, str) else {},
        "source": source,
    }
    if isinstance(cell.get("id"), str):
        slim["id"] = cell["id"]
    if kind == "code":
        slim |= {"execution_count": None, "outputs": own_outputs(cell.get("outputs"))}
    return slim


def _from_format_3(notebook: dict) -> dict:
    """Convert notebook format 3 to 4: join the worksheets, turn headings into Markdown."""
    cells = []
    for sheet in notebook["worksheets"]:
        listed = sheet.get("cells") if isinstance(sheet, dict) else None
        for cell in listed if isinstance(listed, list) else ():
            if not isinstance(cell, dict):
                continue
            kind = cell.get("cell_type")
            source = cell.get("input", "") if kind == "code" else cell.get("source", "")
            cell = {**cell, "source": source}
            if kind == "heading":
                level = cell.get("level")
                marks = "#" * (level if isinstance(level, int) and 0 < level < 7 else 1)
                cell = {**cell, "source": f"{marks} {text(cell)}"}
            cells.append({**cell, "cell_type": kind if kind in ("code", "raw") else "markdown"})
    return {"cells": cells}
