"""`seqcourse course` on the toy: its steps, and that a wrong grade does not go unnoticed."""

from __future__ import annotations

import pytest

from cellgrader.errors import CourseError
from cellgrader.marks.scores import Row, Scores
from cellgrader.release import sample
from seqcourse.cli import course as course_command
from seqcourse.cli import grading as grading_command


@pytest.fixture
def on_the_toy(toy, monkeypatch):
    """The command run on the toy, with the book and the grading exchanged for quick ones."""

    def book(root, steps):
        with steps.step("Executing and rendering the book"):
            return root / "_build" / "html" / "index.html"

    monkeypatch.setattr(course_command, "find_root", lambda: toy.root)
    monkeypatch.setattr(course_command, "_book", book)

    def run(spoil: str | None = None) -> None:
        def grade_assignment(course, name, steps, students, how):
            expected = sample.make_submissions(course, name)
            rows = []
            for student in students:
                outcome = expected[student]
                points = outcome.points and {task: low for task, (low, _) in outcome.points.items()}
                if student == spoil:
                    points = {**points, "double": 0.0}
                rows.append(Row(student, outcome.status[0], "", points))
            return Scores(name, (), tuple(rows))

        monkeypatch.setattr(grading_command, "grade_assignment", grade_assignment)
        course_command.whole_course()

    return run


def test_its_steps_are_shown(on_the_toy, toy, capsys):
    on_the_toy()
    told = capsys.readouterr().out
    for number in range(1, 5):
        assert f"[{number}/4] " in told
    assert "assignments/ps1" in told and "ps1.ipynb" in told
    assert "Grading the sample class: ps1" in told
    assert "_build/html/index.html" in told.replace("\n", "")
    assert (toy.folder / "sample" / "submitted" / "perfect" / "ps1" / "ps1.ipynb").exists()


def test_a_wrong_grade_is_an_error(on_the_toy):
    with pytest.raises(CourseError, match="ps1, perfect: double should get 3 points, but got 0"):
        on_the_toy(spoil="perfect")
