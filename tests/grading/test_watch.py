"""`seqcourse watch`: from the arrival to the page, whatever happens in between."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import shutil
import time
from types import SimpleNamespace

import psutil
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.course.records import read_record
from cellgrader.errors import CourseError
from cellgrader.grade.submissions import Run
from cellgrader.sandbox import refusal
from cellgrader.watch import day, loop
from cellgrader.watch.arrivals import Resting
from cellgrader.watch.board import Board
from cellgrader.watch.loop import Watcher
from cellgrader.watch.only_one import only_watcher
from cellgrader.with_nbgrader.lock import Busy, alone

from . import state
from .here import watch_here
from .watching import Watch, hand_in, secret, submit

confined = pytest.mark.skipif(bool(refusal()), reason=refusal() or "there is a sandbox")
SETTINGS = '[watch]\nattempts_a_day = 2\ncounts = "best"\n'


@pytest.fixture
def course(released, whole_day) -> Course:
    """A class that is watched: two attempts a day, the best one counts."""
    toy = released
    (toy.root / "book").mkdir()  # by which the command knows a checkout
    (toy.root / "course.toml").write_text(SETTINGS)
    return toy


def points(course: Course) -> dict[str, float]:
    with Gradebook(course.gradebook_url) as gradebook:
        return {each.student.id: each.score for each in gradebook.assignment_submissions("ps1")}


def course_allows(course: Course, a_day: int) -> None:
    (course.root / "course.toml").write_text(f"watch.attempts_a_day = {a_day}\n")


def page(course: Course, student: str) -> str:
    path = course.feedback / student / "ps1" / "ps1.html"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@confined
@pytest.mark.parametrize("versions", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_submission_is_graded_while_the_class_works(course, exchange_folder, versions):
    """Handed in through the exchange: a version, and one too many; and two watchers."""
    course_allows(course, 1)
    watch = Watch(course, "--page", "live.html")
    watch.says(f"Watching {exchange_folder / 'inbound'} and grading/submitted/STUDENT/ps1.")
    already = f"but process {watch.process.pid} already does. Leave it running"
    with pytest.raises(CourseError, match=already):
        with only_watcher(course, "ps1"):
            pass
    fetched = {}
    for number, solved in enumerate((("double", "half"), ("poll", "half"))[:versions], start=1):
        submit(course, exchange_folder / "inbound", "ada", number, *solved)
        key = notebook_hash(secret=secret("ada", number), notebook_id="ps1")
        place = exchange_folder / "feedback" / f"{key}.html"
        watch.until(place.exists, f"page {number} should be in the exchange")
        watch.says("ada: graded." if number == 1 else "ada: held back.")
        fetched[number] = place.read_text(encoding="utf-8")
    said = watch.stop()
    assert "This is version 1. Graded today: 1 of 1." in fetched[1] and "<b>6</b>" in fetched[1]
    for page_too_many in list(fetched.values())[1:]:
        assert "1 version a day is graded. It is graded on" in page_too_many
        assert "<b>6</b>" in page_too_many
    assert points(course) == {"ada": 6} and read_record(course, "ps1", "ada").attempt == 1
    assert f"{versions - 1} held back · 1 graded · 0 failed · median wait" in said
    assert "Traceback" not in said
    live = course.root / "live.html"
    assert "held back" in live.read_text() and live.stat().st_mode & 0o777 == 0o600
    states = [each.state for each in day.tries(course, "ps1", "ada", time.time())]
    assert states == [day.SHOWN]


@pytest.mark.nightly
def test_a_worse_version_has_a_page_and_one_too_many_waits(course, monkeypatch):
    watched = watch_here(course, monkeypatch)
    hand_in(course, "ada", "double", "half")
    assert watched()[0] == ["ada"]
    hand_in(course, "ada", "poll")
    assert watched()[0] == ["ada"]
    second = page(course, "ada")
    assert "Version 2 has 1 automatic point. Version 1, with 6, was better" in second
    assert "<b>1</b>" in second and "0.5" not in second
    hand_in(course, "ada", "poll", "half")
    examined, said = watched()
    assert examined == [] and "1 held back" in said
    third = page(course, "ada")
    assert "2 versions a day are graded. It is graded on" in third and "<b>6</b>" in third
    assert points(course) == {"ada": 6} and read_record(course, "ps1", "ada").attempt == 1
    states = [each.state for each in day.tries(course, "ps1", "ada", time.time())]
    assert states == [day.SHOWN, day.SHOWN]


@confined
@pytest.mark.slow
@pytest.mark.nightly  # in every run: the parts, below and in test_watch_day
def test_what_was_held_back_is_graded_the_next_day(course, exchange_folder):
    course_allows(course, 1)
    hand_in(course, "ada", "double")
    Watch(course, "--once").end()
    hand_in(course, "ada", "double", "half")
    assert "held back" in Watch(course, "--once").end() and points(course) == {"ada": 3}
    assert "Below is the feedback on an earlier version" in page(course, "ada")
    (path,) = (course.folder / "watch").rglob("tries/ada.json")
    begun = str(day.tries(course, "ps1", "ada", time.time())[0].time)
    path.write_text(path.read_text().replace(begun, str(float(begun) - 24 * 3600)))  # a day passes
    Watch(course, "--once").end()
    assert points(course) == {"ada": 6} and "This is version 2. Graded today: 1 of 1." in page(
        course, "ada"
    )
    assert "0 arrived" in Watch(course, "--once").end()


@confined
@pytest.mark.slow
@pytest.mark.nightly
def test_bad_work_and_strangers_get_a_sentence(course):
    (course.root / "course.toml").write_text("watch.attempts_a_day = 0\n")
    with Gradebook(course.gradebook_url) as gradebook:
        for student in ("ada", "ben", "cleo"):
            gradebook.add_student(student, first_name=student.title())
    hand_in(course, "ada", "double", "half", "quadruple", "poll")
    for student, content in {"ben": "{", "cleo": "", "eve": "{}", "x*": "{}"}.items():
        path = course.submitted / student / "ps1" / "ps1.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(content)
    said = Watch(course, "--once").end()
    assert "Who is eve?" in said and "x*: failed. The folder's name should hold none of" in said
    assert points(course)["ada"] == 10 and "This is version 1." in page(course, "ada")
    assert "should be a notebook, but" in page(course, "ben") and "cost you no attempt" in page(
        course, "ben"
    )
    assert "should be a notebook, but is empty" in page(course, "cleo") and not page(course, "eve")
    assert "Traceback" not in said and "4 arrived" not in said
    again = Watch(course, "--once").end()
    assert "0 graded" in again, "nothing is graded twice"


@confined
@pytest.mark.slow
@pytest.mark.parametrize("kills", [pytest.param(8, marks=pytest.mark.nightly)])
def test_killed_at_any_moment_it_goes_on(course, tmp_path, kills):
    """Each run is killed at a random moment of its length; in the end all is as in a calm run."""
    course_allows(course, 1)
    for student, solved in {"ada": ("double",), "ben": ("double", "half"), "cleo": ()}.items():
        hand_in(course, student, *solved)
    course.secret()
    shutil.copytree(course.root, tmp_path / "calm")
    calm = Course(tmp_path / "calm")
    started = time.monotonic()
    Watch(calm, "--once").end()
    length = time.monotonic() - started
    chance = random.Random(7)
    killed = 0
    for number in range(kills):
        watch = Watch(course, "--once")
        with contextlib.suppress(psutil.TimeoutExpired):
            psutil.Process(watch.process.pid).wait(length * (number + chance.random()) / kills)
        if watch.process.poll() is None:
            watch.kill()
            killed += 1
        before = {who: day.tries(course, "ps1", who, time.time()) for who in ("ada", "ben", "cleo")}
        assert all(len(each) <= 1 for each in before.values()), "an attempt was counted twice"
    assert killed, "the runs ended before they could be killed"
    Watch(course, "--once").end()
    assert state.gradebook(course.gradebook_url) == state.gradebook(calm.gradebook_url)
    for student in ("ada", "ben", "cleo"):
        assert page(course, student) and day.last(course, "ps1", student, 0.0).state == day.SHOWN
        assert read_record(course, "ps1", student) == read_record(calm, "ps1", student)
    assert not list((course.folder / "watch").rglob(".*.json.*"))


def test_what_the_system_refuses_is_said_and_stops_nothing(course, monkeypatch):
    """A full disk keeps the result, a locked gradebook the arrival; both are tried again."""
    said = io.StringIO()
    watcher = Watcher(course, "ps1", Board("ps1", Console(file=said, width=200)))
    pool = SimpleNamespace(ended=lambda seconds: None, add=lambda work, key, load: None)

    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    watcher._interrupt = SimpleNamespace(deferred=contextlib.nullcontext)
    watcher._run, watcher._saver = (
        SimpleNamespace(save=full),
        None,
    )
    watcher._ended.append(("ada", None, None))
    watcher._step(pool)
    assert list(watcher._ended) == [("ada", None, None)] and "No space left" in said.getvalue()
    watcher._ended.clear()
    watcher._resting.quiet, watcher._pool, watcher._work = 0.0, pool, None

    def locked(*given):
        raise CourseError("The gradebook should be writable, but is locked.")

    hand_in(course, "ada", "double")
    with monkeypatch.context() as patch:
        patch.setattr("cellgrader.watch.loop.unknown", locked)
        watcher._looked = 0.0
        watcher._step(pool)
    assert "but is locked." in said.getvalue() and not watcher._arrived
    watcher._looked = 0.0
    watcher._step(pool)
    assert list(watcher._arrived) == ["ada"]


@pytest.mark.nightly
def test_what_is_held_back_is_not_read_again_until_something_changes(course, monkeypatch):
    course_allows(course, 1)
    watched = watch_here(course, monkeypatch)
    hand_in(course, "ada", "double")
    assert watched()[0] == ["ada"]
    read, work_of = [], loop.work_of
    monkeypatch.setattr(loop, "work_of", lambda *given: read.append(given) or work_of(*given))
    monkeypatch.setattr(loop, "HELD", 0.0)
    hand_in(course, "ada", "double", "half")
    looks, look = [], Watcher._look  # looks while nobody is at work
    monkeypatch.setattr(
        Watcher, "_look", lambda watcher: watcher._arrived or looks.append(1) or look(watcher)
    )
    monkeypatch.setattr(Watcher, "_is_idle", lambda watcher, idle: len(looks) == 10)
    assert "1 held back" in watched()[1]
    assert 0 < len(read) <= 3
    looks.clear()
    monkeypatch.setattr(Board, "held", lambda *given: course_allows(course, 2))
    assert watched()[0] == ["ada"] and points(course) == {"ada": 6}


@pytest.mark.nightly
def test_what_takes_long_waits_until_nobody_else_does(course, monkeypatch):
    """Nobody's place in the queue depends on those who keep a worker busy, and nobody loses a point."""
    monkeypatch.setattr(loop, "BRIEF", 0.001 - course.settings["timeout"])
    watched = watch_here(course, monkeypatch)
    for student in ("ada", "bob"):
        hand_in(course, student, "double", "half")
    examined, said = watched()
    assert examined == ["ada", "bob", "ada", "bob"] and "2 graded" in said
    assert said.count("this takes long, so it waits until nobody else does") == 2
    assert points(course) == {"ada": 6, "bob": 6}
    assert [each.state for each in day.tries(course, "ps1", "ada", time.time())] == [day.SHOWN]


@confined
@pytest.mark.slow
@pytest.mark.nightly
def test_ten_that_sleep_hold_up_nobody(course, monkeypatch):
    """They came first, and are examined in full when the three honest ones have their grades."""
    (course.root / "course.toml").write_text("timeout = 20\n")
    monkeypatch.setattr(loop, "BRIEF", 0.0)
    asleep, honest = [f"a{number}" for number in range(10)], ["x", "y", "z"]
    for student in asleep:
        hand_in(course, student, "double", words="\nimport time\ntime.sleep(3600)")
    for student in honest:
        hand_in(course, student, "double", "half")
    saved, save = [], Run.save
    monkeypatch.setattr(
        Run, "save", lambda run, *given: saved.append(given[1].first) or save(run, *given)
    )
    board = Board("ps1", Console(file=io.StringIO(), width=400))
    Watcher(course, "ps1", board).run(workers=2, idle=0.1)
    assert sorted(saved[:3]) == honest and sorted(saved[3:]) == asleep
    assert {points(course)[student] for student in honest} == {6}


def test_who_replaces_slow_work_while_it_waits_has_used_one_attempt(course, monkeypatch):
    monkeypatch.setattr(loop, "BRIEF", 0.001 - course.settings["timeout"])
    watched = watch_here(course, monkeypatch)
    hand_in(course, "ada", "double")
    note = Board.note

    def replace_it(board: Board, sentence: str) -> None:
        note(board, sentence)
        if "this takes long" in sentence and not len(day.tries(course, "ps1", "ada", time.time())) > 1:
            hand_in(course, "ada", "double", "half")

    monkeypatch.setattr(Board, "note", replace_it)
    examined, _ = watched()
    assert examined[:2] == ["ada", "ada"] and points(course) == {"ada": 6}
    tries = day.tries(course, "ps1", "ada", time.time())
    assert [each.state for each in tries] == [day.SPOILT, day.SHOWN] and day.used(
        tries, time.time()
    ) == 1
    assert "Graded today: 1 of 2" in page(course, "ada")


def test_a_folder_counts_once_nothing_in_it_changes(tmp_path):
    resting = Resting(quiet=0.2)
    path = tmp_path / "ada" / "ps1.ipynb"
    path.parent.mkdir()

    def look() -> tuple[list[str], list[str]]:
        return resting.look([("ada", path.parent)])

    for part in ("{", '"cells": ', "[]}"):
        with path.open("a") as file:
            file.write(part)
        assert look() == ([], ["ada"])
    time.sleep(0.25)
    assert look() == (["ada"], []) == look()
    resting.take("ada")
    assert look() == ([], [])
    os.utime(path, (0, 0))  # a clock that jumps
    assert look() == ([], ["ada"])
    time.sleep(0.25)
    assert look() == (["ada"], [])
    resting.take("ada")
    resting.forget("ada")
    assert look() == (["ada"], [])


def test_a_grading_run_waits_for_a_grade_that_is_being_saved_and_a_watcher_for_no_run(toy):
    """The lock file says which of the two holds the lock."""
    import subprocess
    import sys

    hold = (
        "import sys, time; from pathlib import Path; from cellgrader.course.folders import Course; "
        "from cellgrader.with_nbgrader.lock import alone\n"
        "with alone(Course(Path(sys.argv[1])), brief=bool(sys.argv[2])):\n"
        "    print('held', flush=True); sys.stdin.readline()"
    )
    for brief in ("", "brief"):
        command = [sys.executable, "-c", hold, str(toy.root), brief]
        with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:
            assert other.stdout.readline() == "held\n"
            if brief:
                other.stdin.close()  # it ends while this process waits
                with alone(toy):
                    assert (toy.folder / ".lock").read_text() == ""
            else:
                with pytest.raises(Busy, match="another one is still running"), alone(toy, brief=True):
                    pass
                other.stdin.close()
