"""`make exercise NAME=ps5/my_mask`: lay out a new exercise as a copy of a small one, to be changed.

The card and the record are the example of solutions/checks/README.md, the cells those of `padding_mask`
of assignment 5, all under the new name; the table at the top of the notebook gets a row.
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

FROM, EXAMPLE = "ps5", "padding_mask"
ROW = re.compile(r"^\| \d+ \|.*\n(?!\| \d)", re.M)  # the last one of a table of exercises
BLOCK = re.compile(r"^```(?:text|python)\n(.*?)^```", re.M | re.S)


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
    book, records = _notebook(root, assignment), root / "seqcourse" / "check" / assignment
    if not (name.isidentifier() and book.is_file() and (records / shipped.FILE).is_file()):
        raise CourseError(
            f"A new exercise should be named like ps5/my_mask, after an assignment that has exercises "
            f"with cards, but is named {place!r}."
        )
    checks = root / "solutions" / "checks"
    card, record = checks / assignment / f"{name}.txt", records / f"{name.lower()}_record.py"
    written = json.loads(book.read_text(encoding="utf-8"))
    taken = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in written["cells"]]
    if name in taken or card.exists() or record.exists():
        raise CourseError(f"{assignment} has an exercise {name} already. Choose another name.")
    _add_cells(written, _cells(root), assignment, name, 1 + progress.read(book).tasks[-1].number)
    book.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    blocks = BLOCK.findall((checks / "README.md").read_text(encoding="utf-8"))
    for path, block in zip((record, card), blocks, strict=True):
        path.write_text(block.replace(EXAMPLE, name), encoding="utf-8")
    return [card, record, book]


def _notebook(root: Path, assignment: str) -> Path:
    return root / "solutions" / assignment / f"{assignment}.ipynb"


def _cells(root: Path) -> list[dict[str, Any]]:
    """The cells to copy."""
    found = json.loads(_notebook(root, FROM).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["id"].startswith(f"{FROM}-{EXAMPLE}-")]


def _add_cells(book: dict, cells: list[dict], assignment: str, name: str, number: int) -> None:
    """Put copies of the cells before the last section of a notebook, and a row into its table."""
    copied = json.dumps(cells).replace(FROM, assignment).replace(EXAMPLE, name)
    copied = re.sub(r"Exercise \d+", f"Exercise {number}", copied).replace("2 + 2 points", "2 points")
    ids = [cell["id"] for cell in book["cells"]]
    last = f"{assignment}-used-md"
    end = ids.index(last) if last in ids else len(ids)
    book["cells"][end:end] = json.loads(copied)
    top = "".join(book["cells"][0]["source"])
    top = ROW.sub(lambda row: f"{row[0]}| {number} | `{name}` | 2 | 10 |\n", top)
    book["cells"][0]["source"] = top.splitlines(keepends=True)


if __name__ == "__main__":
    try:
        made = lay_out(find_root(), sys.argv[1] if len(sys.argv) == 2 else "")
    except CourseError as error:
        sys.exit(str(error))
    print("Now change every piece of:", *made, sep="\n  ")
