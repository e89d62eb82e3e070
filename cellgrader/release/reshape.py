"""Add and remove exercises after work was graded, and keep the points that were given by hand.

nbgrader refuses to change the cells of an assignment that has submissions. Here the gradebook is made to
fit first: a new cell gets an empty grade in each submission; a removed cell takes its grades along.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import opened
from cellgrader.notebook import document as notebooks

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

# The kinds of nbgrader's cells, and which of its marks make one.
KINDS = {
    "grade": lambda mark: mark.get("grade"),
    "solution": lambda mark: mark.get("solution"),
    "source": lambda mark: mark.get("grade") or mark.get("solution") or mark.get("locked"),
}


def reshape(course: Course, name: str, book: dict) -> list[str]:
    """Make the gradebook's cells those of a notebook; sentences say what changed.

    Without submissions nothing is done: nbgrader then replaces the cells itself. Before grades leave
    the gradebook they are written to a file, so that a cell that was only renamed loses nothing.
    """
    from nbgrader.api import Comment, MissingEntry
    from nbgrader.api import Grade as Row

    told: list[str] = []
    with opened(course) as gradebook:
        told += _only_the_assignment(course, name, gradebook)
        try:
            known = gradebook.find_notebook(name, name)
        except MissingEntry:
            return told
        if not known.submissions:
            return told
        for kind, belongs in KINDS.items():
            cells = {
                notebooks.mark(cell)["grade_id"]: cell
                for cell in book["cells"]
                if belongs(notebooks.mark(cell))
            }
            old = {cell.name: cell for cell in getattr(known, f"{kind}_cells")}
            if kind == "grade" and old.keys() - cells.keys():
                told.append(
                    _keep(course, name, [old[gone] for gone in sorted(old.keys() - cells.keys())])
                )
            for cell in [old[gone] for gone in old.keys() - cells.keys()]:
                for row in [*getattr(cell, "grades", ()), *getattr(cell, "comments", ())]:
                    gradebook.db.delete(row)
                gradebook.db.flush()
                gradebook.db.delete(cell)
            for new in [new for new in cells if new not in old]:
                options = {"cell_type": cells[new]["cell_type"]} if kind != "solution" else {}
                if kind == "grade":
                    options["max_score"] = float(notebooks.mark(cells[new]).get("points", 0))
                made = getattr(gradebook, f"add_{kind}_cell")(new, name, name, **options)
                for submitted in known.submissions if kind != "source" else ():
                    row = Row if kind == "grade" else Comment
                    gradebook.db.add(row(cell_id=made.id, notebook=submitted))
            if kind == "grade":
                added = [new for new in cells if new not in old]
                told += [f"{cell} is new: grade again, and everybody gets its points." for cell in added]
        gradebook.db.commit()
    return told


def _only_the_assignment(course: Course, name: str, gradebook: Gradebook) -> list[str]:
    """Take other notebooks of an assignment out of the gradebook; sentences say which."""
    from nbgrader.api import MissingEntry

    try:
        books = gradebook.find_assignment(name).notebooks
    except MissingEntry:
        return []
    told = []
    for book in [book for book in books if book.name != name]:
        told.append(f"{book.name}.ipynb is no part of {name}: it was taken out of the gradebook.")
        grades = [grade for cell in book.grade_cells for grade in cell.grades]
        if any(grade.manual_score is not None for grade in grades):
            told.append(_keep(course, name, book.grade_cells))
        gradebook.remove_notebook(book.name, name)
    return told


def _keep(course: Course, name: str, cells: list) -> str:
    """Write the points and comments of cells that are about to go to a file; a sentence says where."""
    rows = []
    for cell in cells:
        for grade in cell.grades:
            comments = {comment.name: comment.manual_comment for comment in grade.notebook.comments}
            rows.append(
                {
                    "student": grade.notebook.student.id,
                    "cell": cell.name,
                    "automatic": grade.auto_score,
                    "by hand": grade.manual_score,
                    "comment": comments.get(cell.name),
                }
            )
    number = 1
    while (file := course.folder / f"removed-{name}-{number}.json").exists():
        number += 1
    notebooks.write_text(file, json.dumps(rows, indent=1) + "\n")
    gone = ", ".join(cell.name for cell in cells)
    return f"No longer in {name}: {gone}. The points are kept in {course.grading}/{file.name}."
