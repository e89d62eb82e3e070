"""Plain `nbgrader autograde` with our nbgrader_config.py: the same protection, the same points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import pytest
from nbgrader.api import Gradebook

from cellgrader.grade.how import How
from cellgrader.notebook import document as notebooks
from cellgrader.processes.pool import Died
from cellgrader.release import sample
from cellgrader.release.generate import release
from cellgrader.sandbox import refusal

from .toy import drawn, make_toy_course

pytestmark = pytest.mark.skipif(bool(refusal()), reason=f"no sandbox: {refusal()}")

LIES = """
import builtins, sys
def double(x):
    return Always()
class Always(float):
    def __eq__(self, other): return True
get_ipython().events.register("post_run_cell", lambda *_: print("3.0"))
builtins.AssertionError = type("Nothing", (Exception,), {})
"""

WATCHED = """
def double(x):
    return 2 * x
import os  # WATCHED
print(os.getuid(), os.getcwd(), os.path.exists('torch.py'))
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class graded by nbgrader's own command; returns the course and what the command said."""
    course = make_toy_course(tmp_path_factory.mktemp("plain") / "course")
    run(course, "generate_assignment", "ps1")
    sample.make_submissions(course, "ps1", ["perfect", "wrong", "broken", "crashing"])
    released = notebooks.read(course.assignments / "ps1" / "ps1.ipynb")
    right = sample.right_answers(notebooks.read(course.solution("ps1")))

    def hand_in(student: str, answers: dict) -> None:
        folder = course.submitted / student / "ps1"
        folder.mkdir(parents=True)
        content = drawn(sample.answered(released, answers))
        (folder / "ps1.ipynb").write_text("\ufeff" + json.dumps(content), encoding="utf-8")

    hand_in("liar", {"double": LIES})
    hand_in("devices", right)
    folder = course.submitted / "devices" / "ps1"
    (folder / "endless.txt").symlink_to("/dev/zero")
    (folder / "submission_secret.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "timestamp.txt")
    (folder / "checks.txt").symlink_to(course.solutions / "checks" / "ps1.py")
    hand_in("modules", {"double": WATCHED, **{name: right[name] for name in right if name != "double"}})
    folder = course.submitted / "modules" / "ps1"
    for name in ("torch.py", "sitecustomize.py", "nbgrader_config.py", "x.pth", "data/words.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("raise SystemExit")
    (folder / "timestamp.txt").write_text("2026-02-03 04:05:06 +0100\n")
    (folder / "submission_secret.txt").write_text("5ec2e7" * 21 + "00")  # as long as nbgrader's
    (course.root / "course.toml").write_text("attempts = 1\n")
    hand_in("again", right)
    for path in ("autograded/again/ps1/ps1.ipynb", "attempts/ps1/again.json"):
        notebooks.write_text(course.folder / path, '{"attempt": 1, "submission": "that of before"}')
    hand_in("line\nend", right)
    hand_in("J\udcf6rg", right)
    (course.submitted / "linked" / "ps1").mkdir(parents=True)
    whole = course.submitted / "perfect" / "ps1" / "ps1.ipynb"
    (course.submitted / "linked" / "ps1" / "ps1.ipynb").symlink_to(whole)
    (course.submitted / "folder").mkdir()
    (course.submitted / "folder" / "ps1").symlink_to(course.submitted / "perfect" / "ps1")
    return course, run(course, "autograde", "ps1", succeeds=False)


def run(course, *words: str, succeeds: bool = True) -> str:
    """An nbgrader command in the course's folder."""
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nbgrader", *words],
        cwd=course.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not succeeds or done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def points(course, student: str) -> dict[str, float]:
    with Gradebook(course.gradebook_url) as gradebook:
        (book,) = gradebook.find_submission("ps1", student).notebooks
        return {grade.name.removesuffix("-test"): grade.auto_score for grade in book.grades}


@pytest.mark.parametrize(
    ("student", "double", "half", "quadruple", "poll"),
    [
        ("perfect", 3, 3, 3, 1),
        ("devices", 3, 3, 3, 1),
        ("modules", 3, 3, 3, 1),
        ("wrong", 0, 3, 0, 1),
        ("crashing", 0, 3, 0, 0),
        ("liar", 0, 0, 0, 0),
    ],
)
def test_everybody_gets_what_they_earned(graded, student, double, half, quadruple, poll):
    found = points(graded[0], student)
    del found["why"]
    assert found == {"double": double, "half": half, "quadruple": quadruple, "poll": poll}


@pytest.mark.parametrize("student", ["broken", "linked", "folder"])
def test_what_cannot_be_graded_is_said_and_stops_nobody(graded, student):
    course, said = graded
    assert not (course.autograded / student / "ps1" / "ps1.ipynb").exists()
    assert f"for student '{student}'" in said


def test_a_name_that_no_gradebook_can_hold_is_said(graded):
    course, said = graded
    assert "in UTF-8, but J?rg is not" in said and "without line ends" in said
    assert {path.name for path in course.autograded.iterdir()} >= {"perfect", "wrong", "liar"}


def test_a_version_beyond_the_last_attempt_is_passed_over(graded):
    course, said = graded
    sentence = "Version 2 was not graded: course.toml allows 1 attempt. The grade is that of version 1."
    assert f"again: {sentence}" in said
    assert (course.autograded / "again" / "ps1" / "ps1.ipynb").read_text().startswith('{"attempt')


def test_only_the_notebook_the_time_and_the_secret_are_copied(graded):
    """Not what an instructor's kernel could import, and nothing through a link or from a device."""
    course = graded[0]
    run(course, "generate_feedback", "ps1", "--student=modules")
    for stage, page in ((course.autograded, "ps1.ipynb"), (course.feedback, "ps1.html")):
        copied = {path.name for path in (stage / "modules" / "ps1").iterdir()}
        assert copied == {page, "timestamp.txt", "submission_secret.txt"}
    assert [path.name for path in (course.autograded / "devices" / "ps1").iterdir()] == ["ps1.ipynb"]
    with Gradebook(course.gradebook_url) as gradebook:
        assert gradebook.find_submission("ps1", "modules").timestamp.hour == 3
        assert gradebook.find_submission("ps1", "devices").timestamp is None


def test_it_runs_in_the_same_sandbox(graded):
    book = notebooks.read(graded[0].autograded / "modules" / "ps1" / "ps1.ipynb")
    (cell,) = (cell for cell in book["cells"] if "WATCHED" in notebooks.text(cell))
    assert "".join(cell["outputs"][0]["text"]) == "1000 /tmp False\n"


def test_the_same_workers_examine_and_one_that_dies_is_one_failure(toy, monkeypatch):
    """So the limits and the alarm are those of `seqcourse grade`: it has no other way to examine."""
    release(toy)
    sample.make_submissions(toy, "ps1", ["perfect", "empty"])
    asked = []

    @contextmanager
    def workers(course, name, how):
        asked.append((course.root, name, how))
        yield lambda given: [(given[0], Died("the process that examined it died, twice"))]

    monkeypatch.setattr("cellgrader.grade.plain_nbgrader.examining", workers)
    outcome = toy.api(Reader__timeout=7).autograde("ps1", "*")
    assert asked == [(toy.root, "ps1", How(workers=1, timeout=7))]
    assert not outcome["success"] and not list(toy.autograded.rglob("*.ipynb"))
    assert outcome["log"].count("could not be graded: the process that examined it died, twice.") == 2


def test_archives_are_unpacked_where_nobody_else_looks(toy):
    before = {path.name for path in toy.root.iterdir()}
    archive = toy.folder / "downloaded" / "ps1" / "archive" / "class.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        file.write(toy.solution("ps1"), "ada_4711_ps1.ipynb")
    pattern = r".*/(?P<student_id>[a-z]+)_\d+_(?P<file_id>\w+)"
    run(toy, "zip_collect", "ps1", f"--FileNameCollectorPlugin.named_regexp={pattern}")
    assert (toy.submitted / "ada" / "ps1" / "ps1.ipynb").is_file()
    assert {path.name for path in toy.root.iterdir()} - before <= {".nbgrader.log"}
