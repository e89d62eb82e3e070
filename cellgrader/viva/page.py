"""The pages of a sheet: the student's, to print, and the instructor's with everybody's answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from cellgrader.pages.frame import page
from cellgrader.printable import printable
from cellgrader.viva.questions import Question
from cellgrader.viva.sheet import Sheet
from cellgrader.viva.table import setting, summary

_CODE = re.compile(r"`([^`]+)`")


def as_page(sheet: Sheet) -> str:
    """The page for a student: the code with its line numbers, the questions, room for the reasons."""
    parts = [
        f"<p>These questions are about the code that you handed in{_together(sheet)}. Each one changes "
        "one thing at most. Choose one answer, and write down why.</p>"
    ]
    before = ""
    for number, question in enumerate(sheet.questions, start=1):
        if question.exercise != before:
            before = question.exercise
            name = escape(printable(before))
            parts.append(f"<h2><code>{name}</code></h2><pre>{_numbered(sheet.code[before])}</pre>")
        parts.append(f"<h3>Question {number}</h3>{_asked(question)}<p>Why?</p><p>&nbsp;<br>&nbsp;</p>")
    return page(f"{sheet.assignment}: questions for {printable(sheet.student)}", "".join(parts))


def _together(sheet: Sheet) -> str:
    return f" together with {escape(printable(sheet.source))}" if sheet.source else ""


def _numbered(source: str) -> str:
    lines = enumerate(source.expandtabs(4).splitlines(), start=1)
    return "\n".join(f"{number:3}  {escape(printable(line))}" for number, line in lines)


def _asked(question: Question) -> str:
    """What is changed, what is asked, and the four answers."""
    change = f"<p>{_inline(setting(question))}</p>" if setting(question) else ""
    options = "".join(f"<li>{_inline(option)}</li>" for option in question.options)
    return f'{change}<p>{_inline(question.words)}</p><ol type="a">{options}</ol>'


def _inline(words: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(printable(words)))


def answers_page(name: str, sheets: Sequence[Sheet]) -> str:
    """The instructor's page: for every student the questions, the right answers and what to know."""
    lines = "".join(f"<p>{escape(printable(line))}</p>" for line in summary(sheets))
    return page(f"{name}: questions and answers", lines + "".join(map(_student, sheets)))


def _student(sheet: Sheet) -> str:
    rows = "".join(
        f"<tr><td>{number}</td><td>{_inline(f'{setting(one)} {one.words}')}</td>"
        f"<td>{one.letter}: {_inline(f'{one.options[one.right]} {one.note}')}</td></tr>"
        for number, one in enumerate(sheet.questions, start=1)
    )
    who = escape(printable(sheet.title))
    return (
        f"<h2>{who}</h2><div class='wide' tabindex='0' role='region' aria-label='Questions for {who}'>"
        "<table><thead><tr><th>no.</th><th>question</th><th>answer</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
