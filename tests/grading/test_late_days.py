"""Late days: an account for the whole course, spent before being late costs points."""

from __future__ import annotations

import csv
import io
import shutil
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.course.records import GRADED, Record, write_record
from cellgrader.marks.export import as_table as as_export
from cellgrader.marks.export import read_course, read_lines
from cellgrader.marks.late import DAY, MARK, MARKED, LatePolicy, accounts, renew_penalties
from cellgrader.marks.late_days import Account
from cellgrader.marks.scores import as_table, read_scores
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.pages.report import make_report
from cellgrader.people.enrolment import extend
from cellgrader.release.generate import release

from .test_feedback import words

DUE = datetime(2026, 1, 10, 12)
FOUR = "[late]\nshare_per_day = 0.1\nfloor = 0.5\ndays = 4\n"


@pytest.fixture(scope="module")
def two(empty_toy, tmp_path_factory) -> Course:
    """Two assignments, ps10 due before ps1. Ada's work is late in both, Ben's in one, Cleo's in none."""
    toy = Course(tmp_path_factory.mktemp("days") / "course")
    shutil.copytree(empty_toy.root, toy.root)
    shutil.copytree(toy.root / "solutions" / "ps1", toy.root / "solutions" / "ps10")
    (toy.root / "solutions" / "ps10" / "ps1.ipynb").rename(toy.solution("ps10"))
    shutil.copy(toy.solutions / "checks" / "ps1.py", toy.solutions / "checks" / "ps10.py")
    release(toy)
    late = {
        "ps10": (-7, {"ada": 3.0, "ben": 1.5, "cleo": -1.0}),
        "ps1": (0, {"ada": 2.5, "ben": -0.5, "cleo": 0.01}),
    }
    with Gradebook(toy.gradebook_url) as gradebook:
        for name, (week, days) in late.items():
            due = DUE + timedelta(days=week)
            gradebook.update_or_create_assignment(name, duedate=due)
            for who, more in days.items():
                gradebook.update_or_create_student(who)
                gradebook.update_or_create_submission(name, who, timestamp=due + timedelta(days=more))
                for grade in gradebook.find_submission_notebook(name, name, who).grades:
                    grade.auto_score, grade.needs_manual_grade = 2.0, False
                folder = toy.autograded / who / name
                folder.mkdir(parents=True)
                shutil.copy(toy.solution(name), folder)
                (toy.submitted / who / name).mkdir(parents=True)
                write_record(toy, Record(name, who, GRADED, ""))
        gradebook.db.commit()
    (toy.root / "course.toml").write_text(FOUR)
    return toy


@pytest.fixture
def course(two, tmp_path) -> Course:
    shutil.copytree(two.root, tmp_path / "course")
    return Course(tmp_path / "course")


def settings(course: Course, text: str) -> None:
    (course.root / "course.toml").write_text(text)


def spent(course: Course) -> dict[str, dict[str, int]]:
    with Gradebook(course.gradebook_url) as gradebook:
        found = accounts(gradebook, course.config())
    return {who: dict(account.used) for who, account in found.known.items() if account.used}


def penalties(course: Course, name: str) -> dict[str, float]:
    return {line.student: line.penalty for line in read_course(course, name)}


def test_days_are_spent_on_what_is_due_first_and_at_most_two_on_each(course):
    """Ten points each; a tenth for each day that no late day pays."""
    assert spent(course) == {"ada": {"ps10": 2, "ps1": 2}, "ben": {"ps10": 2}}
    assert penalties(course, "ps10") == {"ada": 1, "ben": 0, "cleo": 0}
    assert penalties(course, "ps1") == {"ada": 1, "ben": 0, "cleo": 0}
    settings(course, FOUR.replace("days = 4", "days = 3"))
    assert spent(course)["ada"] == {"ps10": 2, "ps1": 1}
    assert penalties(course, "ps1")["ada"] == 2
    settings(course, FOUR + "days_per_assignment = 9\n")
    assert spent(course)["ada"] == {"ps10": 3, "ps1": 1}
    settings(course, FOUR.replace("days = 4", "days = 0"))
    assert spent(course) == {} and penalties(course, "ps10")["ada"] == 3


def test_the_same_date_goes_by_name(course):
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps10", duedate=DUE)
        gradebook.find_submission("ps10", "ada").timestamp = DUE + timedelta(days=3)
        gradebook.db.commit()
    settings(course, FOUR.replace("days = 4", "days = 2"))
    assert spent(course)["ada"] == {"ps1": 2}


def test_an_extension_gives_days_back(course):
    settings(course, FOUR.replace("days = 4", "days = 3"))
    assert penalties(course, "ps1")["ada"] == 2
    extend(course, "ps10", "ada", "2d")
    assert spent(course)["ada"] == {"ps10": 1, "ps1": 2}
    assert penalties(course, "ps1")["ada"] == 1


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (FOUR + "[ps10.late]\ndays_per_assignment = 0\n", {"ps1": 2}),
        (FOUR + "[ps10.late]\nshare_per_day = 0\n", {"ps1": 2}),
        (FOUR + "[ps10.late]\nfloor = 0.9\n", {"ps1": 2}),
        (FOUR + "[ps10.late]\ngrace_minutes = 2880\n", {"ps10": 1, "ps1": 2}),
        ('leave_out = ["ps10"]\n' + FOUR, {"ps1": 2}),
        (FOUR.replace("share_per_day = 0.1", "share_per_day = 0.0"), {}),
    ],
)
def test_no_day_is_spent_where_it_saves_nothing(course, text, used):
    settings(course, text)
    assert spent(course).get("ada", {}) == used


def test_an_assignment_has_a_price_of_its_own(course):
    settings(course, "[late]\nshare_per_day = 0.1\nfloor = 0\n[ps10.late]\nshare_per_day = 0.2\n")
    assert penalties(course, "ps10") == {"ada": 6, "ben": 4, "cleo": 0}
    assert penalties(course, "ps1")["ada"] == 3


def test_work_that_was_taken_out_spends_nothing(course):
    shutil.rmtree(course.submitted / "ada" / "ps10")
    assert spent(course)["ada"] == {"ps1": 2}


def test_a_mark_without_a_time_counts_one_day(course):
    with Gradebook(course.gradebook_url) as gradebook:
        gradebook.find_submission("ps1", "ben").timestamp = None
        gradebook.db.commit()
    notebooks.write_text(course.submitted / "ben" / "ps1" / MARK, f"{MARKED}.\n")
    assert spent(course)["ben"] == {"ps10": 2, "ps1": 1}
    assert penalties(course, "ps1")["ben"] == 0


def test_tables_and_the_report_say_what_was_spent(course):
    records = [Record("ps1", who, GRADED, "") for who in ("ada", "ben", "cleo")]
    scores = read_scores(course, "ps1", records)
    shown = Console(width=200, record=True, file=io.StringIO())
    shown.print(as_table(scores))
    text = shown.export_text()
    assert "days: late days used here, and left" in text and "2, 0" in text and "0, 2" in text
    table = as_export(read_course(course, "ps1"), "ps1")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(table))}
    assert (rows["ada"]["late_days"], rows["ada"]["late_days_left"]) == ("2", "0")
    assert (rows["cleo"]["late_days"], rows["cleo"]["late_days_left"]) == ("0", "4")
    assert (rows["ada"]["late_penalty"], rows["ada"]["total"]) == ("1", "9")
    assert scores.row("ada").total == 9 and "-1" in text
    report = make_report(scores, records).summary
    assert "Late days used here: 2 (ada)." in report and "No late day left: 1 (ada)." in report
    settings(course, "")
    scores = read_scores(course, "ps1", records)
    assert "late_days" not in as_export(read_course(course, "ps1"), "ps1")
    assert not [line for line in make_report(scores, records).summary if "late day" in line]


def test_students_see_their_account(course):
    page = words(make_feedback(course, "ps1", "ada").read_text(encoding="utf-8"))
    assert "Late days: 2 used here, 2 elsewhere, 0 of 4 left." in page
    assert "1 of your 10 points are taken off" in page
    page = words(make_feedback(course, "ps1", "cleo").read_text(encoding="utf-8"))
    assert "Late days: 0 used here, 0 elsewhere, 4 of 4 left." in page
    settings(course, "")
    assert "Late days" not in words(make_feedback(course, "ps1", "cleo").read_text(encoding="utf-8"))


def test_a_larger_class_needs_no_more_queries(course):
    from sqlalchemy import event

    def queries() -> int:
        asked: list[str] = []
        with Gradebook(course.gradebook_url) as gradebook:
            event.listen(gradebook.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
            renew_penalties(gradebook, "ps1", course.config())
            read_lines(gradebook, "ps1")
        return len(asked)

    few = queries()
    with Gradebook(course.gradebook_url) as gradebook:
        for number in range(8):
            gradebook.update_or_create_student(f"s{number}")
            late = DUE + timedelta(days=1)
            gradebook.update_or_create_submission("ps1", f"s{number}", timestamp=late)
    assert queries() <= few


def test_an_account_adds_up():
    account = Account(3).spend("ps1", 2).spend("ps2", 0)
    assert (account.here("ps1"), account.here("ps2"), account.left) == (2, 0, 1)
    assert Account().sentence("ps1") == ""
    policy = LatePolicy(share_per_day=0.1, floor=0.5, days_per_assignment=2)
    assert [policy.worth_using(policy.days(days * DAY), 4) for days in (0, 1, 6, 7)] == [0, 1, 2, 0]
