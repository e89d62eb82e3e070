"""Turn verdicts into points, cell outputs for nbgrader, a status and a sentence for the student."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_output

from cellgrader.course.records import CRASHED, GRADED, TIMED_OUT
from cellgrader.printable import printable
from cellgrader.run.kernels import GONE_ERROR, TIMEOUT_ERROR, Ran

if TYPE_CHECKING:
    from cellgrader.checks import Judge, Verdict

# Errors that unsolved or wrong answers raise in a notebook. Any other error is reported.
EXPECTED_ERRORS = {"AssertionError", "Mistake", "NotImplementedError", "KeyboardInterrupt"}
WIDTH = 88
PASSED = "✓ The hidden checks passed.\n"


def grade_cells(book: nbformat.NotebookNode) -> dict[str, int]:
    """The autograded cells: name -> index in the notebook."""
    found = {}
    for index, cell in enumerate(book.cells):
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and mark.get("grade") and not mark.get("solution"):
            found[mark["grade_id"]] = index
    return found


def points_for(share: float, worth: float) -> float:
    """Points for a share, rounded to hundredths. Only a share of 1 rounds to full points."""
    return worth if share >= 1 else min(round(share * worth, 2), worth)


def told(verdict: Verdict, judge: Judge) -> str:
    """The verdict's sentence, and a reference to the book if the answer was wrong."""
    see = read_again(as_data(verdict, judge)["see"])
    return f"{verdict.sentence} Read again: {see}." if see else verdict.sentence


def as_data(verdict: Verdict, judge: Judge) -> dict[str, Any]:
    """The same as plain data: findings, each with what, question and inputs; and the section to see.

    Both are empty where no points were lost.
    """
    if verdict.share >= 1:
        return {"findings": [], "see": []}
    findings = [
        {"what": printable(one.what), "question": printable(one.question), "inputs": list(one.inputs)}
        for one in verdict.findings
    ]
    chapter, section = judge.check.see
    return {"findings": findings, "see": [int(chapter), section] if verdict.solved and section else []}


def read_again(see: Sequence[Any]) -> str:
    """The section to see, in words, or ""."""
    return f"chapter {see[0]}, “{see[1]}”" if see else ""


def outputs(points: float, worth: float, message: str) -> list[nbformat.NotebookNode]:
    """A grade cell's outputs, in the form from which nbgrader reads the points."""
    if points >= worth:
        return [new_output("stream", name="stdout", text=PASSED)]
    lines = textwrap.wrap(message, WIDTH, break_long_words=False) or ["✗"]
    if points <= 0:
        return [new_output("error", ename="Mistake", evalue=message, traceback=lines)]
    text = f"{points:g} of {worth:g} points.\n" + "\n".join(lines) + "\n"
    return [
        new_output("stream", name="stdout", text=text),
        new_output("execute_result", data={"text/plain": repr(points)}, execution_count=None),
    ]


def status_of(book: nbformat.NotebookNode, ran: Ran) -> tuple[str, str]:
    """How the notebook ran: a status and a sentence."""
    stopped, crashed = [], []
    unanswered = False
    for number, cell in enumerate(book.cells):
        if cell.metadata.get("nbgrader", {}).get("grade"):
            continue
        label = cell.metadata.get("nbgrader", {}).get("grade_id") or f"number {number + 1}"
        for output in cell.get("outputs", ()):
            error = output.get("ename")
            if error == TIMEOUT_ERROR or number in ran.stopped and error == GONE_ERROR:
                stopped.append(label)
            elif error == GONE_ERROR:
                crashed.append(f"{label} ({ran.gone.get(number, 'ended the kernel')})")
            elif error == "NotImplementedError":
                unanswered = True
            elif error == "NameError" and unanswered:
                pass  # caused by the unanswered exercise
            elif error and error not in EXPECTED_ERRORS:
                crashed.append(f"{label} ({printable(error, 40)})")
    if stopped:
        return TIMED_OUT, f"Stopped because it ran too long: {some(stopped)}."
    if any(answer.ending == "timeout" for answer in ran.answers.values()):
        late = [cell for cell, answer in ran.answers.items() if answer.ending == "timeout"]
        return TIMED_OUT, f"Stopped because the answer ran too long: {some(late)}."
    if crashed:
        return CRASHED, f"An error that is not a failed test: {some(crashed)}."
    if ran.unfinished and any(answer.ending == "not reached" for answer in ran.answers.values()):
        return CRASHED, f"Some cells could not run: the notebook {ran.unfinished}."
    return GRADED, ""


def some(labels: Sequence[str], shown: int = 3) -> str:
    """The first few cells by name, and how many more there are."""
    cells = "cell" if len(labels) == 1 else "cells"
    rest = f" and {len(labels) - shown} more" if len(labels) > shown else ""
    return f"{cells} {', '.join(labels[:shown])}{rest}"
