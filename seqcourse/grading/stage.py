"""Find the notebook in what a student handed in, and read it whatever wrote it.

Nothing is followed, unpacked or run. A file that would take much time or memory is refused before it
takes any, with a sentence.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading.cells import text
from seqcourse.grading.mend import Likeness, likeness

MISSING, UNREADABLE = "missing", "unreadable"

MOST_BYTES = 100_000_000
MOST_CELLS = 2_000
# Characters of all sources together.
MOST_TEXT = 10_000_000
# Values of a file's JSON: each costs memory, most of all when it is short.
MOST_VALUES = 3_000_000
# Files and folders that are looked at, folders below folders, and notebooks that are opened.
MOST_ENTRIES, DEEPEST, MOST_OPENED = 1_000, 3, 10

SMALLER = (
    "Clear its outputs in JupyterLab (Edit, Clear Outputs of All Cells), save it, hand it in again."
)
AGAIN = "Open it in JupyterLab, save it, and hand it in again."
# Names that a browser or an editor makes of psN.ipynb.
SUFFIXES = ((".ipynb",), (".ipynb.txt", ".ipynb.json", ".json", ".txt"))
INSTEAD = {
    ".zip": "Unpack it and hand in the notebook itself.",
    ".html": "That is a picture of the notebook: hand in the .ipynb file.",
    ".pdf": "That is a picture of the notebook: hand in the .ipynb file.",
    ".py": "That is a script: hand in the .ipynb file.",
}
INSTEAD |= dict.fromkeys((".tar", ".gz", ".tgz", ".7z", ".rar"), INSTEAD[".zip"])

_STRING_OR_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{,]', re.S)
_CONFLICT = re.compile(r"^(?:<{7} |>{7} )", re.M)


class NotGradable(CourseError):
    """There is no notebook that could be graded.

    status: ``missing`` or ``unreadable``, as in a record.
    """

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Found:
    """The notebook that is graded, and what the student should know about the choice."""

    path: Path
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    path: Path
    likeness: Likeness

    @property
    def rank(self) -> tuple[int, int]:
        return len(self.likeness.answers), self.likeness.known


def find_submission(folder: Path, name: str, release: dict) -> Found:
    """The notebook of an assignment in the folder that a student handed in.

    It is psN.ipynb, in whatever case; without an answer in it, or without it, the one notebook that
    holds the assignment's cells.

    Args:
        folder: submitted/STUDENT/psN.
        name: "ps2", for example.
        release: the released notebook.
    Raises:
        NotGradable: there is none, or several, or it cannot be read.
    """
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise NotGradable(
                UNREADABLE,
                f"The folder {shown(place.name)} should hold the files themselves, but is a link to "
                f"another place. Links are not followed: hand in the files.",
            )
    files = list(_files(folder)) if folder.is_dir() else []
    named = _named(folder, name, files)
    problem = None
    if named is not None:
        try:
            own = _open(named, release)
            if own.likeness.is_another:
                raise NotGradable(
                    UNREADABLE,
                    f"{shown(named.name)} should hold the cells of {name}, but holds those of another "
                    f"assignment. Hand in the notebook of {name}.",
                )
            if own.likeness.answers:
                return Found(named, _about_others(folder, name, named, files))
            problem = None
        except NotGradable as error:
            problem = error
    best, rivals = _best_of([path for path in files if path != named], release, named is None)
    if named is not None:
        if best is None or not best.likeness.answers or rivals:
            if problem is not None:
                raise problem
            return Found(named, _about_others(folder, name, named, files))
        why = "cannot be read" if problem is not None else "holds no answer"
        remark = f"{shown(named.name)} {why}: {_below(folder, best.path)} was graded in its place."
        return Found(best.path, (remark,))
    if best is None:
        raise NotGradable(MISSING, _nothing(folder, name, files))
    if rivals:
        listed = ", ".join(sorted(_below(folder, each.path) for each in [best, *rivals])[:5])
        raise NotGradable(
            MISSING,
            f"{name}.ipynb should be in the folder, but is not, and several notebooks could be it: "
            f"{listed}. Name the one that counts {name}.ipynb.",
        )
    remark = f"{name}.ipynb was not there: {_below(folder, best.path)} was graded in its place."
    return Found(best.path, (remark, *_about_scripts(folder, best.path, files)))


def read_submission(path: Path) -> dict:
    """Read a notebook that anything may have written: its cells in format 4.5, without outputs.

    Every cell is a dictionary, but nothing else of it is promised: ``mend`` makes it clean.

    Raises:
        NotGradable: it is no notebook, or would take too much time or memory.
    """
    content = _decoded(_bytes(path), shown(path.name))
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
    if len(cells) > MOST_CELLS:
        raise NotGradable(
            UNREADABLE,
            f"{shown(path.name)} should have at most {MOST_CELLS:,} cells, but has {len(cells):,}. "
            f"Delete those that are not needed, and hand it in again.",
        )
    kept = [_slim(cell) for cell in cells if isinstance(cell, dict)]
    characters = sum(len(cell["source"]) for cell in kept)
    if characters > MOST_TEXT:
        longest = max(range(len(kept)), key=lambda place: len(kept[place]["source"]))
        raise NotGradable(
            UNREADABLE,
            f"{shown(path.name)} should have at most {MOST_TEXT:,} characters in its cells, but has "
            f"{characters:,}. Shorten cell {longest + 1} first, and hand it in again.",
        )
    return {"cells": kept, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def shown(name: str) -> str:
    """A file's name as it can stand in a sentence: one line, nothing invisible, not too long."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."


# Finding


def _files(folder: Path) -> Iterator[Path]:
    """The ordinary files below a folder, nearest first; links, pipes and hidden ones are left out."""
    level = [folder]
    seen = 0
    for _ in range(DEEPEST + 1):
        deeper = []
        for place in level:
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                if entry.name.startswith(".") or entry.name == "__MACOSX":
                    continue
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
        level = deeper


def _named(folder: Path, name: str, files: list[Path]) -> Path | None:
    """psN.ipynb in the folder itself, in whatever case.

    Raises:
        NotGradable: it is a link, a folder, a pipe.
    """
    exact = folder / f"{name}.ipynb"
    if os.path.lexists(exact) and not _is_file(exact):
        what = "a link" if exact.is_symlink() else "a folder" if exact.is_dir() else "no file"
        raise NotGradable(
            UNREADABLE,
            f"{name}.ipynb should be an ordinary file, but is {what}. Hand in the notebook itself.",
        )
    alike = [path for path in files if path.parent == folder and path.name.lower() == exact.name]
    return exact if exact in alike else alike[0] if alike else None


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _open(path: Path, release: dict) -> _Candidate:
    return _Candidate(path, likeness(read_submission(path), release))


def _best_of(
    files: list[Path], release: dict, other_names: bool
) -> tuple[_Candidate | None, list[_Candidate]]:
    """The notebook that holds most of the assignment, and those that hold as much but differ."""
    for suffixes in SUFFIXES if other_names else SUFFIXES[:1]:
        found = []
        for path in [path for path in files if path.name.lower().endswith(suffixes)][:MOST_OPENED]:
            try:
                candidate = _open(path, release)
            except NotGradable:
                continue
            if candidate.likeness.is_it:
                found.append(candidate)
        if found:
            best = max(found, key=lambda candidate: candidate.rank)
            equal = [each for each in found if each.rank == best.rank and each is not best]
            return best, [each for each in equal if each.likeness != best.likeness]
    return None, []


def _nothing(folder: Path, name: str, files: list[Path]) -> str:
    """Why there is nothing to grade, and what to do about it."""
    if not files:
        return f"{name}.ipynb should be in the folder, but there is nothing."
    listed = ", ".join(_below(folder, path) for path in files[:5])
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    there = f"{name}.ipynb should be in the folder, but there is {listed}{more}."
    for path in files:
        if path.suffix.lower() in INSTEAD:
            return f"{there} {INSTEAD[path.suffix.lower()]}"
    if any(path.suffix.lower() == ".ipynb" for path in files):
        unreadable = f"None of them can be recognised as {name}."
        return f"{there} {unreadable} If one is the work, name it {name}.ipynb."
    return f"{there} Hand in the notebook."


def _about_others(folder: Path, name: str, chosen: Path, files: list[Path]) -> tuple[str, ...]:
    """What to say about a name in another case, and about files that are not looked at."""
    remarks = []
    if chosen.name != f"{name}.ipynb":
        remarks.append(f"The notebook should be called {name}.ipynb, but is {shown(chosen.name)}.")
    others = [path for path in files if path != chosen and path.suffix.lower() == ".ipynb"]
    if others:
        listed = ", ".join(_below(folder, path) for path in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        remarks.append(f"Only {shown(chosen.name)} is graded, not {listed}{more}.")
    return (*remarks, *_about_scripts(folder, chosen, files))


def _about_scripts(folder: Path, chosen: Path, files: list[Path]) -> tuple[str, ...]:
    scripts = [path for path in files if path.suffix.lower() == ".py"]
    if not scripts:
        return ()
    listed = ", ".join(_below(folder, path) for path in scripts[:3])
    return (
        f"Only the notebook is run: code that stands in {listed} is not there when it is graded, so put "
        f"it into the notebook.",
    )


def _below(folder: Path, path: Path) -> str:
    return shown(path.relative_to(folder).as_posix())


# Reading


def _bytes(path: Path) -> bytes:
    """The content of an ordinary file of bounded size."""
    name = shown(path.name)
    try:
        # Not through a link, and without waiting for somebody to write into a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise NotGradable(
            UNREADABLE,
            f"{name} should be an ordinary file, but the system refuses to open it "
            f"({(error.strerror or 'unknown reason').lower()}). Hand in the notebook itself.",
        ) from None
    with os.fdopen(handle, "rb") as file:
        told = os.fstat(handle)
        if not stat.S_ISREG(told.st_mode):
            raise NotGradable(
                UNREADABLE,
                f"{name} should be an ordinary file, but is none. Hand in the notebook itself.",
            )
        if told.st_size <= MOST_BYTES:
            content = file.read(MOST_BYTES + 1)
            if len(content) <= MOST_BYTES:
                return content
    raise NotGradable(
        UNREADABLE,
        f"{name} should be at most {MOST_BYTES // 1_000_000} MB large, but has "
        f"{told.st_size // 1_000_000:,} MB. {SMALLER}",
    )


def _decoded(content: bytes, name: str) -> str:
    """The text of a file, in UTF-8, UTF-16, UTF-32 or, where that is certain, Latin-1."""
    if not content.strip(b" \t\r\n\0"):
        raise NotGradable(
            UNREADABLE, f"{name} should be a notebook, but is empty. Hand the file in again."
        )
    encoding = json.detect_encoding(content)
    try:
        decoded = content.decode(encoding)
    except UnicodeDecodeError as error:
        # In Windows' own code these bytes are letters and quotes, elsewhere something else.
        if encoding != "utf-8" or re.search(rb"[\x80-\x9f]", content):
            raise NotGradable(
                UNREADABLE,
                f"{name} should be a notebook in UTF-8, but byte {error.start} is none of it. {AGAIN}",
            ) from None
        decoded = content.decode("latin-1")
    if sys.getsizeof(decoded) > 2 * MOST_BYTES:
        raise NotGradable(UNREADABLE, f"{name} should be smaller. {SMALLER}")
    return decoded.lstrip("\ufeff")


def _parsed(content: str, name: str) -> object:
    """The JSON of a file, after a look at how much memory it would take."""
    if sum(map(content.count, ",[{")) > MOST_VALUES and _values(content) > MOST_VALUES:
        raise NotGradable(
            UNREADABLE,
            f"{name} should be a notebook, but has more than {MOST_VALUES:,} parts. Delete cells that "
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
        why = "it breaks off" if ends else f"it is no JSON ({error.msg})"
        raise NotGradable(
            UNREADABLE,
            f"{name} should be a notebook, but {why} at line {error.lineno}, column {error.colno}. "
            f"Hand the file in again.",
        ) from None
    except ValueError:
        # A number of thousands of digits, for example.
        raise NotGradable(
            UNREADABLE, f"{name} should be a notebook, but holds a value that none has. {AGAIN}"
        ) from None


def _values(content: str) -> int:
    """At least how many values a JSON text has, counted up to a bit above the limit."""
    values = strings = 0
    for match in _STRING_OR_MARK.finditer(content):
        if content[match.start()] == '"':
            strings += 1
        else:
            values += 1
        if values > MOST_VALUES or strings > 2 * MOST_VALUES:
            return MOST_VALUES + 1
    return values


def _slim(cell: dict) -> dict:
    """What is needed of a cell; its outputs and attachments go here, whatever their size."""
    metadata = cell.get("metadata")
    grader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = grader.get("grade_id") if isinstance(grader, dict) else None
    kept = {"nbgrader": {"grade_id": name}} if isinstance(name, str) else {}
    slim = {"cell_type": str(cell.get("cell_type"))[:20], "metadata": kept, "source": text(cell)}
    if isinstance(cell.get("id"), str):
        slim["id"] = cell["id"]
    return slim


def _from_format_3(notebook: dict) -> dict:
    """A notebook of format 3 in format 4: sheets are put together, headings become text."""
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
