"""The attempts of a student at a watched assignment, and how many of them a day allows.

Every attempt is written to grading/watch/psN/tries/STUDENT.json before it is graded, so a watcher that
is killed and started again counts what was begun. A day is a calendar day of the machine that watches.

A clock may jump. An attempt with a time in the future counts for today: setting the clock back gives no
attempts back. If its time is still in the future a day later, the clock was wrong when it was written,
and it no longer counts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, datetime, timedelta, tzinfo
from datetime import time as midnight

from cellgrader.class_settings import in_words
from cellgrader.course.folders import Course
from cellgrader.course.watched import read_json, tries_path
from cellgrader.notebook import document as notebooks

# The state of an attempt. SHOWN: the student has the page. SPOILT: it was not graded, and costs nothing.
BEGUN, GRADED, SHOWN, SPOILT = "begun", "graded", "shown", "spoilt"


@dataclass(frozen=True)
class Try:
    """One attempt.

    submission: the digest of what was handed in, in hex.
    number: the attempt's number, see ``cellgrader.submission.attempts``.
    time: when grading began, by the machine's clock (seconds since 1970).
    ahead: when the clock was first seen to be before ``time``; 0 if never.
    """

    submission: str
    number: int
    time: float
    state: str = BEGUN
    ahead: float = 0.0

    def is_of_today(self, now: float) -> bool:
        """Whether it takes one of today's attempts."""
        today = _day(now)
        if _day(self.time) > today:
            return not self.ahead or _day(self.ahead) >= today
        return _day(self.time) == today


def tries(course: Course, name: str, student: str, now: float) -> tuple[Try, ...]:
    """A student's attempts, the oldest first. Notes those whose time is in the future."""
    known = {entry.name for entry in fields(Try)}
    content = read_json(tries_path(course, name, student)).get("tries", [])
    found = tuple(Try(**{key: each[key] for key in known & each.keys()}) for each in content)
    noted = tuple(
        replace(each, ahead=now) if not each.ahead and _day(each.time) > _day(now) else each
        for each in found
    )
    if noted != found:
        _write(course, name, student, noted)
    return noted


def last(course: Course, name: str, student: str, now: float) -> Try | None:
    """The newest attempt, or None."""
    return (tries(course, name, student, now) or (None,))[-1]


def begin(course: Course, name: str, student: str, submission: str, number: int, now: float) -> Try:
    """Note that an attempt is graded from now on. The one that was begun last goes on."""
    before = tries(course, name, student, now)
    if before and (before[-1].submission, before[-1].number) == (submission, number):
        return before[-1]
    new = Try(submission, number, now)
    _write(course, name, student, (*before, new))
    return new


def note(course: Course, name: str, student: str, number: int, state: str, now: float) -> None:
    """Change the state of an attempt."""
    changed = [
        replace(each, state=state) if each.number == number else each
        for each in tries(course, name, student, now)
    ]
    _write(course, name, student, tuple(changed))


def used(before: tuple[Try, ...], now: float) -> int:
    """How many of today's attempts are used: those that were graded, or as many that were spoilt."""
    today = [each.state == SPOILT for each in before if each.is_of_today(now)]
    return max(today.count(True), today.count(False))


def next_day(now: float) -> float:
    """When the next day begins."""
    return datetime.combine(_day(now) + timedelta(days=1), midnight.min).timestamp()


def at(seconds: float, zone: tzinfo) -> str:
    """A time as people write it, in the class's zone: "26 November 2026, 00:00 Europe/Berlin"."""
    return in_words(datetime.fromtimestamp(seconds, zone))


def _day(seconds: float) -> date:
    return datetime.fromtimestamp(seconds).date()


def _write(course: Course, name: str, student: str, content: tuple[Try, ...]) -> None:
    text = json.dumps({"tries": [asdict(each) for each in content]}, indent=1)
    notebooks.write_text(tries_path(course, name, student), f"{text}\n")
