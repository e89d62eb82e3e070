"""The gradebook in PostgreSQL holds what the one in SQLite holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from cellgrader.course.address import DB_URL
from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.grade.how import How
from cellgrader.grade.submissions import grade
from cellgrader.marks.scores import read_scores
from cellgrader.pages.feedback import make_feedback
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.sandbox import refusal

from . import postgres, state

STUDENTS = ("perfect", "half", "wrong", "broken")
needs_server = pytest.mark.skipif(
    postgres.programs() is None or os.name != "posix",
    reason="no PostgreSQL server on this machine (Debian: apt install postgresql)",
)


@pytest.fixture(scope="module")
def address():
    # A socket's path may have hundred letters at most: pytest's folders are longer.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        os.chmod(folder, 0o755)  # the server may run as somebody else
        with postgres.server(Path(folder)) as url:
            yield url


@pytest.mark.nightly
@needs_server
@pytest.mark.skipif(bool(refusal()), reason=refusal() or "there is a sandbox")
def test_the_same_class_gets_the_same_rows(toy, address, tmp_path):
    release(toy)
    sample.make_submissions(toy, "ps1", STUDENTS)
    late = toy.submitted / "half" / "ps1" / "timestamp.txt"
    late.write_text("2026-02-03 04:05:06.789 UTC")
    shutil.copytree(toy.root, tmp_path / "other")
    other = Course(tmp_path / "other", db_url=address)
    assert other.gradebook_url.startswith("postgresql+psycopg://")
    scores = []
    for here in (toy, other):
        release(here, target=here.folder / "released")
        scores.append(read_scores(here, "ps1", grade(here, "ps1", how=How(workers=1, timeout=20))))
    rows = state.gradebook(other.gradebook_url)
    assert rows == state.gradebook(toy.gradebook_url)
    assert len(rows["submitted_assignment"]) == 3 and len(rows["grade"]) == 15
    assert state.files(other) == state.files(toy)
    assert scores[0] == scores[1] and scores[0].row("perfect").total == 10
    # The grades came from the server: the file beside the class knows of nobody.
    assert state.gradebook(f"sqlite:///{other.folder / 'gradebook.db'}")["student"] == []
    page = make_feedback(other, "ps1", "wrong").read_text(encoding="utf-8")
    assert "double" in page


def test_where_the_gradebook_is(toy, monkeypatch):
    """What the command says, then the environment, then course.toml, then a file."""
    monkeypatch.delenv(DB_URL, raising=False)
    file = toy.folder / "gradebook.db"
    assert toy.gradebook_url == f"sqlite:///{file}?timeout=60"
    (toy.root / "course.toml").write_text('gradebook = "sqlite:///relative.db"\n')
    assert toy.gradebook_url == f"sqlite:///{toy.root}/relative.db"
    (toy.root / "course.local.toml").write_text('gradebook = "postgresql://set/tings"\n')
    assert toy.gradebook_url == "postgresql+psycopg://set/tings"
    assert toy.config().CourseDirectory.db_url == toy.gradebook_url
    monkeypatch.setenv(DB_URL, "postgres://environ/ment")
    assert toy.gradebook_url == "postgresql+psycopg://environ/ment"
    told = replace(toy, db_url="sqlite:////elsewhere/grades.db")
    assert told.gradebook_url == "sqlite:////elsewhere/grades.db"
    # The sample class never writes into the real gradebook.
    assert Course(toy.root, "grading/sample").gradebook_url.startswith("sqlite:///")
    # An address where older versions had it is not passed over in silence.
    settings = toy.root / "nbgrader_config.py"
    lines = settings.read_text(encoding="utf-8")
    settings.write_text(f"{lines}\nc.CourseDirectory.db_url = 'postgresql://old'\n", encoding="utf-8")
    with pytest.raises(CourseError, match="should be in course.toml"):
        toy.config()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://teacher:ver-y-secret@127.0.0.1:1/grades",
        "nonsense://teacher:ver-y-secret@host/grades",
        "no address, but ver-y-secret",
    ],
)
def test_a_gradebook_that_cannot_be_reached_is_a_sentence_without_its_password(toy, address):
    unreachable = replace(toy, db_url=address)
    with pytest.raises(CourseError) as raised:
        release(unreachable)
    assert "ver-y-secret" not in str(raised.value)
    assert "gradebook" in str(raised.value)
    assert "ver-y-secret" not in repr(unreachable)


def test_the_command_hides_the_password_too(toy):
    (toy.root / "book").mkdir()
    (toy.submitted / "ada" / "ps1").mkdir(parents=True)
    command = [sys.executable, "-m", "seqcourse.cli", "grade", "ps1"]
    environment = {**os.environ, DB_URL: "postgresql://teacher:ver-y-secret@127.0.0.1:1/grades"}
    done = subprocess.run(
        command, cwd=toy.root, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "teacher:***@127.0.0.1" in done.stderr
    assert "ver-y-secret" not in done.stdout + done.stderr
