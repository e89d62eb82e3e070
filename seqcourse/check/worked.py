"""The worked answer at a self-check: folded, once the answer is right or the hints are used up.

The reasons of a poll are shown in the same way, from the second try on.
"""

from __future__ import annotations

from pathlib import Path

from cellgrader.answers import folded, sheet
from seqcourse import progress
from seqcourse.check import right

ABOVE = "A worked answer is folded above."


def opened(exercise: right.Checked, by_hints: bool = False) -> tuple[str, sheet.Worked | None]:
    """The key to an exercise's worked answer, and that answer; ("", None) if it stays closed.

    Only a notebook in which somebody works has one: nothing is read where work is graded or validated.
    """
    notebook = progress.current_notebook()
    found = sheet.read(notebook) if notebook else None
    if not found or exercise.name not in found.answers or by_hints and not found.after_hints:
        return "", None
    if found.opens == sheet.RESULT:
        key = right.key(exercise, found.answers[exercise.name].shift)
    else:
        key = _class_key(notebook)
    answer = found.open(exercise.name, key)
    return (key, answer) if answer else ("", None)


def opened_poll(name: str) -> tuple[str, sheet.Worked | None]:
    """The key to the reasons of a poll, and those; ("", None) before the second try, or if closed."""
    notebook = progress.current_notebook()
    found = sheet.read(notebook) if notebook else None
    if not found or not progress.latest(notebook).get(name, progress.Latest()).tried:
        return "", None
    key = found.public_key(name) if found.opens == sheet.RESULT else _class_key(notebook)
    answer = found.open(name, key)
    return (key, answer) if answer else ("", None)


def _class_key(notebook: Path) -> str:
    return progress.latest(notebook).get("", progress.Latest()).key


def show(answer: sheet.Worked, name: str) -> None:
    """Show a worked answer in a notebook, folded."""
    from IPython.display import display

    notebook = progress.current_notebook()
    assignment = notebook.stem if notebook else "ASSIGNMENT"
    plain = f"{folded.title(answer)}: seqcourse solution {assignment} {name}"
    display({"text/html": folded.as_html(answer), "text/plain": plain}, raw=True)
