"""The inventory as a notebook for nbgrader: a cell to answer in and a graded cell for each question.

python -m seqcourse.viz.inventory.quiz source     # writes source/stand_a and source/stand_b
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from seqcourse.viz.inventory import Item, items

TITLE = """# Where do you stand? Form {form}

{many} questions about sequence models, one point each. Answer with a letter: in the cell below a
question, put for example `answer_1 = "b"` in place of the line that raises an error. Work alone and
without the book. Nobody has tested these questions on a class, so a number of points says little by
itself."""


def quiz(form: str) -> dict[str, Any]:
    """Form "a" or "b" as a source notebook of nbgrader, with answers and hidden tests.

    ``nbgrader generate_assignment`` takes both out. A student reads in the feedback which idea is behind
    a wrong answer. Raises CourseError when there is no such form.
    """
    asked = items(form)
    cells = [_text("title", TITLE.format(form=form.upper(), many=len(asked)))]
    for number, item in enumerate(asked, 1):
        cells += _question(number, item)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def _question(number: int, item: Item) -> list[dict[str, Any]]:
    letters = dict(zip(ascii_lowercase, item.reasons, strict=False))
    right = next(letter for letter, option in letters.items() if option == item.answer)
    why = {a: f"{item.reasons[text]} (Chapter {item.chapter()})" for a, text in letters.items()}
    name, listed = f"answer_{number}", "\n".join(f"- **{a}**: {text}" for a, text in letters.items())
    answer = (
        f'# Write {name} = "a", or another of the letters.\n'
        f'### BEGIN SOLUTION\n{name} = "{right}"\n### END SOLUTION'
    )
    judged = (
        f'assert {name} in {tuple(letters)}, "{name} should be one of these letters, in quotes."\n'
        f"### BEGIN HIDDEN TESTS\nassert {name} == {right!r}, {why}[{name}]\n### END HIDDEN TESTS"
    )
    return [
        _text(f"question-{number}", f"## Question {number}\n\n{item.question}\n\n{listed}"),
        _code(name, answer, solution=True),
        _code(f"{name}-points", judged, grade=True, points=1),
    ]


def _text(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _code(name: str, text: str, **marks: Any) -> dict[str, Any]:
    usual = {"grade": False, "solution": False, "task": False, "locked": "grade" in marks}
    metadata = {
        "nbgrader": {"grade_id": name, **usual, **marks, "schema_version": 3, "cell_type": "code"}
    }
    cell = {"cell_type": "code", "id": name, "metadata": metadata, "source": text}
    return {**cell, "execution_count": None, "outputs": []}


def main(folder: str) -> None:
    """Write both quizzes below a folder, as nbgrader wants its sources."""
    for form in "ab":
        path = Path(folder) / f"stand_{form}" / f"stand_{form}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(quiz(form), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
