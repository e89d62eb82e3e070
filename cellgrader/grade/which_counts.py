"""Which attempt counts: the last one, or with ``counts = "best"`` in course.toml the best one.

With "best" the gradebook never holds a worse attempt, not even for a moment. The files of the attempt
that counts are copied to grading/watch/psN/best/, so that it can be graded again when checks change.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course, remove
from cellgrader.course.gradebook import opened
from cellgrader.course.records import GRADED, WITH_GRADE, Record, read_record
from cellgrader.course.small_files import TIMESTAMP, time
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.course.watched import best_folder, best_path, read_json
from cellgrader.notebook import document as notebooks
from cellgrader.platforms.spreadsheet import number

if TYPE_CHECKING:
    from cellgrader.course.snapshot import Snapshot
    from cellgrader.run.examine import Examination
    from cellgrader.submission.collected import Submission
    from cellgrader.with_nbgrader.save import Saver


def best_counts(course: Course, submission: Submission) -> bool:
    """Whether the best attempt counts: if the class says so. Of partners, the last version counts."""
    return course.settings["watch.counts"] == "best" and len(submission.members) == 1


def counting(course: Course, name: str, newest: Submission) -> Submission:
    """The attempt that counts: the newest one, or an earlier one that was better."""
    if not best_counts(course, newest):
        return newest
    best = read_json(best_path(course, name, newest.first))
    folder = best_folder(course, name, newest.first)
    if newest.work.digest().hex() not in best.get("worse", ()) or not folder.is_dir():
        return newest
    return replace(newest, work=folder_snapshot(folder), attempt=int(best["attempt"]))


def save(
    course: Course, saver: Saver, found: Examination, submission: Submission, fingerprint: str
) -> Record:
    """Save an examination, unless an earlier attempt was better: its record is returned then.

    The copy of the files comes first and the note of which attempt counts last. A run that is killed
    between leaves the old note, and the attempt is examined and saved once more.
    """
    name, student = found.assignment, found.student
    if not best_counts(course, submission):
        if submission.partners(student):  # an attempt made alone counts no more
            _forget(course, name, student)
        return saver.save(found, submission, fingerprint)
    best, got, is_worse = _compared(course, found, submission)
    if is_worse:
        _note(course, name, student, {**best, "worse": [submission.work.digest().hex()]})
        sentence = worse(submission.attempt, got, best["attempt"], best["points"])
        # Without a record, `seqcourse grade` grades the attempt that counts again.
        record = read_record(course, name, student) or Record(name, student, GRADED, "")
        return replace(record, sentence=sentence, attempt=best["attempt"])
    if got is not None:
        _keep(submission.work, best_folder(course, name, student))
    record = saver.save(found, submission, fingerprint)
    if record.has_grade:
        content = {"attempt": submission.attempt, "points": got, "worse": []}
        _note(course, name, student, content)
    return record


def would_not_count(course: Course, found: Examination, submission: Submission) -> bool:
    """Whether saving an examination would change no mark, because an earlier attempt was better."""
    return best_counts(course, submission) and _compared(course, found, submission)[2]


def _compared(
    course: Course, found: Examination, submission: Submission
) -> tuple[dict, float | None, bool]:
    """What is noted as best, what this attempt is worth, and whether an earlier one is better."""
    best = read_json(best_path(course, found.assignment, found.student))
    got = worth(course, found, submission) if found.status in WITH_GRADE else None
    earlier = bool(best) and best["attempt"] != submission.attempt
    return best, got, earlier and (got is None or got < best["points"])


def _forget(course: Course, name: str, student: str) -> None:
    """Let no earlier attempt count."""
    best_path(course, name, student).unlink(missing_ok=True)
    if best_folder(course, name, student).is_dir():
        remove(best_folder(course, name, student))


def noted(course: Course, record: Record) -> int:
    """The attempt of a record's student that is noted as the best one; 0 if none is."""
    return int(read_json(best_path(course, record.assignment, record.student)).get("attempt", 0))


def worse(attempt: int, got: float | None, best: int, points: float) -> str:
    """The sentence about an attempt that does not count."""
    has = "has no grade" if got is None else f"has {automatic(got)}"
    return f"Version {attempt} {has}. Version {best}, with {number(points)}, was better and counts."


def automatic(points: float) -> str:
    """Points that checks gave, in words: "1 automatic point"."""
    return f"{number(points)} automatic point{'' if points == 1 else 's'}"


def worth(course: Course, found: Examination, submission: Submission) -> float:
    """What an examination is worth: its automatic points, less what being late costs."""
    from nbgrader.api import MissingEntry

    from cellgrader.marks.late import DAY, LatePolicy, accounts, extended, seconds_between, zone_of

    points = sum(found.points.values())
    name, student, config = found.assignment, found.student, course.config()
    handed_in = time(submission.work.files.get(TIMESTAMP, b""), zone_of(config))
    if handed_in is None:
        return points
    with opened(course) as gradebook:
        due = gradebook.find_assignment(name).duedate
        try:
            extension = gradebook.find_submission(name, student).extension
        except MissingEntry:
            extension = None
        account = accounts(gradebook, config, student).of(student)
    if due is None:
        return points
    late = seconds_between(extended(due, extension, zone_of(config)), handed_in, zone_of(config))
    policy = LatePolicy(config=config).of(name)
    late -= DAY * policy.worth_using(policy.days(late), account.left + account.here(name))
    penalty = policy.late_submission_penalty(student, points, late) if late > 0 else None
    return points - min(max(penalty or 0.0, 0.0), points)


def _note(course: Course, name: str, student: str, content: dict) -> None:
    notebooks.write_text(best_path(course, name, student), json.dumps(content) + "\n")


def _keep(work: Snapshot, folder: Path) -> None:
    """Write the files of the attempt that counts, in place of an earlier one's."""
    beside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    work.unpack(beside)
    if folder.is_dir():
        remove(folder)
    beside.rename(folder)
