"""What being late costs, by the policy of the course."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from cellgrader.course.small_files import TIMESTAMP, kept, time
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.errors import CourseError
from cellgrader.marks.late import (
    DAY,
    MINUTE,
    LatePolicy,
    extended,
    renew_penalties,
    seconds_between,
    without_time,
)
from cellgrader.notebook import document as notebooks
from cellgrader.people.enrolment import extend
from cellgrader.release.generate import release
from cellgrader.run.examine import Examination
from cellgrader.submission.collected import Submission
from cellgrader.with_nbgrader.save import Saver

TENTH = {"share_per_day": 0.1, "grace_minutes": 15, "floor": 0.5}


def test_as_it_stands_it_costs_nothing():
    assert LatePolicy().late_submission_penalty("ada", 50, 30 * DAY) is None


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [
        (1, None),
        (15 * MINUTE, None),
        (15 * MINUTE + 1, 4),
        (15 * MINUTE + DAY, 4),
        (15 * MINUTE + DAY + 1, 8),
        (4 * DAY, 16),
        (6 * DAY, 20),
        (400 * DAY, 20),
    ],
)
def test_a_tenth_for_each_day_that_has_begun_and_half_stays(seconds, lost):
    assert LatePolicy(**TENTH).late_submission_penalty("ada", 40, seconds) == lost


def test_nobody_without_points_pays():
    assert LatePolicy(**TENTH).late_submission_penalty("ada", 0, 2 * DAY) is None


def test_points_given_by_hand_later_count_too(toy):
    release(toy)
    config = toy.config(LatePolicy__share_per_day=0.5, LatePolicy__floor=0.0)
    assert isinstance(config, Config)
    due = datetime(2026, 1, 10, 12)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=due)
        for who, days in (("early", -1), ("late", 0.5)):
            gradebook.update_or_create_student(who)
            gradebook.update_or_create_submission("ps1", who, timestamp=due + timedelta(days=days))
            for name, points in (("double-test", 3), ("why", 2)):
                grade = gradebook.find_grade(name, "ps1", "ps1", who)
                grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)

        def penalty(who: str) -> float | None:
            return gradebook.find_submission_notebook("ps1", "ps1", who).late_submission_penalty

        assert (penalty("early"), penalty("late")) == (None, 2.5)
        gradebook.find_grade("why", "ps1", "ps1", "late").manual_score = 1
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") == 2
        # points that are held back cost nothing
        gradebook.find_grade("why", "ps1", "ps1", "late").needs_manual_grade = True
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") == 1.5
        # and an extension is an extension
        gradebook.grant_extension("ps1", "late", days=1)
        renew_penalties(gradebook, "ps1", config)
        assert penalty("late") is None


BERLIN = ZoneInfo("Europe/Berlin")
TIMES = [
    ("2026-10-24 17:59:00 +02:00", (15, 59)),
    ("2026-10-24 17:59 +0200", (15, 59)),
    ("2026-10-24T17:59:00Z", (17, 59)),
    ("2026-10-24 17:59:00.123456 utc", (17, 59)),
    ("2026-10-24 17:59:00 Europe/Berlin", (15, 59)),
    ("2026-10-24 17:59:00 America/New_York", (21, 59)),
    ("2026-10-24 17:59:00 America/Argentina/Buenos_Aires", (20, 59)),
    ("2026-10-24 17:59:00", (15, 59)),  # in the class's zone
]


@pytest.mark.parametrize(("text", "clock"), TIMES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_time_is_read_in_its_zone_however_an_editor_saved_it(text, clock, encoding):
    found = time(f"{text}\r\n".encode(encoding), BERLIN)
    assert found.replace(microsecond=0) == datetime(2026, 10, 24, *clock)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2026-10-24 17:59 CEST",
            "2026-07-24 17:59 CET",
            "2026-07-24 17:59 EST",
            "2026-10-24 17:59 IST",
        ),
        *("2026-10-24 17:59 UTC+2", "2026-10-24 17:59 Europe/Berln", "2026-10-24 17:59 Europe"),
        *("2026-10-24 17:59 ../UTC", "2026-10-24 17:59 right/UTC", "2026-10-24 17:59 UTC UTC"),
        *("2026-10-24 06:00:00 PM", "24.10.2026 23:30", "10/24/2026 23:30", "2026-13-01 00:00", ""),
        *("2026-10-24 17:59 UTC\n2026-10-24 18:59 UTC", "0001-01-01 00:00"),
        *(f"2026-10-24 17:59 {zone}" for zone in ("x" * 300, "a/../x", "/x", "\udcf6")),
        "1" * 600_000,
    ],
)
def test_what_is_no_known_zone_is_no_time(text):
    assert time(os.fsencode(text), BERLIN) is None


def test_of_an_hour_that_comes_twice_the_first_one_counts():
    assert time(b"2026-10-25 02:30", BERLIN) == datetime(2026, 10, 25, 0, 30)
    assert time(b"2026-03-29 02:30", BERLIN) == datetime(2026, 3, 29, 0, 30)  # skipped: 01:30 or 03:30


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_a_night_when_clocks_change_costs_nobody_a_day(zone):
    """Every evening of a year, and some days later the same hour: so many days, by the clock."""
    policy, where = LatePolicy(share_per_day=0.1, grace_minutes=0), ZoneInfo(zone)

    def utc(clock: datetime) -> datetime:
        return clock.replace(tzinfo=where).astimezone(UTC).replace(tzinfo=None)

    for number in range(366):
        due = datetime(2026, 1, 1, 18) + timedelta(number)
        for days in (1, 2, 7):
            then = due + timedelta(days)
            assert policy.days(seconds_between(utc(due), utc(then), where)) == days
            later = utc(due) + timedelta(days)  # so many times 24 hours
            assert policy.days(seconds_between(utc(due), later, where)) <= days
            more = extended(utc(due), timedelta(days), where)
            assert seconds_between(more, max(utc(then), later), where) == 0
        assert policy.days(seconds_between(utc(due), utc(due) + timedelta(hours=2), where)) == 1
        assert seconds_between(utc(due), utc(due) - timedelta(hours=2), where) == 0


@pytest.mark.parametrize(("zone", "penalty"), [("Europe/Berlin", 1), ("UTC", 2)])
def test_the_class_s_zone_counts_the_days(toy, zone, penalty):
    """Due on 24 October at 18:00; the next day has 25 hours in Berlin."""
    settings = f'zone = "{zone}"\n[late]\nshare_per_day = 0.1\n[ps1]\ndue = 2026-10-24T18:00:00+02:00\n'
    (toy.root / "course.toml").write_text(settings)
    release(toy)
    with Gradebook(toy.gradebook_url) as gradebook:
        gradebook.update_or_create_student("ada")
        handed_in = datetime(2026, 10, 25, 17, 10)
        gradebook.update_or_create_submission("ps1", "ada", timestamp=handed_in)
        for grade in gradebook.find_submission_notebook("ps1", "ps1", "ada").grades:
            grade.auto_score, grade.needs_manual_grade = 2.0, False
        gradebook.db.commit()
        renew_penalties(gradebook, "ps1", toy.config())
        assert gradebook.find_submission("ps1", "ada").late_submission_penalty == penalty
    assert extend(toy, "ps1", "ada", "1d") == datetime(2026, 10, 25, 17 if zone != "UTC" else 16)


def test_a_time_that_cannot_be_read_is_unknown_and_the_instructor_is_told(released):
    """Also where an older version took the word for UTC, and the gradebook has that time."""
    folder = released.submitted / "ada" / "ps1"
    notebooks.write(notebooks.read(released.released("ps1")), folder / "ps1.ipynb")
    found = Examination("ps1", "ada", "graded", "", (folder / "ps1.ipynb").read_text(), {}, {})

    def saved(content: bytes):
        (folder / TIMESTAMP).write_bytes(content)
        submission = Submission(("ada",), "ada", 1, folder_snapshot(folder))
        assert Saver(released, "ps1").save(found, submission, "").status == "graded"
        with Gradebook(released.gradebook_url) as gradebook:
            return gradebook.find_submission("ps1", "ada").timestamp

    assert saved(b"2026-10-24 17:59 CEST") is None
    assert saved("2026-10-24 17:59 UTC".encode("utf-16")) == datetime(2026, 10, 24, 17, 59)
    # nbgrader reads the copy, in UTF-8
    assert (released.autograded / "ada" / "ps1" / TIMESTAMP).read_text() == "2026-10-24 17:59 UTC"
    assert without_time(released, "ps1", ["ada", "ben"]) == ""
    assert saved(b"2026-10-24 17:59:00 CEST") is None and TIMESTAMP not in kept(folder)
    said = without_time(released, "ps1", ["ada", "ben"])
    assert "when ada handed in" in said and "2026-11-20 18:03:00 Europe/Berlin" in said


def test_a_due_date_in_an_unknown_zone_is_refused(toy):
    """nbgrader's own commands and forms read due dates as we read times."""
    (toy.root / "course.toml").write_text('zone = "Europe/Berlin"\n')
    toy.config()  # as each of its programs does
    with Gradebook(toy.gradebook_url) as gradebook:
        for due, hour in (("Europe/London", 18), ("+0000", 18), ("", 17)):
            gradebook.update_or_create_assignment("ps1", duedate=f"2026-11-20 18:00:00 {due}".strip())
            assert gradebook.find_assignment("ps1").duedate == datetime(2026, 11, 20, hour)
        gradebook.update_or_create_assignment("ps1", duedate=None)
        with pytest.raises(CourseError, match="should look like 2026-11-20 18:03:00 Europe/Berlin"):
            gradebook.update_or_create_assignment("ps1", duedate="2026-11-20 18:00:00 CEST")
    command = [sys.executable, "-m", "nbgrader", "db", "assignment", "add", "ps1"]
    done = subprocess.run(
        [*command, "--duedate=2026-11-20 06:00:00 PM"], cwd=toy.root, capture_output=True, text=True
    )
    assert done.returncode == 1 and "but is '2026-11-20 06:00:00 PM'" in done.stderr
    assert "Traceback" not in done.stderr
    with Gradebook(toy.gradebook_url) as gradebook:
        assert gradebook.find_assignment("ps1").duedate is None
