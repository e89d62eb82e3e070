"""Attempts are counted, survive what happens to records, and have hidden inputs of their own."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from cellgrader.course.folders import Course
from cellgrader.course.records import (
    FAILED,
    GRADED,
    MISSING,
    UNCLEAR,
    UNREADABLE,
    Record,
    read_record,
    write_record,
)
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.grade.submissions import Run
from cellgrader.notebook import document as notebooks
from cellgrader.release.generate import release
from cellgrader.run.examine import Examiner
from cellgrader.submission.attempts import attempt, last_years, note_graded
from cellgrader.submission.collected import Submission
from tests.grading.toy import make_toy_course

ADA = Submission(("ada",), "ada")


def test_a_new_version_is_the_next_attempt_and_an_old_number_is_kept(tmp_path):
    course = Course(tmp_path)
    asked = [
        attempt(course, "ps1", "ada", digest) for digest in (b"one", b"one", b"two", b"two", b"one")
    ]
    assert asked == [1, 1, 2, 2, 3]
    assert attempt(course, "ps1", "bob", b"one") == attempt(course, "ps2", "ada", b"one") == 1
    (course.folder / "attempts" / "ps1" / "ada.json").write_text("{")
    assert attempt(course, "ps1", "ada", b"two") == 1, "a broken file stops nobody"


def test_hidden_inputs_depend_on_secret_assignment_student_and_attempt(tmp_path):
    examiner = Examiner(make_toy_course(tmp_path), secret=b"s")
    seeds = [
        examiner.seed("ps1", "half", "ada", 1),
        examiner.seed("ps2", "half", "ada", 1),
        examiner.seed("ps1", "double", "ada", 1),
        examiner.seed("ps1", "half", "bob", 1),
        examiner.seed("ps1", "half", "ada", 2),
        Examiner(examiner.course, secret=b"t").seed("ps1", "half", "ada", 1),
    ]
    assert len(set(seeds)) == len(seeds)
    assert examiner.seed("ps1", "half", "ada", 1) == seeds[0]


def test_a_file_that_is_exchanged_while_a_folder_is_read_is_not_followed(tmp_path, monkeypatch):
    """Looked at it was an ordinary file; opened it is a link to the solution, or a pipe."""
    folder = tmp_path / "ada" / "ps1"
    folder.mkdir(parents=True)
    (tmp_path / "solution").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "solution")
    os.mkfifo(folder / "pipe")
    monkeypatch.setattr(Path, "lstat", lambda path: os.stat(tmp_path / "solution"))
    found = folder_snapshot(folder)
    assert found.files == {} and len(found.left_out) == 2


def test_a_secret_of_last_year_is_named_when_work_is_released(tmp_path):
    course = Course(tmp_path)
    assert last_years(course) == ""
    course.secret()
    assert last_years(course) == ""
    os.utime(course.folder / "secret", (0, 1_725_000_000))
    assert "grading/secret, drawn in August 2024" in last_years(course)


def test_an_attempt_s_inputs_can_be_made_again(tmp_path):
    """What a regrade or a preview asks is what the first grading asked."""
    examiner = Examiner(make_toy_course(tmp_path), secret=b"s")
    first, again = (examiner.judges("ps1", "ada", 1)["half-test"].request for _ in range(2))
    assert pickle.loads(first["calls"]) == pickle.loads(again["calls"])


def test_the_same_work_handed_in_again_is_no_new_version_and_not_later(toy):
    """Through the exchange, an appeal comes with the whole work and a new time."""
    release(toy)
    folder = toy.submitted / "ada" / "ps1"
    run = Run(toy, "ps1", {}, lambda record: None)

    def hand_in(text: str, time: str, **beside: str) -> tuple[int, str, bytes]:
        notebooks.write_text(folder / "ps1.ipynb", text)
        notebooks.write_text(folder / "timestamp.txt", time)
        for name, content in beside.items():
            notebooks.write_text(folder / f"{name}.md", content)
        found = run.load(ADA)
        return found.attempt, found.work.files["timestamp.txt"].decode(), found.work.digest()

    first = hand_in("one", "2026-01-01 10:00:00 UTC")
    assert first[:2] == (1, "2026-01-01 10:00:00 UTC")
    assert hand_in("one", "2026-01-09 10:00:00 UTC", appeal="2: look") == first
    assert hand_in("two", "2026-01-10 10:00:00 UTC")[:2] == (2, "2026-01-10 10:00:00 UTC")
    assert hand_in("one", "2026-01-11 10:00:00 UTC")[:2] == (3, "2026-01-11 10:00:00 UTC")
    # What is no time of nbgrader's is left as it is; so is the count of an older class.
    odd = hand_in("one", "x" * 1000)
    assert odd[0] == 4 and hand_in("one", "x" * 1000) == odd
    notebooks.write_text(
        toy.folder / "attempts" / "ps1" / "ada.json",
        json.dumps({"attempt": 7, "submission": run.load(ADA).work.digest().hex()}),
    )
    assert run.load(ADA).attempt == 7 and hand_in("one", "x" * 1000, other="y")[0] == 8


def test_a_class_may_limit_its_attempts(toy):
    """The last allowed version keeps its grade; what was never graded, or failed, still can be."""
    (toy.root / "course.toml").write_text("attempts = 2\n")
    release(toy)
    path = toy.submitted / "ada" / "ps1" / "ps1.ipynb"
    said = []

    def is_done(text: str) -> bool:
        notebooks.write_text(path, text)
        run = Run(toy, "ps1", {}, said.append)
        done = run.is_done(ADA, again=False)
        if not done:
            submission = run.load(ADA)
            print_of = run.fingerprint(submission)
            record = Record("ps1", "ada", status, "", 0.0, print_of, attempt=submission.attempt)
            write_record(toy, record)
            if record.has_grade:
                note_graded(toy, "ps1", "ada", record.attempt)
        return done

    status = GRADED
    assert [is_done(text) for text in ("one", "one", "two", "two", "three")] == [
        *(False, True, False, True, True)
    ]
    assert "Version 3 was not graded" in said[-1].sentence and "version 2" in said[-1].sentence
    assert read_record(toy, "ps1", "ada").sentence == ""
    (toy.root / "course.local.toml").write_text("attempts = 3\n")
    status = FAILED
    assert [is_done("three"), is_done("four")] == [False, False]


@pytest.mark.parametrize("status", [FAILED, UNCLEAR, UNREADABLE, MISSING])
def test_what_had_no_grade_costs_no_attempt_and_gives_none_back(released, status):
    """The count is that of graded versions, whatever the last record says."""
    toy = released
    (toy.root / "course.toml").write_text("attempts = 2\n")
    path = toy.submitted / "ada" / "ps1" / "ps1.ipynb"
    done = []
    for number, got in enumerate((status, GRADED, status, GRADED, status), 1):
        notebooks.write_text(path, f"version {number}")
        run = Run(toy, "ps1", {}, lambda record: None)
        done.append(run.is_done(ADA, again=False))
        run.load(ADA)
        write_record(toy, Record("ps1", "ada", got, "", attempt=number))
        if got == GRADED:
            note_graded(toy, "ps1", "ada", number)
    notebooks.write_text(path, "one more")
    told = []
    done.append(Run(toy, "ps1", {}, told.append).is_done(ADA, again=False))
    assert done == [False] * 4 + [True] * 2
    assert "The grade is that of version 4." in told[0].sentence
