"""`make exercise NAME=ps5/my_mask`: lay out a new exercise, the example of solutions/checks/README.md.

It writes the card, the record and the cells of the notebook under the new name, with a row of the table
at its top: an exercise that works, to be changed piece by piece.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from seqcourse import progress
from seqcourse.check import shipped
from seqcourse.cli.root import find_root
from seqcourse.errors import CourseError

EXAMPLE = "padding_mask"
ROW = re.compile(r"^\| \d+ \|.*\n(?!\| \d)", re.M)  # the last one of a table of exercises


def lay_out(root: Path, place: str) -> list[Path]:
    """Write a new exercise.

    Args:
        root: of the course.     place: assignment and name, such as "ps5/my_mask".
    Returns:
        The files that were made or changed: card, record, notebook.
    Raises:
        CourseError: the name cannot be one, is taken, or the assignment has no exercises with cards.
    """
    assignment, _, name = place.partition("/")
    book = root / "solutions" / assignment / f"{assignment}.ipynb"
    records, checks = root / "seqcourse" / "check" / assignment, root / "solutions" / "checks"
    if not (name.isidentifier() and book.is_file() and (records / shipped.FILE).is_file()):
        raise CourseError(
            f"A new exercise should be named like ps5/my_mask, after an assignment that has exercises "
            f"with cards, but is named {place!r}."
        )
    written = json.loads(book.read_text(encoding="utf-8"))
    taken = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in written["cells"]]
    card, record = checks / assignment / f"{name}.txt", records / f"{name.lower()}_record.py"
    if name in taken or card.exists() or record.exists():
        raise CourseError(f"{assignment} has an exercise {name} already. Choose another name.")
    number = 1 + max(task.number for task in progress.read(book).tasks)
    cells, python, words = example(checks / "README.md", assignment, name, number)
    row, *cells = (_cell(assignment, name, kind, text) for kind, text in cells)
    ids = [cell["id"] for cell in written["cells"]]
    end = ids.index(f"{assignment}-used-md") if f"{assignment}-used-md" in ids else len(ids)
    written["cells"][end:end] = cells
    top = ROW.sub(
        lambda last: last[0] + "".join(row["source"]) + "\n", "".join(written["cells"][0]["source"])
    )
    written["cells"][0]["source"] = top.splitlines(keepends=True)
    book.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    card.write_text(words, encoding="utf-8")
    record.write_text(python, encoding="utf-8")
    return [card, record, book]


def example(
    page: Path, assignment: str, name: str, number: int
) -> tuple[list[tuple[str, str]], str, str]:
    """The example's cells by kind, its record and its card, under another name."""
    blocks = re.findall(r"^```(?:text|python)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    for old, new in ((EXAMPLE, name), ("psN", assignment)):
        blocks = [block.replace(old, new) for block in blocks]
    cells = re.sub(r"(Exercise|^\|) N\b", rf"\1 {number}", blocks[0], flags=re.M)
    return re.findall(r"^%% (\w+)\n(.*?)\n(?=%% |\Z)", cells, re.M | re.S), *blocks[1:]


def _cell(assignment: str, name: str, kind: str, text: str) -> dict[str, Any]:
    """A cell of the notebook; kind: row, text, solution, check or grade."""
    cell: dict[str, Any] = {
        "id": f"{assignment}-{name}-{kind}",
        "source": text.splitlines(keepends=True),
    }
    if kind in ("row", "text"):
        return {"cell_type": "markdown", **cell, "id": f"{assignment}-{name}-md", "metadata": {}}
    mark = {
        "cell_type": "code",
        "grade": kind == "grade",
        "grade_id": name if kind == "solution" else f"{name}-{kind}",
        "locked": kind != "solution",
        "schema_version": 3,
        "solution": kind == "solution",
        "task": False,
    }
    if points := re.search(r"(\d+) points?\. ", text):
        mark["points"] = int(points[1])
    tags = {"tags": ["check"]} if kind == "check" else {}
    cell |= {
        "cell_type": "code",
        "execution_count": None,
        "outputs": [],
        "metadata": {"nbgrader": mark, **tags},
    }
    return {key: cell[key] for key in sorted(cell)}


if __name__ == "__main__":
    try:
        made = lay_out(find_root(), sys.argv[1] if len(sys.argv) == 2 else "")
    except CourseError as error:
        sys.exit(str(error))
    print("Now change every piece of:", *made, sep="\n  ")
