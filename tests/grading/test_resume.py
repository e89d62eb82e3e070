"""Killed with -9 at any moment and started again, a run ends as if nobody had disturbed it."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.notebook import document as notebooks
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.run.examine import Examination
from cellgrader.run.outcome import outputs
from cellgrader.sandbox import refusal

from . import state
from .kill_while_saving import EXAMINED
from .toy import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a signal that nobody can catch")


@pytest.fixture(scope="module")
def handed_in(empty_toy, tmp_path_factory) -> Course:
    """A class that has handed in: right, half and wrong work, late work, a damaged file."""
    root = tmp_path_factory.mktemp("class") / "course"
    shutil.copytree(empty_toy.root, root)
    course = Course(root)
    release(course)
    release(course, target=course.folder / "released")
    students = ("perfect", "half", "empty", "wrong", "crashing", "broken")
    sample.make_submissions(course, "ps1", students)
    path = course.submitted / "half" / "ps1"
    (path / "timestamp.txt").write_text("2026-02-03 04:05:06 UTC")
    (path / "notes.txt").write_text("kept beside the work")
    course.secret()
    (course.root / "book").mkdir()  # by which the command knows a checkout of the course
    return course


def copy_of(course: Course, folder: Path) -> Course:
    shutil.copytree(course.root, folder)
    return Course(folder)


def examined(course: Course) -> dict[str, Examination]:
    """What a worker would have found, for some of the class."""
    found = {}
    for student, passed in {"perfect": 4, "half": 2, "empty": 0}.items():
        book = notebooks.read(course.submitted / student / "ps1" / "ps1.ipynb")
        points = {}
        for cell in book["cells"]:
            mark = notebooks.mark(cell)
            if mark.get("grade") and not mark.get("solution"):
                points[mark["grade_id"]] = mark["points"] if len(points) < passed else 0
                cell["outputs"] = outputs(points[mark["grade_id"]], mark["points"], "It fails.")
        messages = {cell: "" if value else "It fails." for cell, value in points.items()}
        text = json.dumps(book)
        found[student] = Examination("ps1", student, "graded", "", text, points, messages)
    found["broken"] = Examination("ps1", "broken", "unreadable", "It breaks off.")
    return found


@pytest.mark.parametrize("kills", [6, pytest.param(20, marks=pytest.mark.nightly)])
def test_killed_while_it_saves(handed_in, tmp_path, kills):
    """Each time the next run sets it right."""
    course = copy_of(handed_in, tmp_path / "course")
    (course.root / EXAMINED).write_bytes(pickle.dumps(examined(course)))
    program = [sys.executable, "-m", "tests.grading.kill_while_saving"]
    command = [*program, str(course.root), "5", str(kills)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > kills // 2, "the others ended before the call that should kill them"


class Run:
    """`seqcourse grade` in a process of its own, and every process below it."""

    def __init__(self, course: Course, *options: str) -> None:
        command = [sys.executable, "-m", "seqcourse.cli", "grade", "ps1", "--workers", "2", *options]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command,
            cwd=course.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def end(self) -> str:
        told, _ = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, told
        return told

    def kill_after(self, seconds: float) -> list[psutil.Process]:
        """Kill the process that was called, and nothing else; returns what was below it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        below = []
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(self.process.pid).children(recursive=True)
        # Not the group: what was started must see for itself that its master is gone.
        self.process.kill()
        self.process.communicate(timeout=60)
        return below

    @property
    def killed(self) -> bool:
        return self.process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.skipif(bool(refusal()), reason=refusal() or "there is a sandbox")
@pytest.mark.nightly  # in every run: kills while it saves, above
@pytest.mark.parametrize("kills", [2, 5])
def test_killed_at_any_moment(handed_in, tmp_path, kills):
    """One kill in each part of a run's length: of two, one while workers start, one while they grade."""
    calm = copy_of(handed_in, tmp_path / "calm")
    started = time.monotonic()
    Run(calm).end()
    length = time.monotonic() - started
    course = copy_of(handed_in, tmp_path / "killed")
    # A gradebook, too, is made in a run.
    (course.folder / "gradebook.db").unlink()
    chance = random.Random(3)
    killed = 0
    kept: dict[Path, bytes] = {}
    for number in range(kills):
        # After the first runs, everything anew each time.
        again = number > 2
        run = Run(course, *["--again"] * again)
        below = run.kill_after(length * (number + chance.random()) / kills)
        killed += run.killed
        gone, alive = psutil.wait_procs(below, timeout=30)
        assert not alive, f"still there after the run was killed: {alive}"
        records = {path: path.read_bytes() for path in course.records.rglob("[!.]*.json")}
        if not again:
            assert {path: records.get(path) for path in kept} == kept, "graded twice"
        kept = records
    assert killed, "the runs ended before they could be killed"
    Run(course).end()
    assert state.gradebook(course.gradebook_url) == state.gradebook(calm.gradebook_url)
    assert state.files(course) == state.files(calm)


def test_a_record_that_is_half_written_is_none(handed_in, tmp_path):
    from cellgrader.course.records import read_record, record_path

    course = copy_of(handed_in, tmp_path / "course")
    path = record_path(course, "ps1", "half")
    path.parent.mkdir(parents=True)
    for content in ("", '{"assignment": "ps1", "stu', "[]", '{"status": "graded"}'):
        path.write_text(content)
        assert read_record(course, "ps1", "half") is None


@pytest.mark.nightly  # in every run: older data, test_version
def test_a_gradebook_without_its_version_gets_it(handed_in, tmp_path):
    """Killed between nbgrader's tables and the row that says which version they have."""
    import sqlite3

    course = copy_of(handed_in, tmp_path / "course")
    (course.folder / "gradebook.db").unlink()
    open_gradebook(course)
    whole = state.gradebook(course.gradebook_url)
    for damage in ("DELETE FROM alembic_version", "DROP TABLE alembic_version"):
        with contextlib.closing(sqlite3.connect(course.folder / "gradebook.db")) as file:
            file.execute(damage)
            file.commit()
        open_gradebook(course)
        assert state.gradebook(course.gradebook_url) == whole


def test_what_a_killed_run_left_is_taken_away(handed_in, tmp_path):
    from cellgrader.with_nbgrader.lock import alone

    course = copy_of(handed_in, tmp_path / "course")
    before = state.files(course)
    left = [".saving/ada/ps1/ps1.ipynb", "release-abc/ps1/ps1.ipynb", "gradebook-xyz/gradebook.db"]
    for name in [*left, "records/ps1/.ada.json.tmp123"]:
        path = course.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    with alone(course):
        assert state.files(course) == before
