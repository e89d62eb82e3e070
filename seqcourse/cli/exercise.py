"""`make exercise NAME=ps5/my_mask`: lay out a new exercise as a copy of a small one, to be changed.

The card and the record are the example of solutions/checks/README.md, the cells those of `padding_mask`
of assignment 5, all under the new name; the table at the top of the notebook gets a row.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from seqcourse import progress
from seqcourse.check.cards import shipped
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
    book, source = (root / "solutions" / of / f"{of}.ipynb" for of in (assignment, FROM))
    checks, records = root / "solutions" / "checks", root / "seqcourse" / "check" / assignment
    if not (name.isidentifier() and book.is_file() and (records / shipped.FILE).is_file()):
        raise CourseError(
            f"A new exercise should be named like ps5/my_mask, after an assignment that has exercises "
            f"with cards, but is named {place!r}."
        )
    card, record = checks / assignment / f"{name}.txt", records / f"{name.lower()}_record.py"
    written, example = (json.loads(path.read_text(encoding="utf-8")) for path in (book, source))
    taken = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in written["cells"]]
    if name in taken or card.exists() or record.exists():
        raise CourseError(f"{assignment} has an exercise {name} already. Choose another name.")
    last = progress.read(book).tasks[-1].number
    _add(written["cells"], example["cells"], assignment, name, last + 1)
    book.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    blocks = BLOCK.findall((checks / "README.md").read_text(encoding="utf-8"))
    for path, block in zip((record, card), blocks, strict=True):
        path.write_text(block.replace(EXAMPLE, name), encoding="utf-8")
    return [card, record, book]


def _add(cells: list[dict], copied: list[dict], assignment: str, name: str, number: int) -> None:
    """Put copies of the example's cells before the last section, and a row into the table."""
    text = json.dumps([cell for cell in copied if cell["id"].startswith(f"{FROM}-{EXAMPLE}-")])
    text = re.sub(r"Exercise \d+", f"Exercise {number}", text).replace("2 + 2 points", "2 points")
    cells[-2:-2] = json.loads(text.replace(FROM, assignment).replace(EXAMPLE, name))
    top = "".join(cells[0]["source"])
    top = ROW.sub(lambda row: f"{row[0]}| {number} | `{name}` | 2 | 10 |\n", top)
    cells[0]["source"] = top.splitlines(keepends=True)


if __name__ == "__main__":
    try:
        made = lay_out(find_root(), sys.argv[1] if len(sys.argv) == 2 else "")
    except CourseError as error:
        sys.exit(str(error))
    print("Now change every piece of:", *made, sep="\n  ")
