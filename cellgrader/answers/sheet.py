"""worked.json beside an assignment's notebook: its worked answers, each locked by itself.

    {"about": "...", "assignment": "ps3", "opens": "result", "after_hints": true,
     "answers": {"softmax": {"number": "2", "title": "Weights", "shift": 3, "sealed": "...",
                             "kind": "code"}}}

`opens` says which key fits: "result", made from the right result of the exercise's self-check (see
`Sheet.public_key` for what has none), or "class", which a class gives out. This keeps nobody out who
reads the package's source: it stops a glance, not a determined person.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from cellgrader.answers.sealing import seal, unseal
from cellgrader.profile import program

FILE = "worked.json"
RESULT, CLASS = "result", "class"
CODE, POLL, WRITTEN = "code", "poll", "written"
ABOUT = (
    "Worked answers, sealed. One opens after its self-check passed or gave its last hint, a poll's "
    "after a second try, a written one beside an answer of yours: {} solution {} NUMBER"
)
ABOUT_CLASS = (
    "Worked answers, sealed. They open with a key that the class gives out: "
    "{} solution {} NUMBER --with KEY"
)
LARGEST = 2_000_000


@dataclass(frozen=True)
class Worked:
    """A worked answer: why it is so, its code, and another style with its name.

    For a poll there are only the reasons, a paragraph for each option; for a written question only the
    model answer.
    """

    explained: str
    code: str = ""
    style: str = ""
    other: str = ""


@dataclass(frozen=True)
class Sealed:
    """A worked answer under its lock.

    number: of the exercise, with a letter where it has several answers: "4a".
    shift: how the numbers of the right result are rounded, see `check.right`.
    kind: what is answered: "code", a "poll" or a "written" question.
    """

    number: str
    title: str
    shift: int
    sealed: str
    kind: str = CODE


@dataclass(frozen=True)
class Sheet:
    """The worked answers of an assignment, by the name of the answer."""

    assignment: str
    opens: str
    after_hints: bool
    answers: dict[str, Sealed]

    def open(self, name: str, key: str) -> Worked | None:
        """The worked answer to an exercise, or None if there is none or the key does not fit."""
        entry = self.answers.get(name)
        text = unseal(entry.sealed, key, self._salt(name)) if entry and key else None
        return Worked(**json.loads(text)) if text else None

    def public_key(self, name: str) -> str:
        """The key to what no right result can open: the reasons of a poll, a model answer.

        Everybody can make it from the name. It keeps an answer out of sight until it is time, no more.
        """
        return f"{self.assignment} {name}, tried"

    def locked(self, name: str, worked: Worked, key: str) -> str:
        """A worked answer locked with a key, for ``Sealed.sealed``."""
        return seal(json.dumps(asdict(worked), ensure_ascii=False), key, self._salt(name))

    def _salt(self, name: str) -> str:
        return f"{program()} worked answer {self.assignment} {name}"

    def written(self) -> bytes:
        """The file's content."""
        about = (ABOUT if self.opens == RESULT else ABOUT_CLASS).format(program(), self.assignment)
        return (json.dumps({"about": about, **asdict(self)}, indent=1) + "\n").encode()


def read(notebook: Path) -> Sheet | None:
    """The worked answers beside a notebook; None if there are none, or the file is damaged."""
    path = notebook.with_name(FILE)
    try:
        if path.stat().st_size > LARGEST:
            return None
        told = json.loads(path.read_text(encoding="utf-8"))
        entries = {str(name): Sealed(**entry) for name, entry in told["answers"].items()}
        fit = all(isinstance(e.sealed, str) and isinstance(e.shift, int) for e in entries.values())
        sheet = Sheet(str(told["assignment"]), str(told["opens"]), told["after_hints"] is True, entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return sheet if fit and sheet.assignment == notebook.stem else None
