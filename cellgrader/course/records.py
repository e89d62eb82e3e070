"""Per-student records: the outcome of grading a submission, and a fingerprint of its inputs.

grading/records/psN/STUDENT.json is written after the grade is in the gradebook, and removed before the
gradebook changes. So an existing record is always true, even after a killed run. A submission with a
record of the same fingerprint need not be graded again.
"""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.course.snapshot import digest
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import shown
from cellgrader.printable import printable
from cellgrader.profile import the_course

# The status of a submission. The first three have a grade.
GRADED = "graded"
CRASHED = "crashed"
TIMED_OUT = "timed out"
UNREADABLE = "unreadable"
MISSING = "missing"
FAILED = "failed"
UNCLEAR = "unclear"
WITH_GRADE = (GRADED, CRASHED, TIMED_OUT)

# nbgrader treats these characters in a student's name as a glob pattern.
PATTERN = "*?[]"
# Unicode's categories of characters that steer a terminal or end a line.
CONTROL = {"Cc", "Zl", "Zp"}
# The most bytes in a student's name: the file system's limit, minus room for a prefix and suffix.
LONGEST_NAME = 240

GRADER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Record:
    """The outcome of grading one submission.

    status, sentence: the outcome in a word and in a sentence.
    fingerprint: a digest of everything the grade depends on, see ``fingerprint``.
    remarks: what was mended in the notebook.
    messages: what each grade cell's check found; "" if nothing was wrong.
    before: whether an earlier run wrote this record.
    attempt: which of the student's versions was graded, from 1.
    to_review: what an instructor should look at in the code; it costs no points.
    measured: what a whole system reached, see ``cellgrader.run.systems``.
    partners: with whom the student handed in.
    findings: what each grade cell's check found as data, see ``cellgrader.run.outcome.as_data``.
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
    attempt: int = 1
    to_review: tuple[str, ...] = ()
    measured: dict = field(default_factory=dict, compare=False)
    partners: tuple[str, ...] = ()
    findings: dict[str, dict] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """All that is said about a submission is said through a record: its texts are cleaned here."""
        clean = {
            "sentence": printable(self.sentence),
            "remarks": tuple(map(printable, self.remarks)),
            "messages": {cell: printable(message) for cell, message in self.messages.items()},
            "to_review": tuple(map(printable, self.to_review)),
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @property
    def has_grade(self) -> bool:
        return self.status in WITH_GRADE

    @property
    def told(self) -> str:
        """The sentence, and with whom the student handed in."""
        partners = f"Handed in with {' and '.join(map(shown, self.partners))}." if self.partners else ""
        return f"{self.sentence} {partners}".strip()

    def stands_for(self, fingerprint: str) -> bool:
        """Whether the record is still valid for this fingerprint. A FAILED one never is: retry it.

        Nor is an UNCLEAR one, which has no fingerprint.
        """
        return self.status != FAILED and bool(fingerprint) and self.fingerprint == fingerprint


def record_path(course: Course, name: str, student: str) -> Path:
    """The path of a submission's record. A long student name is truncated."""
    return course.records / name / f"{os.fsdecode(os.fsencode(student)[:LONGEST_NAME])}.json"


def write_record(course: Course, record: Record) -> None:
    """Write a record atomically."""
    content = asdict(record)
    del content["before"]
    path = record_path(course, record.assignment, record.student)
    notebooks.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_record(course: Course, name: str, student: str) -> Record | None:
    """The record of a submission, or None if there is none or the file is not a record."""
    try:
        content = json.loads(record_path(course, name, student).read_text(encoding="utf-8"))
        known = {entry.name for entry in fields(Record)}
        content = {key: value for key, value in content.items() if key in known}
        for key in ("remarks", "to_review", "partners"):
            content[key] = tuple(content.get(key, ()))
        return Record(**content)
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def remove_record(course: Course, name: str, student: str) -> None:
    """Remove a record before its submission's grade changes."""
    record_path(course, name, student).unlink(missing_ok=True)


def fingerprint(course: bytes, submission: bytes, options: dict[str, object]) -> str:
    """A digest of everything that a grade depends on: equal fingerprints, equal grades.

    Args:
        course: digest of the assignment's files, see ``course_snapshot``.
        submission: digest of the submission's files.
        options: options that can change a grade, such as the time limit.
    Returns:
        A hex digest of these and of this package's code.
    """
    encoded_options = json.dumps(options, sort_keys=True, default=str)
    return digest([code_digest(), course, submission, encoded_options.encode()]).hex()


@cache
def code_digest() -> bytes:
    """A digest of the code that can affect points."""
    package = the_course().folder
    course = [*package.glob("*.py")]
    course += [path for part in the_course().decides for path in (package / part).rglob("*.py")]
    parts: list[bytes] = []
    for root, paths in ((package, course), (GRADER, GRADER.rglob("*.py"))):
        for path in sorted(paths):
            name = f"{root.name}/{path.relative_to(root).as_posix()}"  # wherever the packages lie
            parts += [name.encode(), path.read_bytes()]
    return digest(parts)


def unfit_name(student: str) -> str:
    """Why nbgrader cannot grade a folder of this name, or "" if it can."""
    if set(student) & set(PATTERN):
        return (
            f"The folder's name should hold none of {' '.join(PATTERN)}, which nbgrader reads as a "
            f"pattern, but is {shown(student)}. Rename the folder."
        )
    try:
        length = len(student.encode())
    except UnicodeEncodeError:
        return (
            f"The folder's name should be in UTF-8, but {shown(student)} is not, perhaps because it "
            f"comes from a zip file of another system. Rename the folder."
        )
    if CONTROL & set(map(unicodedata.category, student)):
        return (
            f"The folder's name should be without line ends and other control characters, but is "
            f"{shown(student)}. Rename the folder."
        )
    if length > LONGEST_NAME:
        return (
            f"The folder's name should have at most {LONGEST_NAME} bytes, but has {length}. "
            f"Rename the folder."
        )
    return ""
