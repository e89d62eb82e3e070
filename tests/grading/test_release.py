"""What a release refuses and warns of, and how exercises come and go after work was graded."""

from __future__ import annotations

import json

import pytest
from nbgrader.api import Gradebook

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.records import GRADED, Record
from seqcourse.grading.release import release
from seqcourse.grading.scores import read_scores

from .toy import answer, hidden_test, solved


def change(course, *more: dict, without: str = "nothing") -> None:
    """Change the toy's notebook: leave out an exercise, add cells before the written answer."""
    path = course.solution("ps1")
    book = notebooks.read(path)
    kept = [cell for cell in book["cells"] if not cell["id"].startswith(without)]
    path.write_text(json.dumps(book | {"cells": [*kept[:-1], *more, kept[-1]]}))


def test_a_graded_cell_without_check_is_named_at_once(toy):
    release(toy)
    before = (toy.assignments / "ps1" / "ps1.ipynb").read_bytes()
    change(toy, answer("triple", solved("triple", "x", "3 * x")), hidden_test("triple", 2))
    with pytest.raises(CourseError, match="but triple-test has neither"):
        release(toy)
    assert (toy.assignments / "ps1" / "ps1.ipynb").read_bytes() == before


def test_other_points_than_the_text_says_are_warned_of(toy):
    text = {"cell_type": "markdown", "id": "text", "metadata": {}}
    text["source"] = "## Exercise 9 · Twice\n\n**3 + 2 points · about 5 minutes**"
    change(toy, text)
    (released,) = release(toy)
    (warning,) = released.warnings
    assert "'Exercise 9 · Twice' says 5 points, but its cells have 2" in warning
    change(toy, without="text")
    assert release(toy)[0].warnings == ()


def test_exercises_come_and_go_after_grading_and_points_by_hand_stay(toy):
    release(toy)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission("ps1", "ada")
        for grade in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            grade.auto_score, grade.needs_manual_grade = 1.0, False
        gradebook.find_grade("why", "ps1", "ps1", "ada").manual_score = 1.5
        gradebook.find_comment("why", "ps1", "ps1", "ada").manual_comment = "Good."
        gradebook.db.commit()
    checks = toy.solutions / "checks" / "ps1.py"
    more = 'CHECKS.append(check("triple", {"a number": {"x": 3}}, lambda x: 3 * x))\n'
    checks.write_text(checks.read_text() + more)
    triple = answer("triple", solved("triple", "x", "3 * x")), hidden_test("triple", 2)
    change(toy, *triple, without="poll")
    (released,) = release(toy)
    assert released.warnings == (
        f"No longer in ps1: poll-test. The points are kept in {toy.grading}/removed-ps1-1.json.",
        "triple-test is new: grade again, and everybody gets its points.",
    )
    (kept,) = json.loads((toy.folder / "removed-ps1-1.json").read_text(encoding="utf-8"))
    assert (kept["student"], kept["cell"], kept["automatic"]) == ("ada", "poll-test", 1.0)
    row = read_scores(toy, "ps1", [Record("ps1", "ada", GRADED, "")]).row("ada")
    assert row.points == {"double": 1, "half": 1, "quadruple": 1, "triple": 0, "why": 1.5}
    with Gradebook(toy.gradebook_url) as gradebook:
        assert gradebook.find_comment("why", "ps1", "ps1", "ada").manual_comment == "Good."
        assert gradebook.find_grade("triple-test", "ps1", "ps1", "ada").max_score == 2
        assert gradebook.find_comment("triple", "ps1", "ps1", "ada")
    assert release(toy)[0].warnings == ()
