"""Feedback pages: what failed and why, never the hidden check."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from seqcourse.errors import CourseError
from seqcourse.grading.course import Course
from seqcourse.grading.release import last_line

BEGIN = "BEGIN HIDDEN TESTS"
END = "END HIDDEN TESTS"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
WIDTH = 88
INSTEAD = "# Hidden checks ran here; what they found stands below."


class HideChecks(NbGraderPreprocessor):
    """Take the hidden checks out of a graded notebook before it becomes a page.

    Their source is replaced by one line. A traceback would quote it, so errors below such a cell
    keep their name and sentence only.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if cell.cell_type != "code" or BEGIN not in cell.source:
            return cell, resources
        lines = []
        inside = False
        for line in cell.source.split("\n"):
            if BEGIN in line:
                inside = True
                lines.append(INSTEAD)
            elif END in line:
                inside = False
            elif not inside:
                lines.append(line)
        cell.source = "\n".join(lines)
        for output in cell.outputs:
            if output.output_type == "error":
                sentence = COLOUR.sub("", f"{output.ename}: {output.evalue}").removesuffix(": ")
                output.traceback = textwrap.wrap(sentence, width=WIDTH) or [output.ename]
        return cell, resources


class ShowPoints(NbGraderPreprocessor):
    """Put a table at the top of the page: each test by name, with its points.

    The page's own list says "Test cell" for all of them and leaves out those that were deleted.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from nbformat.v4 import new_markdown_cell
        from nbgrader.api import Gradebook

        told = resources["nbgrader"]
        there = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells]
        place = {name: index for index, name in enumerate(there)}  # the deleted ones come last
        lines = ["| test or answer | points | |", "|---|---|---|"]
        with Gradebook(told["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(
                told["notebook"], told["assignment"], told["student"]
            )
            for grade in sorted(notebook.grades, key=lambda grade: place.get(grade.name, len(there))):
                remark = ""
                if grade.name not in place:
                    remark = "the cell was deleted from the notebook"
                elif grade.needs_manual_grade and grade.manual_score is None:
                    remark = "not graded yet"
                name = grade.name.replace("-grade", "")
                lines.append(f"| {name} | {grade.score:g} of {grade.max_score:g} | {remark} |")
        nb.cells.insert(0, new_markdown_cell("\n".join(lines)))
        return nb, resources


def make_feedback(course: Course, name: str, student: str) -> Path:
    """Write the feedback page of one graded submission and return its path.

    Raises:
        CourseError: there is no graded submission, or nbgrader could not make the page.
    """
    graded = course.autograded / student / name
    if not graded.is_dir():
        raise CourseError(
            f"{student} should have a graded {name} in {course.grading}/autograded, but has none. "
            f"Grade first: seqcourse grade {name}"
        )
    outcome = course.api().generate_feedback(name, student, force=True)
    if not outcome["success"]:
        raise CourseError(
            f"nbgrader should have made {student}'s feedback on {name}, but said: {last_line(outcome)}."
        )
    return course.feedback / student / name / f"{name}.html"
