"""Whether a version is graded now: what is known of it, and what the attempts of a day allow."""

from __future__ import annotations

from typing import Any

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, UNCLEAR, Record
from cellgrader.grade.submissions import Run
from cellgrader.grade.which_counts import automatic, best_counts, noted
from cellgrader.submission.attempts import graded, newest, spent
from cellgrader.submission.collected import Submission
from cellgrader.watch import day


def refusal(
    course: Course,
    name: str,
    submission: Submission,
    tries: dict[str, tuple[day.Try, ...]],
    records: dict[str, Record | None],
    now: float,
) -> str:
    """Why a new version is not graded now, or "". Of partners, who has used most counts."""
    a_day = course.settings["watch.attempts_a_day"]
    if a_day and max(day.used(before, now) for before in tries.values()) >= a_day:
        are = "1 version a day is" if a_day == 1 else f"{a_day} versions a day are"
        then = day.at(day.next_day(now), course.settings.zone)
        return (
            f"What you handed in last waits: {are} graded. It is graded on {then}, or what you hand "
            f"in until then."
        )
    which = max(newest(course, name, who)[0] for who in submission.members)
    return spent(course.settings["attempts"], which + 1, graded(course, name, records))


def elsewhere(course: Course, name: str, student: str, digest: str, record: Record | None) -> bool:
    """Whether `seqcourse grade` has graded this version."""
    done = record is not None and record.status not in (FAILED, UNCLEAR)
    return done and newest(course, name, student) == (record.attempt, digest)


def has_ended(last: day.Try, record: Record | None) -> bool:
    """Whether the student has the page, or the file is such that grading it again finds the same."""
    if last.state == day.SHOWN:
        return True
    if record is None or record.status in (FAILED, UNCLEAR):
        return False
    return last.state == day.SPOILT and record.attempt == last.number


def is_saved(run: Run, submission: Submission, record: Record | None) -> bool:
    """Whether the grade of an attempt is in the gradebook, so that only the page is missing."""
    if record is None or record.attempt != submission.attempt:
        return False
    if best_counts(run.course, submission) and noted(run.course, record) != record.attempt:
        return False
    return record.stands_for(run.fingerprint(submission))


def ending(record: Record, which: int, found: Any) -> tuple[str, str]:
    """How the attempt of this number ended: its state, and a sentence."""
    points = f", {automatic(sum(found.points.values()))}" if found else ""
    if record.attempt != which:
        return day.SHOWN, record.sentence
    if not record.has_grade:
        return day.SPOILT, f"version {which} is {record.status}: {record.sentence}"
    return day.SHOWN, f"version {which} is {record.status}{points}"
