"""The history of a mark: every change has a line with its reason, none is lost, none is doubled."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.records import FAILED, GRADED, UNREADABLE, Record, write_record
from cellgrader.errors import CourseError
from cellgrader.marks import history
from cellgrader.marks.export import read_course
from cellgrader.marks.history import history_path, note, read_history
from cellgrader.marks.in_words import for_student
from cellgrader.notebook import document as notebooks
from cellgrader.with_nbgrader.save import clean_up
from seqcourse.cli.regrade import show_history

DUE = datetime(2026, 1, 10, 12)


@pytest.fixture
def course(released):
    """Two students with a mark, half a day late; the written answer waits."""
    toy = released
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=DUE)
        for who in ("ada", "ben"):
            gradebook.add_student(who)
            late = DUE + timedelta(hours=12)
            gradebook.update_or_create_submission("ps1", who, timestamp=late)
            for grade in gradebook.find_submission_notebook("ps1", "ps1", who).grades:
                grade.auto_score, grade.needs_manual_grade = 1.0, grade.name == "why"
            (toy.submitted / who / "ps1").mkdir(parents=True)
            write_record(toy, Record("ps1", who, GRADED, ""))
        gradebook.db.commit()
    (toy.root / "book").mkdir()
    return toy


def change(course, student: str, cell: str, **values) -> None:
    with Gradebook(course.gradebook_url) as gradebook:
        grade = gradebook.find_grade(cell, "ps1", "ps1", student)
        for name, value in values.items():
            setattr(grade, name, value)
        gradebook.db.commit()


def reasons(course, student: str = "ada") -> list[str]:
    return [entry.reason for entry in read_history(course, "ps1", student)]


def test_every_change_has_its_reason(course):
    assert note(course, "ps1") == ["ada", "ben"] and note(course, "ps1") == []
    change(course, "ada", "why", manual_score=1.5, needs_manual_grade=False)
    read_course(course, "ps1")  # any command that reads the gradebook notices
    change(course, "ada", "half-test", auto_score=3.0)
    note(course, "ps1", words="half\nof an odd number")
    (course.root / "course.toml").write_text("late.share_per_day = 0.5\nlate.floor = 0")
    note(course, "ps1")
    write_record(course, Record("ps1", "ada", GRADED, "", attempt=2))
    note(course, "ps1")  # a new version with the same points
    change(course, "ada", "half-test", auto_score=0.0)
    note(course, "ps1")
    change(course, "ada", "half-test", manual_score=2.0)
    note(course, "ps1")
    write_record(course, Record("ps1", "ada", UNREADABLE, "It breaks off.", attempt=3))
    note(course, "ps1")
    write_record(course, Record("ps1", "ada", FAILED, "A worker died."))
    note(course, "ps1")  # this one is tried again, and changes nothing
    found = read_history(course, "ps1", "ada")
    assert [entry.reason for entry in found] == [
        history.FIRST,
        history.HAND,
        history.CHECK,
        history.LATE,
        history.VERSION.format(2),
        history.CHECK,
        history.HAND,
        history.GONE.format(UNREADABLE),
    ]
    totals = [4, 5.5, 7.5, 3.75, 3.75, 2.25, 3.25, None]
    assert [entry.state.total for entry in found] == totals
    assert [entry.before for entry in found] == [None, *totals[:-1]]
    assert found[2].words == "half of an odd number"
    assert dict(found[1].changed) == {"why": (None, 1.5)}
    assert dict(found[2].changed) == {"half": (1.0, 3.0)}
    assert reasons(course, "ben") == [history.FIRST, history.LATE]
    # A page leaves out first points of what waited, and versions that changed nothing.
    told = for_student(course, "ps1", "ada")
    assert [line.what for line in told] == [
        "5.5 → 7.5 points",
        "7.5 → 3.75 points",
        "3.75 → 2.25 points",
        "2.25 → 3.25 points",
        "3.25 → – points",
    ]
    assert told[0].exercises == ("2 half: 1 → 3",)
    assert told[0].why == f"{history.CHECK} (half of an odd number)"


def test_a_line_that_could_not_be_written_is_written_once_by_the_next_command(course, monkeypatch):
    note(course, "ps1")
    change(course, "ada", "half-test", auto_score=0.0)
    whole = history_path(course, "ps1", "ada").read_bytes()

    def full(*given):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(notebooks.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            note(course, "ps1")
    assert history_path(course, "ps1", "ada").read_bytes() == whole
    # A killed process leaves a file beside it; the next run removes that.
    history_path(course, "ps1", "ada").with_name(".ada.jsonl.killed").write_text('{"time')
    clean_up(course)
    assert sorted(path.name for path in history_path(course, "ps1", "ada").parent.iterdir()) == [
        "ada.jsonl",
        "ben.jsonl",
    ]
    note(course, "ps1")
    note(course, "ps1")
    assert reasons(course) == [history.FIRST, history.CHECK]


def test_a_run_that_was_killed_before_its_record_does_not_change_the_reason(course):
    """The attempt is counted before the grade is written, and the record comes after it."""
    note(course, "ps1")
    write_record(course, Record("ps1", "ada", GRADED, ""))
    counted = course.folder / "attempts" / "ps1" / "ada.json"
    notebooks.write_text(counted, json.dumps({"attempt": 2, "submission": "00"}))
    (course.records / "ps1" / "ada.json").unlink()
    note(course, "ps1")
    assert reasons(course) == [history.FIRST], "the grade is still that of version 1"
    change(course, "ada", "half-test", auto_score=0.0)
    note(course, "ps1")
    write_record(course, Record("ps1", "ada", GRADED, "", attempt=2))
    note(course, "ps1")
    assert reasons(course) == [history.FIRST, history.VERSION.format(2)]


def test_the_command_prints_it_in_order_also_when_the_clock_was_set_back(course, monkeypatch, capsys):
    monkeypatch.chdir(course.root)
    show_history("ps1", "")
    assert "No mark of ps1 has changed" in capsys.readouterr().out
    path = history_path(course, "ps1", "ada")
    path.write_text(
        path.read_text().replace(read_history(course, "ps1", "ada")[0].time, "2999-01-01T10:11Z")
    )
    with path.open("a") as file:
        file.write("not a line\n")
    change(course, "ada", "half-test", auto_score=0.5)
    show_history("ps1", "ada")
    first, second, third = capsys.readouterr().out.splitlines()[1:]
    assert first == "  2999-01-01 10:11 UTC  4 points: first mark"
    assert second.endswith("(the clock was set back)  4 → 3.5 points: a check changed")
    assert third.strip() == "2 half: 1 → 0.5"
    with pytest.raises(CourseError, match="eve should have a mark of ps1, but ada, ben have"):
        show_history("ps1", "eve")
    with pytest.raises(CourseError, match="'ps2' should be an assignment"):
        show_history("ps2", "ada")


def test_points_that_an_assignment_moves_are_not_called_a_check(course):
    note(course, "ps1")
    (last,) = read_history(course, "ps1", "ada")
    marks = dict(last.state.marks)
    marks["half"] = replace(marks["half"], points=2.0, of=4.0)
    assert history.entry(last, replace(last.state, marks=marks)).reason == history.WORTH
    del marks["half"]
    assert history.entry(last, replace(last.state, marks=marks)).reason == history.EXERCISES
