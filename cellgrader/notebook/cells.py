"""The cells of a submission in a clean form: source, nbgrader metadata, defined names.

Submitted code is searched with regular expressions, never parsed. Hostile input can crash Python's
parser, and names must also be found in unfinished code and cell magics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cellgrader import bounds
from cellgrader.notebook.document import mark

CELL_TYPES = ("code", "markdown", "raw")

_SURROGATE = re.compile("[\ud800-\udfff]")
_DEFINED = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.M)
_ASSIGNED = re.compile(r"^(\w+(?:[ \t]*[,=][ \t]*\w+)*)[ \t]*(?::[^=\n]*)?=(?!=)", re.M)
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]*(\([^()]{0,4000}\)|[^\n#;(]*)", re.M
)
_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Piece:
    """One cell of a submission.

    position: its index in the file.
    kind: code, markdown or raw.
    grade_id, identifier: nbgrader's name and the cell id. Untrusted: the text must agree.
    too_long: it has more characters than are read. Of a text, the beginning is kept.
    outputs: the student's outputs, sanitised by ``own_outputs``.
    """

    position: int
    kind: str
    source: str
    grade_id: str = ""
    identifier: str = ""
    too_long: bool = False
    outputs: Sequence[dict] = field(default=(), compare=False)

    @cached_property
    def squeezed(self) -> str:
        """The source without white space, for comparing cells."""
        return squeeze(self.source)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that the source defines at top level."""
        return defined(self.source)

    def same_as(self, other: Piece) -> bool:
        """Whether two cells hold the same answer, ignoring trailing white space."""
        ours, theirs = self.source.strip().split("\n"), other.source.strip().split("\n")
        return [line.rstrip() for line in ours] == [line.rstrip() for line in theirs]


def pieces(notebook: dict) -> list[Piece]:
    """The cells of a submission. List entries that are not cells are skipped."""
    cells = notebook.get("cells")
    found = []
    for position, cell in enumerate(cells if isinstance(cells, list) else ()):
        if not isinstance(cell, dict):
            continue
        source, kind, identifier = text(cell), cell.get("cell_type"), cell.get("id")
        too_long = len(source) > bounds.SOURCE
        if too_long:
            source = "" if kind == "code" else source[: bounds.MARKDOWN]
        name = mark(cell).get("grade_id") if isinstance(cell.get("metadata"), dict) else None
        found.append(
            Piece(
                position,
                kind if kind in CELL_TYPES else "raw",
                clean(source),
                name if isinstance(name, str) else "",
                identifier if isinstance(identifier, str) else "",
                too_long,
                cell.get("outputs") or (),
            )
        )
    return found


def text(cell: dict) -> str:
    """The source of a cell."""
    return joined(cell.get("source"))


def joined(value: object) -> str:
    """Text from a notebook, stored as a string or a list of strings; "" for anything else."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def clean(source: str) -> str:
    """The source with Unix line ends, without NUL characters and lone surrogates."""
    return whole(source.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n"))


def whole(value: Any) -> Any:
    """A JSON value without lone surrogates, which UTF-8 cannot encode."""
    if isinstance(value, dict):
        return {whole(key): whole(part) for key, part in value.items()}
    if isinstance(value, list):
        return [whole(part) for part in value]
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def squeeze(source: str) -> str:
    """The source without white space."""
    return "".join(source.split())


def defined(source: str) -> frozenset[str]:
    """The names that code defines at top level: functions, classes, variables, imports."""
    names = set(_DEFINED.findall(source))
    for targets in _ASSIGNED.findall(source):
        names.update(_WORD.findall(targets))
    return frozenset(names | imported(source))


def imported(source: str) -> set[str]:
    """The names that code imports, at any depth: {"np", "torch"}."""
    names = set()
    for listed in _IMPORTS.findall(source):
        for part in _COMMENT.sub("", listed).strip("()").split(","):
            words = part.split()
            if words:
                # "import torch.nn" gives torch, "import numpy as np" gives np.
                names.add(words[-1] if "as" in words else words[0].split(".")[0])
    return names


def may_define(source: str, names: Iterable[str]) -> bool:
    """Whether code may define one of the names in any way, for example inside an ``if``."""
    joined = "|".join(re.escape(name) for name in names)
    if not joined:
        return False
    pattern = (
        rf"\b(?:def|class|for|as|global)[ \t]+(?:{joined})\b"
        rf"|\b(?:{joined})[ \t]*(?:[,:][^\n=()]{{0,200}})?=(?!=)"
        rf"|['\"](?:{joined})['\"]"
    )
    return re.search(pattern, source) is not None or bool(imported(source) & set(names))


def words(source: str) -> set[str]:
    """All words of a source."""
    return set(_WORD.findall(source))
