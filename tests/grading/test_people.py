"""Students who come late, get more time, leave, or whose folder nobody knows."""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from cellgrader.course.records import GRADED, Record, write_record
from cellgrader.course.version import FILE, bring_up_to_date
from cellgrader.errors import CourseError
from cellgrader.grade.who import to_grade
from cellgrader.marks.export import NOTHING, REMOVED, final_grades, read_course
from cellgrader.marks.late import MARK, MARKED
from cellgrader.marks.scores import read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.people.enrolment import absent, drop, extend, misplaced, question, unknown
from cellgrader.platforms.template import Grade
from cellgrader.submission.attempts import attempt
from seqcourse.cli.app import app

DUE = datetime(2026, 1, 10, 12)


@pytest.fixture
def course(released):
    """Two with a grade, half a day late, one of them by hand too; a third is on the list."""
    toy = released
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=DUE)
        for who in ("ada", "ben", "cleo"):
            gradebook.update_or_create_student(who, first_name=who.title())
        for who in ("ada", "ben"):
            late = DUE + timedelta(hours=12)
            gradebook.update_or_create_submission("ps1", who, timestamp=late)
            for grade in gradebook.find_submission_notebook("ps1", "ps1", who).grades:
                grade.auto_score, grade.needs_manual_grade = 1.0, False
            gradebook.find_grade("why", "ps1", "ps1", who).manual_score = 2.0
            gradebook.find_comment("why", "ps1", "ps1", who).manual_comment = "Good."
            (toy.submitted / who / "ps1").mkdir(parents=True)
            write_record(toy, Record("ps1", who, GRADED, ""))
        gradebook.db.commit()
    (toy.root / "course.toml").write_text("late.share_per_day = 0.5\nlate.floor = 0")
    return toy


def lines(course):
    return {line.student: line for line in read_course(course, "ps1")}


def test_an_unknown_folder_is_a_question_and_not_a_student(course):
    (course.submitted / "adda" / "ps1").mkdir(parents=True)
    assert unknown(course, "ps1") == ["adda"]
    assert to_grade(course, "ps1") == ["ada", "ben"]
    assert to_grade(course, "ps1", ["adda"]) == ["adda"]
    assert "Who is adda?" in question(course, "ps1", "adda")
    with Gradebook(course.gradebook_url) as gradebook:  # a class without a list asks nothing
        for student in gradebook.students:
            student.first_name = None
        gradebook.db.commit()
    assert unknown(course, "ps1") == [] and "adda" in to_grade(course, "ps1")


def test_more_time_moves_the_due_date_also_before_work_is_handed_in(course):
    assert lines(course)["ada"].penalty == 3
    assert extend(course, "ps1", "ada", "1d12h") == DUE + timedelta(hours=36)
    extend(course, "ps1", "cleo", "90m")
    found = lines(course)
    assert (found["ada"].penalty, found["ben"].penalty) == (0, 3)
    assert found["cleo"].status == NOTHING and not found["cleo"].has_grade
    assert extend(course, "ps1", "ada", "0d") == DUE
    assert lines(course)["ada"].penalty == 3
    for student, time, words in (
        ("ada", "2", "such as 2d"), ("ada", "999999w", "such as 2d"), ("eve", "2d", "it has ada"),
    ):  # fmt: skip
        with pytest.raises(CourseError, match=words):
            extend(course, "ps1", student, time)
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=None)
    with pytest.raises(CourseError, match=r"under \[ps1\]: due = "):
        extend(course, "ps1", "ada", "2d")


def test_a_removed_folder_leaves_no_grade(course):
    assert [grade.student for grade in final_grades(lines(course).values())] == ["ada", "ben"]
    shutil.rmtree(course.submitted / "ada")
    ada = lines(course)["ada"]
    assert ada.status == REMOVED and not ada.has_grade and "Put it back" in ada.sentence
    assert final_grades(lines(course).values()) == [Grade("ben", 3.0, 12.0)]
    (course.submitted / "ada" / "ps1").mkdir(parents=True)
    assert lines(course)["ada"].points == 6


def test_who_is_dropped_is_in_no_table(course):
    for name in ("autograded", "feedback"):
        (course.folder / name / "ada" / "ps1").mkdir(parents=True)
    (told,) = drop(course, "ada")
    assert "grading/dropped/ada" in told and "ada" not in lines(course)
    left = [path.relative_to(course.folder).as_posix() for path in course.folder.rglob("*ada*")]
    assert all(path.startswith("dropped/ada") for path in left)
    points = json.loads((course.folder / "dropped" / "ada" / "points.json").read_text())
    assert {"by hand": 2.0, "comment": "Good."}.items() <= points[-1].items()
    with pytest.raises(CourseError, match="but it has ben, cleo"):
        drop(course, "eve")
    with pytest.raises(CourseError, match="that of a folder"):
        drop(course, "..")
    assert set(lines(course)) == {"ben", "cleo"}


def test_who_is_erased_is_in_no_file(course):
    """Work, grades, earlier work, copies, pages, points of removed exercises; what remains is named."""
    for who in ("ada", "adam"):
        notebooks.write_text(course.submitted / who / "ps1" / "ps1.ipynb", "by ada")
        attempt(course, "ps1", who, b"")
    deep = course.submitted / "ada" / "ps1"
    for _ in range(sys.getrecursionlimit() + 200):
        deep = deep / "d"
        deep.mkdir()
    drop(course, "ada")
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada")
        gradebook.update_or_create_submission("ps1", "ada")
    (course.folder / FILE).unlink()
    write_record(course, Record("ps1", "ada", GRADED, ""))
    assert "before-update-1" in bring_up_to_date(course)[0]
    rows = [{"student": "ada", "by hand": 1}, {"student": "adam", "by hand": 2}]
    notebooks.write_text(course.folder / "removed-ps1-1.json", json.dumps(rows))
    for name in (
        "report-ps1.html",
        "marks.csv",
        "exchange/seqcourse/inbound/ada+ps1+now+secret/ps1.ipynb",
    ):
        notebooks.write_text(course.folder / name, "for ada")
    told = drop(course, "ada", erase=True)
    assert "Not erased: grading/marks.csv, tables that you" in told[1]
    (course.folder / "marks.csv").unlink()
    for path in course.folder.rglob("*"):
        assert "ada" not in path.name.replace("adam", "")
        if path.is_file() and "adam" not in path.parts:
            content = path.read_bytes().replace(b"adam", b"")
            assert not re.search(rb"\bada\b|\bAda\b", content), path
    assert json.loads((course.folder / "removed-ps1-1.json").read_text()) == rows[1:]
    assert (course.submitted / "adam" / "ps1" / "ps1.ipynb").exists() and "ben" in lines(course)


def test_a_late_mark_of_a_platform_counts_as_one_day(course):
    """Until a time is known or more time was given."""
    (course.root / "course.toml").write_text("late = { share_per_day = 0.1, grace_minutes = 15 }\n")
    extend(course, "ps1", "ada", "1d")
    with Gradebook(course.gradebook_url) as gradebook:
        for who in ("ada", "ben"):
            gradebook.find_submission("ps1", who).timestamp = None
            notebooks.write_text(course.submitted / who / "ps1" / MARK, f"{MARKED}.\n")
        gradebook.db.commit()
    found = lines(course)
    assert (found["ada"].penalty, found["ben"].penalty) == (0, 0.6)
    records = [Record("ps1", who, GRADED, "") for who in ("ada", "ben")]
    scores = read_scores(course, "ps1", records)
    assert [scores.row(who).late for who in ("ada", "ben")] == [False, True]
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_submission("ps1", "ben").timestamp = DUE - timedelta(hours=1)
        gradebook.db.commit()
    assert lines(course)["ben"].penalty == 0


def test_who_handed_in_nothing_is_named_also_without_a_folder(course, monkeypatch):
    """By the class's list, and by the folders of other work."""
    (course.submitted / "dora" / "ps2").mkdir(parents=True)
    assert absent(course, "ps1") == ["cleo", "dora"]
    (course.root / "book").mkdir(exist_ok=True)
    with monkeypatch.context() as there:
        there.chdir(course.root)
        said = CliRunner().invoke(app, ["report", "ps1"], catch_exceptions=False).output
    assert "Handed in nothing: 2 (cleo, dora)." in said
    page = (course.folder / "report-ps1.html").read_text(encoding="utf-8")
    assert re.search("Handed in nothing</h2><ul><li>cleo</li><li>dora</li></ul>", page)


def test_work_in_the_wrong_place_is_named_with_the_way_to_mend_it(course):
    for place in ("cleo/PS1", "dora/Ps 1", "ps1/eve", "fay/ps2", "gil/ps10"):
        (course.submitted / place).mkdir(parents=True)
    (course.submitted / "hal").mkdir()
    (course.submitted / "hal" / "PS1.ipynb").write_text("{}")
    assert misplaced(course, "ps1") == [
        "grading/submitted/cleo/PS1/ should be called ps1. Rename it.",
        "grading/submitted/dora/Ps 1/ should be called ps1. Rename it.",
        "grading/submitted/hal/PS1.ipynb should be in a folder ps1. Move it there.",
        "grading/submitted/ps1/eve/ should be grading/submitted/eve/ps1/.",
    ]
    assert absent(course, "ps1") == ["cleo", "dora", "fay", "gil", "hal"]
    for student in ("ada", "ben"):
        shutil.rmtree(course.submitted / student)
    with pytest.raises(CourseError, match="but there are none.*cleo/PS1/ should be called ps1"):
        to_grade(course, "ps1")
