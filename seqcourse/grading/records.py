"""Per-student records: what became of a submission, and of which bytes.

grading/records/psN/STUDENT.json is written once the grade is in the gradebook, and taken away before
anything there changes. So a record that is there speaks the truth however a run ended, and a
submission whose record has the same fingerprint need not be graded again.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.parse import shown
from seqcourse.grading.snapshot import digest

# What became of a submission. The first three have a grade.
GRADED = "graded"
CRASHED = "crashed"
TIMED_OUT = "timed out"
UNREADABLE = "unreadable"
MISSING = "missing"
FAILED = "failed"
WITH_GRADE = (GRADED, CRASHED, TIMED_OUT)

# With these in a student's name nbgrader would look for other students, too.
PATTERN = "*?[]"
# Bytes of a student's name: those of a file's, with room for what is put around it.
LONGEST_NAME = 240

PACKAGE = Path(__file__).resolve().parents[1]
# The parts of the package that decide about points: what a notebook imports and what judges it.
DECIDES = ("check", "grading", "functional", "nn", "models", "data", "decode", "metrics", "train", "zoo")


@dataclass(frozen=True)
class Record:
    """What became of one submission, in one word and one sentence.

    ``messages`` say per grade cell what its check found (empty: all right), ``remarks`` what was
    mended before. ``fingerprint`` stands for everything the grade depends on, see ``fingerprint``.
    ``before`` is true of a record that an earlier run wrote and this one only read.
    """

    assignment: str
    student: str
    status: str
    sentence: str
    seconds: float = field(default=0.0, compare=False)
    fingerprint: str = field(default="", compare=False)
    remarks: tuple[str, ...] = ()
    messages: dict[str, str] = field(default_factory=dict)
    before: bool = field(default=False, compare=False)

    @property
    def has_grade(self) -> bool:
        return self.status in WITH_GRADE

    def stands_for(self, fingerprint: str) -> bool:
        """Whether grading again could find nothing else. What failed may work the next time."""
        return self.status != FAILED and bool(fingerprint) and self.fingerprint == fingerprint


def record_path(course: Course, name: str, student: str) -> Path:
    """Where the record of a submission lies, under the student's name as far as it can."""
    return course.records / name / f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.json"


def write_record(course: Course, record: Record) -> None:
    """Write a record beside its place and move it there."""
    content = asdict(record)
    del content["before"]
    path = record_path(course, record.assignment, record.student)
    notebooks.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_record(course: Course, name: str, student: str) -> Record | None:
    """The record of a submission, or None if it was never graded or the file is none of ours."""
    try:
        content = json.loads(record_path(course, name, student).read_text(encoding="utf-8"))
        known = {entry.name for entry in fields(Record)}
        content = {key: value for key, value in content.items() if key in known}
        content["remarks"] = tuple(content.get("remarks", ()))
        return Record(**content)
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return None


def remove_record(course: Course, name: str, student: str) -> None:
    """Take a record away: what it says is about to change."""
    record_path(course, name, student).unlink(missing_ok=True)


def fingerprint(course: bytes, submission: bytes, options: dict[str, object]) -> str:
    """Equal fingerprints get equal grades.

    Args:
        course: digest of the files that say how the assignment is graded, see ``snapshot``.
        submission: digest of what was handed in.
        options: what was asked for and can change a grade, such as the time limit.
    Returns:
        A digest of these and of this package's code.
    """
    said = json.dumps(options, sort_keys=True, default=str)
    return digest([code_digest(), course, submission, said.encode()]).hex()


@cache
def code_digest() -> bytes:
    """A digest of the package's code as far as it decides about points."""
    paths = [path for part in DECIDES for path in (PACKAGE / part).rglob("*.py")]
    paths = sorted([*paths, *PACKAGE.glob("*.py")])
    parts = [
        part for path in paths for part in (str(path.relative_to(PACKAGE)).encode(), path.read_bytes())
    ]
    return digest(parts)


def unfit_name(student: str) -> str:
    """Why nbgrader cannot grade a folder of this name; "" where it can."""
    if set(student) & set(PATTERN):
        return (
            f"The folder's name should hold none of {' '.join(PATTERN)}, which nbgrader takes for a "
            f"pattern, but is {shown(student)}. Rename the folder."
        )
    try:
        length = len(student.encode())
    except UnicodeEncodeError:
        return (
            f"The folder's name should be in UTF-8, but {shown(student)} is not, perhaps because it "
            f"comes from a zip file of another system. Rename the folder."
        )
    if length > LONGEST_NAME:
        return (
            f"The folder's name should have at most {LONGEST_NAME} bytes, but has {length}. "
            f"Rename the folder."
        )
    return ""
