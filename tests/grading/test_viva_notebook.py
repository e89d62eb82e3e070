"""A sheet as a notebook: the letters are graded, saved by nbgrader, and no code of it runs."""

from __future__ import annotations

import json

import nbformat
from nbgrader.api import Gradebook

from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark
from cellgrader.people.erase import places
from cellgrader.viva.handout import as_notebook, grade, release
from cellgrader.viva.questions import LOOK, WORD, WORDS, Question
from cellgrader.viva.sheet import Sheet, keep
from cellgrader.viva.sheet_folders import sheet_folder

OPTIONS = ("(2, 3)", "(3, 2)", "(2,)", "(3,)")
QUESTIONS = (
    Question(LOOK, "double", 2, None, "What is the shape of `2 * x` in line 2?", OPTIONS, 1),
    Question(WORD, "double", 2, "return x", "What happens?", tuple(WORDS.values()), 3, "stops"),
)


def handed_out(course, student: str) -> dict:
    """A sheet that was made and released, as the student's notebook."""
    sheet = Sheet("ps1", student, QUESTIONS, {"double": "def double(x):\n    return 2 * x"})
    keep(course, sheet)
    release(course, sheet)
    return notebooks.read(sheet_folder(course, "ps1", student) / "viva-ps1.ipynb")


def hand_in(course, student: str, *answers: str) -> None:
    book = handed_out(course, student)
    cells = [cell for cell in book["cells"] if mark(cell).get("solution")]
    for cell, answer in zip(cells, answers, strict=True):
        cell["source"] = answer
    notebooks.write(book, course.submitted / student / "viva-ps1" / "viva-ps1.ipynb")


def test_letters_become_points_in_the_gradebook(toy, tmp_path):
    note = tmp_path / "note"
    hand_in(toy, "ada", 'answer_1 = "b"  # two rows', "answer_2 = 'D'")
    hand_in(toy, "ben", 'answer_1 = "a"', f"open({str(note)!r}, 'w')\nanswer_2 = 'abcd'")
    hand_in(toy, "cyd", "answer_1 = None", 'answer_2 = "a"\nanswer_2 = "d"')
    broken = toy.submitted / "dee" / "viva-ps1" / "viva-ps1.ipynb"
    hand_in(toy, "dee", 'answer_1 = "b"', 'answer_2 = "d"')
    broken.write_text("{", encoding="utf-8")
    handed_out(toy, "eve")
    done = {record.student: (points, many) for record, points, many in grade(toy, "ps1")}
    assert done == {"ada": (2.0, 2), "ben": (0.0, 2), "cyd": (1.0, 2), "dee": (0, 2)}
    assert not note.exists()
    with Gradebook(toy.gradebook_url) as gradebook:
        scores = {one.student.id: one.score for one in gradebook.assignment_submissions("viva-ps1")}
        assert scores == {"ada": 2.0, "ben": 0.0, "cyd": 1.0}
        assert gradebook.find_assignment("viva-ps1").max_score == 2.0
    graded = notebooks.read(toy.autograded / "ben" / "viva-ps1" / "viva-ps1.ipynb")
    said = json.dumps(graded)
    assert "answer_1: 'a' is not the right one." in said and "answer_2 should be one letter" in said
    again = {record.student: points for record, points, _ in grade(toy, "ps1")}
    assert again["ada"] == 2.0
    assert {path.name for path in places(toy, "ada") if path.exists()} >= {"ada", "ada.json"}


def test_the_notebook_is_whole_and_does_not_tell_the_answers():
    sheet = Sheet("ps1", "ada", QUESTIONS, {"double": "def double(x):\n    return 2 * x"})
    book = as_notebook(sheet)
    nbformat.validate(book)
    other = tuple(Question(**{**vars(one), "right": 0, "note": "other"}) for one in QUESTIONS)
    same = as_notebook(Sheet("ps1", "ada", other, sheet.code))
    assert nbformat.writes(same) == nbformat.writes(book)
    text = book.cells[1].source
    assert "      2      return 2 * x" in text and "- b: (3, 2)" in text
    assert [mark(cell).get("points") for cell in book.cells if mark(cell).get("grade")] == [1.0, 1.0]
