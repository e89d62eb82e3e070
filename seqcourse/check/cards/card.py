"""The card of an exercise: everything about it in words, in solutions/checks/psN/<exercise>.txt.

    idea: A query may look at itself and at what comes before it.
    see: 08, Do not look ahead
    fix: Draw the mask of three words on paper: the last row has three times True.
    ask: What may the first query look at? How many rows are there? Which entry may be False?
    excused: gradients - a mask comes out

    === hidden: causal_mask-grade
    a few tokens: size=5

    === explained: by hand
    A query may look at everything before it, so ...

    === right: by hand
    def causal_mask(size, past=0):
        return torch.ones(size, past + size).tril(diagonal=past).bool()

Above the first header: the idea, chapter and section to read again, what to do in the end, three
questions that lead there, and what the hidden checks need not see (`kinds`), with the reason. `hidden`
is the check of a grade cell (`listing`; beside its `hint` it may say a `fix` of its own), `explained`
says why the solution is as it is, and names the right answer that is shown beside it. Right and wrong
answers follow (`corpus`). Polls share polls.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seqcourse.check.cards import corpus
from seqcourse.errors import CourseError

POLLS = "polls.txt"


class Card(NamedTuple):
    """What a card says.

    told: fields of the record (`Exercise`) by name, as far as the card has them, and its mistakes.
    hidden: lines of the hidden check, by grade cell.
    explained: the style beside the solution, and the explanation; () without one.
    """

    told: dict[str, Any]
    hidden: dict[str, list[str]]
    explained: tuple[str, ...]
    answers: corpus.Answers


def read(path: Path) -> Card:
    """The card in a text.

    Raises:
        CourseError: something does not fit; the sentence says under which header, and what.
    """
    (_, head), *parts = sections(path)
    answers, hidden, explained = corpus.Answers([], [], [], [], []), {}, ()
    for header, body in parts:
        kind, _, name = header.removeprefix("=== ").partition(": ")
        try:
            if kind == "hidden":
                if name.partition("-grade")[0] != path.stem or name in hidden:
                    raise ValueError(f"it should name a grade cell of {path.stem}, once")
                hidden[name] = body.splitlines()
            elif kind == "explained":
                explained = name, " ".join(body.split())
            else:
                answers.add(path.stem, header, body)
        except ValueError as error:
            raise CourseError(f"{place(path)}, {header!r}: {error}.") from error
    told = _told(head, path) | ({"mistakes": answers.mistakes} if answers.mistakes else {})
    if fixes := dict(filter(None, map(_fix, hidden.values()))):
        told |= {"fix": " ".join(fixes.values()), "fixes": fixes}
    return Card(told, hidden, explained, answers)


def cards(folder: Path) -> dict[str, Card]:
    """All cards of a folder, by exercise; none where there is no folder."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.txt")) if path.name != POLLS}


def has_exercises(folder: Path) -> bool:
    """Whether a card of the folder has hidden checks: a whole system has none."""
    return any(one.hidden for one in cards(folder).values())


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """What comes before the first header, with "" for a header; then every header and what is below."""
    start, *parts = re.split(r"^(?====)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield "", start
    for part in parts:
        header, _, body = part.partition("\n")
        yield header, body.strip("\n") + "\n"


def place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def section(see: str) -> tuple[str, str]:
    """ "08, Do not look ahead" as chapter and section."""
    chapter, _, title = see.partition(",")
    return chapter.strip(), title.strip()


def _fix(lines: list[str]) -> tuple[str, str] | None:
    """The question of a hidden check, and what to do if that is asked; None if the card says neither."""
    told = dict(line.split(": ", 1) for line in lines if line.startswith(("hint: ", "fix: ")))
    return (told["hint"], told["fix"]) if len(told) == 2 else None


def _told(head: str, path: Path) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for line in filter(None, head.splitlines()):
        key, _, words = line.partition(": ")
        if key in ("idea", "fix"):
            told[key] = words
        elif key == "see":
            told["see"] = section(words)
        elif key == "ask":
            told["questions"] = tuple(re.split(r"(?<=\?) ", words))
        elif key == "excused":
            told["excused"] = dict(part.partition(" - ")[::2] for part in words.split("; "))
        else:
            raise CourseError(
                f"{place(path)}: above the first header a line should be 'idea: ...', or see, fix, ask "
                f"or excused, but is {line!r}."
            )
    return told
