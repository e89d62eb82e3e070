"""A term of 120 students: killed, locked out, short of disk, no total is lost, and each is right."""

from __future__ import annotations

import csv
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass

import pytest
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release.generate import release

from .confining import need_sandbox

NAMES = ("ps1", "ps2", "ps3")
STUDENTS = [f"s{number:03}" for number in range(120)]
POINTS = {"double": 3, "half": 3, "quadruple": 3, "poll": 1}
SOURCES = {"double": "def double(x):\n    return 2 * x", "half": "def half(x):\n    return x / 2"}
SOURCES |= {"quadruple": "def quadruple(x):\n    return 4 * x", "poll": "poll = 'yes'"}
SHARE, FLOOR = 0.1, 0.75
DUE = "2026-03-01T12:00:00+00:00"
SETTINGS = f"[late]\nshare_per_day = {SHARE}\nfloor = {FLOOR}\n" + "".join(
    f"[{name}]\ndue = {DUE}\n" for name in NAMES
)
DISK = 100_000  # bytes that a file may have where the disk is short; a gradebook is larger


@dataclass
class Work:
    """What one student hands in for one assignment, and what a person gives for the written answer."""

    solved: list[str]
    days: int
    by_hand: float

    @property
    def total(self) -> float:
        points = sum(POINTS[each] for each in self.solved) + self.by_hand
        return points - round(points * min(SHARE * self.days, 1 - FLOOR), 2)


def a_term(chance: random.Random) -> dict[tuple[str, str], Work]:
    return {
        (name, who): Work(
            [each for each in POINTS if chance.random() < 0.6],
            max(0, chance.randint(-4, 4)),
            chance.choice([0, 0.5, 1, 1.5, 2]),
        )
        for name in NAMES
        for who in STUDENTS
    }


def prepare(course: Course) -> None:
    """Three assignments out of the toy, in a course with due dates."""
    for name in NAMES[1:]:
        for folder in ("solutions", "solutions/checks"):
            shutil.copytree(course.root / folder / "ps1", course.root / folder / name)
        checks = course.root / "solutions" / "checks"
        shutil.copy(checks / "ps1.py", checks / f"{name}.py")
        text = (course.root / "solutions" / "ps1" / "ps1.ipynb").read_text(encoding="utf-8")
        (course.solution(name).with_name("ps1.ipynb")).unlink(missing_ok=True)
        course.solution(name).write_text(text.replace("'ps1'", f"'{name}'"), encoding="utf-8")
    (course.root / "course.toml").write_text(SETTINGS, encoding="utf-8")
    (course.root / "book").mkdir()  # by which the command knows a checkout of the course


def hand_in(course: Course, name: str, who: str, work: Work) -> None:
    book = notebooks.read(course.root / "assignments" / name / f"{name}.ipynb")
    for cell in book["cells"]:
        answered = notebooks.mark(cell).get("grade_id")
        if answered in work.solved:
            cell["source"] = SOURCES[answered]
        elif answered == "why":
            cell["source"] = f"{who} says so."
    folder = course.submitted / who / name
    folder.mkdir(parents=True)
    (folder / f"{name}.ipynb").write_text(json.dumps(book), encoding="utf-8")
    # Half an hour into the day, and so beyond the minutes that cost nothing.
    when = f"2026-03-{work.days:02} 12:30:00" if work.days else "2026-02-28 20:00:00"
    (folder / "timestamp.txt").write_text(f"{when} UTC", encoding="utf-8")


def seqcourse(course: Course, *words: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "seqcourse.cli", *words]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return subprocess.Popen(command, cwd=course.root, **pipes, **options)


def in_a_sentence(told: str) -> bool:
    """Whether the last word is a sentence, whatever nbgrader has printed before."""
    return told.splitlines()[-1].startswith("seqcourse: ")


def disturbed(course: Course, name: str, chance: random.Random) -> None:
    """Runs that are killed, meet a locked gradebook, and have no room; the last one is left alone."""
    for _ in range(4):
        run = seqcourse(course, "grade", name, start_new_session=True)
        time.sleep(chance.uniform(2, 20))
        run.kill()
        run.communicate(timeout=60)
    few = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))  # noqa: E731
    short = seqcourse(course, "grade", name, "--again", preexec_fn=few)
    told, _ = short.communicate(timeout=600)
    assert short.returncode and in_a_sentence(told), told[-3_000:]
    with closing(sqlite3.connect(course.folder / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        run = seqcourse(course, "grade", name)
        time.sleep(15)
        other.execute("COMMIT")
    told, _ = run.communicate(timeout=1_200)
    if run.returncode:  # it may give up on a gradebook that is locked so long
        assert in_a_sentence(told), told[-3_000:]
        run = seqcourse(course, "grade", name)
        told, _ = run.communicate(timeout=1_200)
    assert run.returncode == 0, told[-3_000:]


def give_by_hand(course: Course, name: str, term: dict[tuple[str, str], Work]) -> None:
    with Gradebook(course.gradebook_url) as gradebook:
        for who in STUDENTS:
            grade = gradebook.find_grade("why", name, name, who)
            grade.manual_score, grade.needs_manual_grade = term[name, who].by_hand, False
        gradebook.db.commit()


def totals(course: Course, name: str) -> dict[str, float]:
    run = seqcourse(course, "export", name, "--csv", "marks.csv")
    told, _ = run.communicate(timeout=300)
    assert run.returncode == 0, told[-3_000:]
    with open(course.root / "marks.csv", encoding="utf-8-sig", newline="") as file:
        return {line["student"]: float(line["total"]) for line in csv.DictReader(file)}


@pytest.mark.nightly
@pytest.mark.timeout(3 * 60 * 60)
def test_every_total_of_a_term_is_right(toy):
    need_sandbox()
    chance = random.Random(120)
    term = a_term(chance)
    prepare(toy)
    for name in NAMES:
        release(toy, [name])
        for who in STUDENTS:
            hand_in(toy, name, who, term[name, who])
        disturbed(toy, name, chance)
        give_by_hand(toy, name, term)
    # Everything is graded once more; what was given by hand stays.
    run = seqcourse(toy, "grade", NAMES[0], "--again")
    told, _ = run.communicate(timeout=1_200)
    assert run.returncode == 0, told[-3_000:]
    for name in NAMES:
        expected = {who: pytest.approx(term[name, who].total, abs=0.006) for who in STUDENTS}
        assert totals(toy, name) == expected, name
