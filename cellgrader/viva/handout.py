"""The sheet as a short notebook: released to one student, graded by the letters, saved by nbgrader.

No code of such a notebook is run: an answer is one letter, and it is read from the text of its cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook, opened
from cellgrader.course.records import GRADED, Record
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import UNREADABLE, NotGradable
from cellgrader.processes.limited import TooCostly, limited
from cellgrader.run.examine import READING, Examination, read
from cellgrader.run.outcome import outputs
from cellgrader.submission.collected import Submission
from cellgrader.viva.questions import LETTERS
from cellgrader.viva.sheet import Sheet, kept
from cellgrader.viva.sheet_folders import called, sheet_folder
from cellgrader.viva.table import setting

if TYPE_CHECKING:
    from nbformat import NotebookNode

POINTS = 1.0  # of each question
GRADE_CELL = "# Your letter is graded here."
_LETTER = re.compile(r"""^answer_\d+[ \t]*=[ \t]*(["'])([a-dA-D])\1[ \t]*(?:#[^\n]*)?$""", re.M)


def as_notebook(sheet: Sheet) -> NotebookNode:
    """The notebook for one student; nothing in it depends on which answers are right."""
    cells = [
        new_markdown_cell(
            f"# {sheet.assignment}: questions about your code\n\nThese questions are about the code "
            'that you handed in. Write one letter for each, such as `answer_1 = "a"`, and why.',
            id="title",
        )
    ]
    before = ""
    for number, question in enumerate(sheet.questions, start=1):
        listing = ""
        if question.exercise != before:
            before = question.exercise
            lines = enumerate(sheet.code[before].splitlines(), start=1)
            code = "\n".join(f"    {line:3}  {text}" for line, text in lines)
            listing = f"## {before}\n\n{code}\n\n"
        options = "\n".join(
            f"- {letter}: {option}" for letter, option in zip(LETTERS, question.options, strict=True)
        )
        words = f"{setting(question)} {question.words}".strip()
        text = f"{listing}### Question {number}\n\n{words}\n\n{options}"
        cells += [
            new_markdown_cell(text, id=f"question-{number}"),
            _answer_cell(number),
            _grade_cell(number),
        ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(book)
    return book


def _answer_cell(number: int) -> NotebookNode:
    return _cell(f"answer_{number}", f"answer_{number} = None  # because", solution=True)


def _grade_cell(number: int) -> NotebookNode:
    return _cell(f"answer_{number}-grade", GRADE_CELL, grade=True, points=POINTS)


def _cell(name: str, source: str, **flags: object) -> NotebookNode:
    mark = {"grade_id": name, "schema_version": 3, "cell_type": "code", "solution": False}
    mark |= {"grade": False, "task": False, "locked": "grade" in flags, **flags}
    return new_code_cell(source, id=name.replace("_", "-"), metadata={"nbgrader": mark})


def release(course: Course, sheet: Sheet) -> None:
    """Write the notebook into the student's folder of sheets."""
    name = called(sheet.assignment)
    folder = sheet_folder(course, sheet.assignment, sheet.student)
    notebooks.write(as_notebook(sheet), folder / f"{name}.ipynb")


def grade(course: Course, name: str) -> Iterator[tuple[Record, float, int]]:
    """Grade what was handed in as submitted/STUDENT/viva-psN/viva-psN.ipynb, and save it.

    Yields:
        For each student the record, the points and the number of questions.
    """
    from cellgrader.with_nbgrader.save import Saver

    sheets = [sheet for sheet in kept(course, name) if course.handed_in(sheet.student, called(name))]
    open_gradebook(course)
    _enter(course, name, max((len(sheet.questions) for sheet in sheets), default=0))
    saver = Saver(course, called(name))
    for sheet in sheets:
        folder = course.submitted / sheet.student / called(name)
        done = _examined(course, sheet)
        submission = Submission((sheet.student,), sheet.student, 1, folder_snapshot(folder))
        record = saver.save(done, submission, "")
        points = sum(done.points.values()) if record.has_grade else 0.0
        yield record, points, len(sheet.questions)


def _examined(course: Course, sheet: Sheet) -> Examination:
    """Compare a student's letters with the right ones."""
    name, student = called(sheet.assignment), sheet.student
    given = notebooks.read(sheet_folder(course, sheet.assignment, student) / f"{name}.ipynb")
    try:
        mended, _ = limited(READING, read, course.submitted / student / name, name, given)
    except NotGradable as problem:
        return Examination(name, student, problem.status, str(problem))
    except TooCostly as problem:
        return Examination(name, student, UNREADABLE, str(problem))
    book = nbformat.from_dict(mended.notebook)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in book.cells}
    points, messages = {}, {}
    for number, question in enumerate(sheet.questions, start=1):
        key = f"answer_{number}-grade"
        found = _LETTER.findall(cells[f"answer_{number}"].source)
        letter = found[-1][1].lower() if found else ""
        points[key] = POINTS if letter == question.letter else 0.0
        messages[key] = "" if points[key] else _why(number, letter)
        cells[key].outputs = outputs(points[key], POINTS, messages[key])
    return Examination(
        name, student, GRADED, notebook=nbformat.writes(book), points=points,
        messages=messages, remarks=mended.remarks,
    )  # fmt: skip


def _why(number: int, letter: str) -> str:
    if not letter:
        return f'answer_{number} should be one letter, such as "a", but there is none.'
    return f"answer_{number}: {letter!r} is not the right one."


def _enter(course: Course, name: str, many: int) -> None:
    """Enter the sheet into the gradebook as an assignment with so many graded cells."""
    from nbgrader.utils import compute_checksum

    book = called(name)
    kernel = json.dumps({"display_name": "Python 3", "language": "python", "name": "python3"})
    with opened(course) as gradebook:
        gradebook.update_or_create_assignment(book)
        gradebook.update_or_create_notebook(book, book, kernelspec=kernel)
        for number in range(1, many + 1):
            key, answer = f"answer_{number}-grade", f"answer_{number}"
            gradebook.update_or_create_grade_cell(key, book, book, max_score=POINTS, cell_type="code")
            gradebook.update_or_create_solution_cell(answer, book, book)
            for cell in (_answer_cell(number), _grade_cell(number)):
                gradebook.update_or_create_source_cell(
                    cell.metadata.nbgrader.grade_id,
                    book,
                    book,
                    cell_type="code",
                    source=cell.source,
                    locked=cell.metadata.nbgrader.locked,
                    checksum=compute_checksum(cell),
                )
