"""The concept inventory of the book: two parallel forms of questions, asked as polls."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.settings import is_static
from seqcourse.viz.html import Shown, has_widgets
from seqcourse.viz.poll import ask, folded

FORMS = Path(__file__).parent
RIGHT = "right"


@dataclass(frozen=True)
class Item:
    """One question of a form.

    ``name`` is the same in both forms, and so are the area and the mistakes behind the wrong options.
    ``section`` is a page of the book and an anchor. ``reasons`` and ``mistakes`` go from the text of an
    option to its sentence, and to what the self-checks call the mistake, "right" for the answer.
    """

    name: str
    area: str
    section: str
    question: str
    reasons: dict[str, str]
    mistakes: dict[str, str]

    @property
    def answer(self) -> str:
        return next(option for option, mistake in self.mistakes.items() if mistake == RIGHT)

    def chapter(self) -> str:
        """The number of its chapter, for example "8" or "5b"."""
        return self.section.partition("_")[0].lstrip("0")


def items(form: str) -> list[Item]:
    """The questions of form "a" or "b". Raises CourseError for any other."""
    known = sorted(path.stem for path in FORMS.glob("*.toml"))
    if form not in known:
        raise CourseError(f"A form should be one of {', '.join(known)}, but it is {form!r}.")
    written = tomllib.loads((FORMS / f"{form}.toml").read_text(encoding="utf-8"))
    return [
        Item(
            name,
            item["area"],
            item["section"],
            folded(item["question"]),
            {option: folded(reason) for option, reason, _ in item["options"]},
            {option: mistake for option, _, mistake in item["options"]},
        )
        for name, item in written.items()
    ]


def inventory(form: str) -> Any:
    """Ask all questions of form "a" or "b" in one cell, each answer with the way to its section.

    Nothing is counted, kept or sent. Make the call the last line of its cell. Raises CourseError when
    there is no such form.
    """
    asked = []
    for number, item in enumerate(items(form), 1):
        way = f"[Chapter {item.chapter()} has more.]({address(item.section)})"
        reasons = {option: f"{reason} {way}" for option, reason in item.reasons.items()}
        asked.append(ask(f"{form.upper()}{number}. {item.question}", reasons, item.answer))
    if has_widgets():
        import ipywidgets as widgets

        return widgets.VBox(asked)
    return Shown("".join(one.body for one in asked), "\n\n".join(one.text for one in asked))


def address(section: str) -> str:
    """Where a section is, seen from another page: a page of the site, or with a kernel a notebook."""
    return section.replace("#", ".html#" if is_static() else ".ipynb#")
