"""Manual points: they count until the answer changes, and then need a second look.

When nbgrader grades a submission again, it keeps manual points and flags all of them for review. Here
only points whose answer has changed are flagged, and flagged points are left out of every table and
export until they have been reviewed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import determine_grade

from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.cells import squeeze

if TYPE_CHECKING:
    from nbgrader.api import Grade

WAITS = "waits for a grade by hand"
CHANGED = "changed since it was graded by hand"


def pending(grade: Grade) -> str:
    """Why a grade is not final: WAITS, CHANGED, or "" if it is final."""
    if not grade.needs_manual_grade:
        return ""
    return WAITS if grade.manual_score is None else CHANGED


def counted(grade: Grade) -> float:
    """The points of a grade; 0 while it is pending."""
    return 0.0 if pending(grade) else float(grade.score or 0.0)


_init_destination = Autograde.init_destination


def _keep_old_answers(self: Autograde, assignment_id: str, student_id: str) -> bool:
    """Remember the previously graded answers before nbgrader deletes them."""
    self.graded_before = {}
    folder = Path(self.coursedir.root, self._format_dest(assignment_id, student_id))
    for path in folder.glob("*.ipynb"):
        try:
            self.graded_before[path.stem] = answers_of(notebooks.read(path))
        except CourseError:
            continue  # a damaged notebook: its old answers are unknown
    return _init_destination(self, assignment_id, student_id)


# nbgrader has no setting for this.
Autograde.init_destination = _keep_old_answers


def answers_of(book: dict) -> dict[str, str]:
    """Map each grade cell to the answer it grades: its own source, or the last answer cell before it."""
    found, answer = {}, ""
    for cell in book["cells"]:
        mark = notebooks.mark(cell)
        if mark.get("solution"):
            answer = squeeze(notebooks.text(cell))
        if mark.get("grade"):
            found[mark["grade_id"]] = answer
    return found


def same_answers(old: dict, new: dict) -> set[str]:
    """The grade cells whose answer is the same in two notebooks."""
    before, now = answers_of(old), answers_of(new)
    return {cell for cell in before if before[cell] == now.get(cell)}


class HoldBack(NbGraderPreprocessor):
    """Flags manual points whose answer has changed since they were given."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbgrader.api import Gradebook

        info = resources["nbgrader"]
        before = self.parent.parent.graded_before.get(info["notebook"], {})
        now = answers_of(nb)
        with Gradebook(info["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(
                info["notebook"], info["assignment"], info["student"]
            )
            for grade in submitted.grades:
                same = grade.name in before and before[grade.name] == now.get(grade.name)
                if grade.manual_score is not None and not same:
                    grade.needs_manual_grade = True
            gradebook.db.commit()
        return nb, resources


class SaveGrades(SaveAutoGrades):
    """nbgrader's step, except that it does not flag all manual points: HoldBack has set the flags."""

    def _add_score(self, cell: Any, resources: Any) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"], self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score, _ = determine_grade(cell, self.log)
        if grade.manual_score is None:
            grade.needs_manual_grade = grade.auto_score is None
        self.gradebook.db.commit()
