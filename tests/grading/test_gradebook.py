"""The gradebook moved away, replaced, damaged or locked: each command grades anew or says so."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from cellgrader.course import gradebook
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.export import read_course
from cellgrader.marks.in_gradebook import LOST
from cellgrader.marks.scores import read_scores
from cellgrader.release import sample
from cellgrader.release.generate import release
from seqcourse.cli.app import app
from seqcourse.cli.grading import write_feedback

from .here import examine_here

COMMANDS = [
    ("release", "ps1"),
    ("grade", "ps1", "--unsafe-no-sandbox"),
    ("grade", "ps1", "--preview", "--unsafe-no-sandbox"),
    ("feedback", "ps1"),
    ("report", "ps1"),
    ("export", "ps1", "--csv", "table.csv"),
    ("history", "ps1"),
    ("appeals", "ps1"),
    ("extend", "ps1", "perfect", "1d"),
    ("drop", "perfect"),
]


@pytest.fixture(scope="module")
def graded_once(released_toy, tmp_path_factory) -> Course:
    """Two students, of whom one has a mark of 10."""
    course = Course(tmp_path_factory.mktemp("graded") / "course")
    shutil.copytree(released_toy.root, course.root)
    (course.root / "book").mkdir(exist_ok=True)
    sample.make_submissions(course, "ps1", ("perfect", "broken"))
    with pytest.MonkeyPatch.context() as patch:
        examine_here(patch)
        grade(course, "ps1", how=How(workers=1, unsafe=True))
    return course


@pytest.fixture
def graded(graded_once, tmp_path, monkeypatch) -> Course:
    """A fresh copy of the graded class, in which the commands are given."""
    course = Course(tmp_path / "course")
    shutil.copytree(graded_once.root, course.root)
    examine_here(monkeypatch)
    monkeypatch.chdir(course.root)
    return course


def refusal_of(*command: str) -> str:
    """What the command refuses with; "" if it does not. No other error is raised."""
    try:
        CliRunner().invoke(app, list(command), catch_exceptions=False)
    except CourseError as refusal:
        return str(refusal)
    return ""


def moved_away(course: Course) -> None:
    shutil.move(course.folder / "gradebook.db", course.root)


def emptied(course: Course) -> None:
    (course.folder / "gradebook.db").write_bytes(b"")


def given_another_address(course: Course) -> None:
    address = f'gradebook = "sqlite:///{course.root / "another.db"}"\n'
    (course.root / "course.toml").write_text(address)


@pytest.mark.parametrize(
    "happened",
    [
        moved_away,
        *(pytest.param(each, marks=pytest.mark.nightly) for each in (emptied, given_another_address)),
    ],
)
def test_without_its_gradebook_work_is_graded_anew(graded, happened):
    records = grade(graded, "ps1", how=How(workers=1, unsafe=True))
    happened(graded)
    assert "Grade first" in refusal_of("export", "ps1", "--csv", "table.csv")
    release(graded, ["ps1"])
    # What only reads says what is missing, and makes up no mark.
    row = read_scores(graded, "ps1", records).row("perfect")
    assert row.status == LOST and row.total is None and "seqcourse grade ps1" in row.sentence
    (line,) = (line for line in read_course(graded, "ps1") if line.student == "perfect")
    assert line.status == LOST and not line.has_grade
    told: list[str] = []
    assert not write_feedback(graded, "ps1", [], told.append)
    assert [each for each in told if each.startswith("perfect: It was graded, but the gradebook")]
    said = CliRunner().invoke(app, ["report", "ps1"], catch_exceptions=False).output
    assert "Graded, but not in the gradebook, so grade again: 1 (perfect)." in said
    # Grading gives everybody the same mark again, once.
    for run in range(2):
        records = grade(graded, "ps1", how=How(workers=1, unsafe=True))
        totals = {row.student: row.total for row in read_scores(graded, "ps1", records).rows}
        assert totals == {"perfect": 10, "broken": None}
        assert [record.before for record in records if record.student == "perfect"] == [run > 0]
        assert write_feedback(graded, "ps1", [], told.append)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_or_locked_gradebook_is_a_sentence(graded, command, monkeypatch):
    monkeypatch.setattr(gradebook, "SOON", 0.2)
    file = graded.folder / "gradebook.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "another program is using it" in refusal_of(*command)
    for damaged in (b"This is no database. " * 100, file.read_bytes()[:50_000]):
        file.write_bytes(damaged)
        assert "should be a gradebook of nbgrader" in refusal_of(*command)
        assert file.read_bytes() == damaged, "it stays as it is"
