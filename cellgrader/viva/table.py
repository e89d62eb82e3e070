"""The instructor's table: questions and answers of the sheets, for a talk of ten minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cellgrader.printable import printable
from cellgrader.viva.changes import Change
from cellgrader.viva.choose import MANY
from cellgrader.viva.questions import KINDS, Question

if TYPE_CHECKING:
    from rich.table import Table

    from cellgrader.viva.sheet import Sheet


def setting(question: Question | Change) -> str:
    """What is changed before the question is asked, as a sentence; "" for no change."""
    if question.reads is None:
        return ""
    if not question.reads:
        return f"Line {question.line} is deleted."
    return f"Line {question.line} becomes `{question.reads}`."


def as_table(sheet: Sheet) -> Table:
    """One student's questions with their answers."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        "",
        "exercise",
        "question",
        "answer",
        title=escape(printable(f"{sheet.assignment}: {sheet.title}")),
    )
    for number, question in enumerate(sheet.questions, start=1):
        words = f"{setting(question)} {question.words}".strip()
        answer = f"{question.letter}: {question.options[question.right]} {question.note}".strip()
        table.add_row(
            str(number), question.exercise, escape(printable(words)), escape(printable(answer))
        )
    return table


def summary(sheets: Sequence[Sheet]) -> list[str]:
    """How the questions of a class are spread over the kinds, and who has fewer than five."""
    from cellgrader.viva.sheet import spread

    counts = spread(sheets)
    listed = ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind])
    lines = [f"{sum(counts.values())} questions for {len(sheets)}: {listed}."]
    short = [
        f"{sheet.student} ({len(sheet.questions)})" for sheet in sheets if len(sheet.questions) < MANY
    ]
    if short:
        lines.append(
            f"Fewer than {MANY} questions: {', '.join(short)}. The rest of the work is too short."
        )
    return lines
