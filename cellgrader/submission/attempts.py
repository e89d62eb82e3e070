"""Number a student's attempts: every new version of a submission is the next one.

Hidden inputs are drawn anew for each attempt, so nothing that one grading reveals helps in the next. The
number must survive a killed run, so it is kept apart from the records, in
grading/attempts/psN/STUDENT.json, with the digest of the version that it belongs to.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellgrader import bounds
from cellgrader.course.folders import Course
from cellgrader.course.records import LONGEST_NAME, Record
from cellgrader.course.small_files import NEEDED
from cellgrader.course.snapshot import Snapshot, folder_snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.submission.partners import without_names

HALF_A_YEAR = 183 * 24 * 3600  # seconds


def attempt(
    course: Course,
    name: str,
    student: str,
    submission: bytes,
    *,
    write: bool = True,
    first: Mapping[str, object] | None = None,
) -> int:
    """The number of this attempt, from 1; the same version of a submission keeps its number.

    Args:
        submission: the digest of what was handed in.
        write: count a new version; a preview does not.
        first: what ``as_first`` needs to know the work again, see ``known_again``.
    """
    path = attempt_path(course, name, student)
    known = _read(path)
    number, is_new = int(known.get("attempt", 0)), known.get("submission") != submission.hex()
    number += is_new
    if write and (is_new or first and "work" not in known):
        content = {"attempt": number, "submission": submission.hex(), **(first or {})}
        content["graded"] = known.get("graded", [*range(1, number)])
        notebooks.write_text(path, json.dumps(content) + "\n")
    return number


def note_graded(course: Course, name: str, student: str, number: int) -> None:
    """Note that this attempt has a grade: it is one of those that a class may limit."""
    path = attempt_path(course, name, student)
    known = _read(path)
    done = known.get("graded", [])
    if known and number not in done:
        notebooks.write_text(path, json.dumps({**known, "graded": [*done, number]}) + "\n")


def graded(course: Course, name: str, records: Mapping[str, Record | None]) -> list[int]:
    """The numbers of the attempts with a grade: those of the member who has the most.

    Args:
        records: by member; a grade's record says what was graded before attempts were noted.
    """
    noted = (_read(attempt_path(course, name, who)).get("graded") for who in records)
    last = max((each.attempt for each in records.values() if each and each.has_grade), default=0)
    return max((each for each in noted if each), key=len, default=[*range(1, last + 1)])


def newest(course: Course, name: str, student: str) -> tuple[int, str]:
    """The last attempt's number and digest; (0, "") if there is none or the file is not ours."""
    known = _read(attempt_path(course, name, student))
    return known.get("attempt", 0), known.get("submission", "")


def work_of(course: Course, name: str, student: str) -> Snapshot:
    """What a student handed in; the same work that came again is what came first, see ``as_first``."""
    found = without_names(folder_snapshot(course.submitted / student / name))
    return as_first(course, name, student, found)


def as_first(course: Course, name: str, student: str, found: Snapshot) -> Snapshot:
    """A submission with the time and secret with which the same work was handed in first.

    Whoever submits through the exchange again, to add an appeal, gets a new time. It is no new version,
    and not later than it was.
    """
    known = _read(attempt_path(course, name, student))
    if "work" not in known or known["work"] != known_again(found).get("work"):
        return found
    beside = {file: str(text).encode("latin-1") for file, text in dict(known["beside"]).items()}
    files = {file: content for file, content in found.files.items() if file not in NEEDED}
    return replace(found, files=files | beside)


def known_again(found: Snapshot) -> dict[str, object]:
    """A digest of the work alone, and the files that nbgrader put beside it; {} if those are odd."""
    beside = {file: found.files[file] for file in NEEDED if file in found.files}
    if any(
        len(content) > bounds.SECRET or not NEEDED[file](content) for file, content in beside.items()
    ):
        return {}
    work = {file: content for file, content in found.files.items() if file not in NEEDED}
    return {
        "work": replace(found, files=work).digest().hex(),
        "beside": {file: content.decode("latin-1") for file, content in beside.items()},
    }


def spent(most: int, number: int, done: list[int]) -> str:
    """Why this attempt is not graded, or "" if it is.

    Args:
        most: the number of attempts that the class allows; 0 is any number.
        number: the number of the attempt.
        done: the numbers of the attempts that were graded.
    """
    if not 0 < most <= len(done) or number in done:
        return ""
    return (
        f"Version {number} was not graded: course.toml allows {most} "
        f"attempt{'' if most == 1 else 's'}. The grade is that of version {max(done)}."
    )


def attempt_path(course: Course, name: str, student: str) -> Path:
    """Where a student's attempts are counted. A long name is cut."""
    file = f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.json"
    return course.folder / "attempts" / name / file


def _read(path: Path) -> dict[str, Any]:
    """What is known of the last attempt; {} if there is none or the file is not ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        done = {"graded": [int(each) for each in content["graded"]]} if "graded" in content else {}
        known = {"attempt": int(content["attempt"]), "submission": str(content["submission"])}
        return content | known | done
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return {}


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
