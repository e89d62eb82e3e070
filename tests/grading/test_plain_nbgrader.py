"""Plain `nbgrader autograde` with our nbgrader_config.py: the same protection, the same points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile

import pytest
from nbgrader.api import Gradebook

from seqcourse.grading import notebook as notebooks
from seqcourse.grading import sample
from seqcourse.grading.confine import refusal
from seqcourse.grading.own import OWN

from .toy import drawn, make_toy_course, picture

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
    (course.submitted / "devices" / "ps1" / "endless.txt").symlink_to("/dev/zero")
    os.mkfifo(course.submitted / "devices" / "ps1" / "pipe")
    theirs = course.solutions / "checks" / "ps1.py"
    (course.submitted / "devices" / "ps1" / "checks.txt").symlink_to(theirs)
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


def test_nothing_is_copied_through_a_link_or_from_a_device(graded):
    course = graded[0]
    copied = [path.name for path in (course.autograded / "devices" / "ps1").iterdir()]
    assert copied == ["ps1.ipynb"]


def test_the_students_own_figures_are_kept_and_marked(graded):
    book = notebooks.read(graded[0].autograded / "devices" / "ps1" / "ps1.ipynb")
    (outputs,) = (
        cell["outputs"] for cell in book["cells"] if "show" in cell["metadata"].get("tags", ())
    )
    assert "".join(outputs[0]["text"]) == OWN
    assert "".join(outputs[1]["data"].pop("image/png")) == picture()
    assert set(outputs[1]["data"]) == {"text/plain"}


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
