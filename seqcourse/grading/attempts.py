"""Number a student's attempts: every new version of a submission is the next one.

Hidden inputs are drawn anew for each attempt, so nothing that one grading reveals helps in the next. The
number must survive a killed run, so it is kept apart from the records, in
grading/attempts/psN/STUDENT.json, with the digest of the version that it belongs to.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.records import LONGEST_NAME

HALF_A_YEAR = 183 * 24 * 3600  # seconds


def attempt(course: Course, name: str, student: str, submission: bytes, *, write: bool = True) -> int:
    """The number of this attempt, from 1; the same version of a submission keeps its number.

    Args:
        submission: the digest of what was handed in.
        write: count a new version; a preview does not.
    """
    path = attempt_path(course, name, student)
    number, known = _read(path)
    if known != submission.hex():
        number += 1
        content = {"attempt": number, "submission": submission.hex()}
        if write:
            notebooks.write_text(path, json.dumps(content) + "\n")
    return number


def last_attempt(course: Course, name: str, student: str) -> int | None:
    """The number of the last attempt; None if none was counted."""
    return _read(attempt_path(course, name, student))[0] or None


def spent(most: int, number: int, graded: int) -> str:
    """Why this attempt is not graded, or "" if it is.

    Args:
        most: the number of attempts that the class allows; 0 is any number.
        number: the number of the attempt.
        graded: the number of the attempt that has a grade; 0 without one.
    """
    if not 0 < most <= graded < number:
        return ""
    return (
        f"Version {number} was not graded: course.toml allows {most} "
        f"attempt{'' if most == 1 else 's'}. The grade is that of version {graded}."
    )


def attempt_path(course: Course, name: str, student: str) -> Path:
    """Where a student's attempts are counted. A long name is cut."""
    file = f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.json"
    return course.folder / "attempts" / name / file


def _read(path: Path) -> tuple[int, str]:
    """The last attempt's number and digest; (0, "") if there is none or the file is not ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return int(content["attempt"]), str(content["submission"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return 0, ""


def last_years(course: Course) -> str:
    """A sentence if the secret that hidden inputs come from may be that of an earlier class."""
    path = course.folder / "secret"
    if not path.is_file() or time.time() - path.stat().st_mtime < HALF_A_YEAR:
        return ""
    drawn = time.strftime("%B %Y", time.localtime(path.stat().st_mtime))
    return (
        f"The hidden inputs come from {course.grading}/secret, drawn in {drawn}. Is this a new class? "
        f"Then move {course.grading}/ away: each class has a gradebook and a secret of its own."
    )
