"""How far a student is: what the self-checks write beside a notebook, and what is read from it."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seqcourse import progress
from seqcourse.check import ps5
from seqcourse.cli.app import app
from seqcourse.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]
# The numbers of the exercises of assignment 5, from their headings.
NUMBERS = re.findall(r"## Exercise (\d+)", (ROOT / "solutions" / "ps5" / "ps5.ipynb").read_text("utf-8"))
BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def notebook(tmp_path) -> Path:
    """Assignment 5 as students get it."""
    return Path(shutil.copy(ROOT / "assignments" / "ps5" / "ps5.ipynb", tmp_path))


def write(notebook: Path, *notes: tuple[int, str, bool]) -> None:
    """What self-checks found, each so many minutes after the beginning."""
    lines = [
        json.dumps({"at": (BEGIN + timedelta(minutes=minute)).isoformat(), "of": of, "passed": passed})
        for minute, of, passed in notes
    ]
    progress.record_file(notebook).write_text("\n".join(lines) + "\n")


def test_nothing_is_done_at_first(notebook):
    found = progress.read(notebook)
    assert str(found) == f"0 of {len(NUMBERS)} exercises, 0 of {found.points[1]:g} points, 0 minutes"
    assert [task.number for task in found.tasks] == [*map(int, NUMBERS)]
    assert {task.state for task in found.tasks} == {None}
    assert found.next.title == "Do not look ahead" and found.next.minutes == 5
    assert found.tasks[0].points == {"causal_mask": 4}


def test_the_latest_self_check_counts_and_breaks_do_not(notebook):
    write(
        notebook,
        (0, "", False),
        (10, "causal_mask", False),
        (15, "causal_mask", True),
        (300, "padding_mask", True),  # after a long break
        (304, "combine", True),
        (310, "combine", False),
    )
    found = progress.read(notebook)
    assert [task.state for task in found.tasks[:3]] == [True, False, None]
    assert found.points[0] == 4 + 2 and found.next.number == 2
    assert found.spent == timedelta(minutes=15 + 10)


def test_time_before_a_new_beginning_is_no_work(notebook):
    write(notebook, (0, "", False), (10, "causal_mask", True), (25, "", False), (28, "combine", True))
    assert progress.read(notebook).spent == timedelta(minutes=10 + 3)


def test_hints_are_counted(notebook):
    write(notebook, (0, "causal_mask", False), (1, "causal_mask", False), (2, "causal_mask", True))
    record = progress.record_file(notebook)
    first, second, third = record.read_text().splitlines()
    record.write_text("\n".join([first, second.replace("}", ', "hint": true}'), third]))
    assert str(progress.read(notebook)).endswith(", 2 minutes, 1 hint")


def test_both_answers_of_an_exercise_and_every_poll_are_needed(notebook):
    tasks = progress.read(notebook).tasks
    answers = [name for task in tasks for name, points in task.points.items() if points]
    assert set(answers) == set(ps5.EXERCISES)
    answers += [f"poll_{number}" for number in range(1, 5)]
    write(notebook, *((0, name, True) for name in answers if name != "poll_3"))
    assert [task.number for task in progress.read(notebook).tasks if task.state is not True] == [9, 10]


def test_an_answered_poll_is_done_and_earns_nothing_that_nobody_has_judged(notebook):
    write(notebook, *((0, f"poll_{number}", True) for number in range(1, 5)))
    found = progress.read(notebook)
    assert found.done == 1 and found.points[0] == 0


def test_a_written_answer_is_done_when_it_is_there_and_gives_no_points(notebook):
    before = progress.read(notebook)
    notebook.write_text(notebook.read_text().replace(progress.STUB, "Two things went wrong."))
    after = progress.read(notebook)
    assert (after.done, after.points) == (before.done + 1, before.points)


def test_a_damaged_record_loses_only_its_damaged_lines(notebook):
    write(notebook, (0, "causal_mask", True))
    record = progress.record_file(notebook)
    record.write_bytes(
        b'\xff\xfe\n{"at": 3}\n[]\n{"at": "2026-03-02T09:00:00+00:00", "of\n' + record.read_bytes()
    )
    assert progress.read(notebook).done == 1


def test_what_is_no_notebook_gets_a_sentence(tmp_path):
    for text in ("", "[]", '{"cells": [{}]}', '{"cells": 3}'):
        (tmp_path / "ps1.ipynb").write_text(text)
        with pytest.raises(CourseError, match=r"ps1.ipynb cannot be read as a notebook of the course"):
            progress.read(tmp_path / "ps1.ipynb")


def test_the_command_shows_every_assignment_and_goes_on_after_a_broken_one(notebook):
    write(notebook, (0, "", False), (12, "causal_mask", True))
    (notebook.parent / "ps6.ipynb").write_text("broken")
    said = CliRunner().invoke(app, ["progress", str(notebook.parent)], env={"COLUMNS": "200"}).output
    assert f"1 of {len(NUMBERS)}" in said and "2 · Padding, and both at once (about 10 min)" in said
    assert "ps6.ipynb cannot be read" in said


DAY = 24 * 60


def days_later(notebook: Path, days: float) -> list[str]:
    return progress.due(notebook, BEGIN + timedelta(days=days))


def test_a_solved_answer_comes_back_after_1_7_and_30_days(notebook):
    write(notebook, (0, "combine", False), (5, "causal_mask", True), (DAY, "causal_mask", True))
    asked = [(2, True), (3, True), (9.5, True), (12, False), (13.5, True)]  # the second is too early
    states = [days_later(notebook, 0.9), days_later(notebook, 1.1)]
    for day, right in asked:
        at = (BEGIN + timedelta(days=day)).isoformat()
        with progress.record_file(notebook).open("a") as record:
            record.write(json.dumps({"at": at, "asked": "causal_mask", "right": right}) + "\n")
        states.append([wait for wait in (1, 7, 30) if days_later(notebook, day + wait + 0.1)])
    assert states == [[], ["causal_mask"], [7, 30], [7, 30], [30], [1, 7, 30], [7, 30]]
    assert progress.read(notebook).tasks[0].state is True  # a wrong answer loses nothing


def test_after_the_last_wait_nothing_comes_back(notebook):
    write(notebook, (0, "causal_mask", True))
    for day in (1, 8, 38):
        assert days_later(notebook, day) == ["causal_mask"]
        at = (BEGIN + timedelta(days=day)).isoformat()
        with progress.record_file(notebook).open("a") as record:
            record.write(json.dumps({"at": at, "asked": "causal_mask", "right": True}) + "\n")
    assert days_later(notebook, 1000) == []


def test_the_command_says_what_is_asked_again(notebook):
    write(notebook, (0, "causal_mask", True), (3, "combine", True))
    said = CliRunner().invoke(app, ["progress", str(notebook.parent)], env={"COLUMNS": "200"}).output
    assert "Asked again: causal_mask, combine. seqcourse practice" in said and "ps5.ipynb" in said


def test_the_command_in_a_folder_without_assignments_says_so(tmp_path):
    result = CliRunner().invoke(app, ["progress", str(tmp_path)])
    assert isinstance(result.exception, CourseError) and "There is no assignment" in str(
        result.exception
    )
