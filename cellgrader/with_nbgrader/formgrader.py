"""nbgrader's formgrader: what a person who grades by hand has beside a student's answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell
from traitlets import Unicode

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.release.adapt import class_notebook

RUBRIC = "**Rubric"
BESIDE = "<details open><summary>Rubric and model answer</summary>\n\n{}\n\n</details>"


class ShowModel(Preprocessor):
    """Puts the rubric and the model answer below each answer that is graded by hand.

    Only on the formgrader's pages, which alone are told the number of a submission: students get theirs
    from the same exporter.
    """

    enabled = True
    root = Unicode(help="the course's folder").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        if "submission_id" not in resources:
            return nb, resources
        models = self._models(resources["assignment_id"])
        cells = []
        for cell in nb.cells:
            mark = cell.metadata.get("nbgrader", {})
            by_hand = mark.get("grade") and mark.get("solution")
            model = models.get(mark.get("grade_id")) if by_hand else None
            cells += [cell, new_markdown_cell(BESIDE.format(model))] if model else [cell]
        nb.cells = cells
        return nb, resources

    def _models(self, name: str) -> dict[str, str]:
        """The text of each written answer in the instructor's notebook; none if it cannot be read."""
        try:
            cells = class_notebook(Course(Path(self.root)), name)["cells"]
        except (CourseError, OSError, ValueError):
            return {}
        return {
            mark["grade_id"]: _rubric_first(notebooks.without_markers(notebooks.text(cell)))
            for cell in cells
            if (mark := notebooks.mark(cell)).get("grade") and mark.get("solution")
        }


def _rubric_first(text: str) -> str:
    model, rubric, points = text.partition(RUBRIC)
    return f"{rubric}{points.rstrip()}\n\n{model.strip()}"
