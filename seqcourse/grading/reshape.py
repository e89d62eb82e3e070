"""Add and remove exercises after work was graded, and keep the points that were given by hand.

nbgrader refuses to change the cells of an assignment that has submissions. Here the gradebook is made to
fit first: a new cell gets an empty grade in each submission; a removed cell takes its grades along.
"""

from __future__ import annotations

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course

# The kinds of nbgrader's cells, and which of its marks make one.
KINDS = {
    "grade": lambda mark: mark.get("grade"),
    "solution": lambda mark: mark.get("solution"),
    "source": lambda mark: mark.get("grade") or mark.get("solution") or mark.get("locked"),
}


def reshape(course: Course, name: str, book: dict) -> list[str]:
    """Make the gradebook's cells those of a notebook; sentences say what changed.

    Without submissions nothing is done: nbgrader then replaces the cells itself.
    """
    from nbgrader.api import Comment, Gradebook, MissingEntry
    from nbgrader.api import Grade as Row

    told = []
    with Gradebook(course.gradebook_url) as gradebook:
        try:
            known = gradebook.find_notebook(name, name)
        except MissingEntry:
            return []
        if not known.submissions:
            return []
        for kind, belongs in KINDS.items():
            cells = {
                notebooks.mark(cell)["grade_id"]: cell
                for cell in book["cells"]
                if belongs(notebooks.mark(cell))
            }
            old = {cell.name: cell for cell in getattr(known, f"{kind}_cells")}
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
                gone = sorted(old.keys() - cells.keys())
                told += [f"{cell} is new: grade again, and everybody gets its points." for cell in added]
                told += [f"{cell} was removed, and its points with it." for cell in gone]
        gradebook.db.commit()
    return told
