"""Points given by hand count until the answer changes; then somebody has to look again.

nbgrader keeps such points when work is graded again, and asks for a second look at all of them. Here
it asks only where the answer is another one than the points were given for, and until somebody has
looked, those points are held back: they stand in no table and no export.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import determine_grade

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.cells import squeeze

if TYPE_CHECKING:
    from nbgrader.api import Grade

WAITS = "waits for a grade by hand"
CHANGED = "changed since it was graded by hand"


def pending(grade: Grade) -> str:
    """What a grade waits for: WAITS, CHANGED, or "" where it is final."""
    if not grade.needs_manual_grade:
        return ""
    return WAITS if grade.manual_score is None else CHANGED


def counted(grade: Grade) -> float:
    """The points of a grade that count now."""
    return 0.0 if pending(grade) else float(grade.score or 0.0)


_init_destination = Autograde.init_destination


def _remember(self: Autograde, assignment_id: str, student_id: str) -> bool:
    """Keep the answers that were graded before, which nbgrader is about to remove."""
    self.graded_before = {}
    folder = Path(self.coursedir.root, self._format_dest(assignment_id, student_id))
    for path in folder.glob("*.ipynb"):
        try:
            self.graded_before[path.stem] = _answers(notebooks.read(path))
        except CourseError:
            continue  # damaged: what it held is not known
    return _init_destination(self, assignment_id, student_id)


# nbgrader has no setting for it.
Autograde.init_destination = _remember


def _answers(book: dict) -> dict[str, str]:
    """Each graded cell with the answer it grades: its own text, or the answer before it."""
    found, answer = {}, ""
    for cell in book["cells"]:
        mark = notebooks.mark(cell)
        if mark.get("solution"):
            answer = squeeze(notebooks.text(cell))
        if mark.get("grade"):
            found[mark["grade_id"]] = answer
    return found


class HoldBack(NbGraderPreprocessor):
    """Marks points given by hand whose answer has changed, before anything of the old is replaced."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbgrader.api import Gradebook

        told = resources["nbgrader"]
        before = self.parent.parent.graded_before.get(told["notebook"], {})
        now = _answers(nb)
        with Gradebook(told["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(
                told["notebook"], told["assignment"], told["student"]
            )
            for grade in submitted.grades:
                same = grade.name in before and before[grade.name] == now.get(grade.name)
                if grade.manual_score is not None and not same:
                    grade.needs_manual_grade = True
            gradebook.db.commit()
        return nb, resources


class SaveGrades(SaveAutoGrades):
    """nbgrader's, without the second look at all points given by hand: HoldBack has said at which."""

    def _add_score(self, cell: Any, resources: Any) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"],
            self.notebook_id,
            self.assignment_id,
            self.student_id,
        )
        grade.auto_score, _ = determine_grade(cell, self.log)
        if grade.manual_score is None:
            grade.needs_manual_grade = grade.auto_score is None
        self.gradebook.db.commit()
