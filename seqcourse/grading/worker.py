"""Grade one submission in a process of its own; ``grade`` starts one per student.

    python -m seqcourse.grading.worker ROOT GRADING ps1 STUDENT --timeout 120

Whatever happens, a record is written: grading/records/ps1/STUDENT.json. A later version confines
the kernel and moves the hidden checks out of it; both hook in at nbgrader's own lists of
preprocessors in nbgrader_config.py, so that this file stays as it is.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course

# What became of a submission. The first three have a grade.
GRADED = "graded"
CRASHED = "crashed"
TIMED_OUT = "timed out"
UNREADABLE = "unreadable"
MISSING = "missing"
FAILED = "failed"
WITH_GRADE = (GRADED, CRASHED, TIMED_OUT)

# What a failed test raises; anything else is worth a sentence.
EXPECTED_ERRORS = {"AssertionError", "Mistake"}
TIMEOUT_ERROR = "CellTimeoutError"


@dataclass(frozen=True)
class Record:
    """What became of one submission, in one word and one sentence."""

    assignment: str
    student: str
    status: str
    sentence: str
    seconds: float = 0.0

    @property
    def has_grade(self) -> bool:
        return self.status in WITH_GRADE


def record_path(course: Course, name: str, student: str) -> Path:
    """Where the record of a submission lies."""
    return course.records / name / f"{student}.json"


def write_record(course: Course, record: Record) -> None:
    """Write a record beside its place and move it there."""
    path = record_path(course, record.assignment, record.student)
    notebooks.write_text(path, json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


def read_record(course: Course, name: str, student: str) -> Record | None:
    """The record of a submission, or None if it was never graded."""
    path = record_path(course, name, student)
    if not path.exists():
        return None
    return Record(**json.loads(path.read_text(encoding="utf-8")))


def grade_one(course: Course, name: str, student: str, timeout: int | None = None) -> Record:
    """Autograde one submission with nbgrader and say what became of it.

    Args:
        timeout: seconds that one cell may take; the course's setting without it.
    """
    started = time.monotonic()
    status, sentence = _grade(course, name, student, timeout)
    return Record(name, student, status, sentence, round(time.monotonic() - started, 1))


def _grade(course: Course, name: str, student: str, timeout: int | None) -> tuple[str, str]:
    folder = course.submitted / student / name
    path = folder / f"{name}.ipynb"
    if not path.exists():
        others = ", ".join(sorted(other.name for other in folder.glob("*"))) or "nothing"
        return MISSING, f"{name}.ipynb should be in the folder, but there is {others}."
    try:
        notebooks.read(path)
    except CourseError as error:
        return UNREADABLE, str(error)
    from seqcourse.grading.release import last_line

    options = {} if timeout is None else {"Execute__timeout": timeout}
    outcome = course.api(**options).autograde(name, student, force=True, create=True)
    if not outcome["success"]:
        return FAILED, f"nbgrader could not grade the notebook: {last_line(outcome)}."
    return judge(notebooks.read(course.autograded / student / name / f"{name}.ipynb"))


def judge(graded: dict) -> tuple[str, str]:
    """Read the executed notebook: did a cell crash, was one stopped?"""
    stopped, crashed = [], []
    unanswered = False
    for number, cell in enumerate(graded["cells"], start=1):
        label = notebooks.mark(cell).get("grade_id") or f"number {number}"
        for output in cell.get("outputs", []):
            error = output.get("ename")
            if error == TIMEOUT_ERROR:
                stopped.append(label)
            elif error == "NotImplementedError":
                unanswered = True
            elif error == "NameError" and unanswered:
                pass  # a test looks for what was not answered
            elif error and error not in EXPECTED_ERRORS and error != "KeyboardInterrupt":
                crashed.append(f"{label} ({error})")
    if stopped:
        return TIMED_OUT, f"Stopped because it ran too long: {_some(stopped)}."
    if crashed:
        return CRASHED, f"An error that is no failed test: {_some(crashed)}."
    return GRADED, ""


def _some(labels: list[str], shown: int = 3) -> str:
    """The first few cells by name, and how many more there are."""
    cells = "cell" if len(labels) == 1 else "cells"
    rest = f" and {len(labels) - shown} more" if len(labels) > shown else ""
    return f"{cells} {', '.join(labels[:shown])}{rest}"


def main() -> None:
    """Grade the submission that the command line names and write its record."""
    parser = argparse.ArgumentParser(description="Grade one submission.")
    parser.add_argument("root", type=Path)
    parser.add_argument("grading")
    parser.add_argument("assignment")
    parser.add_argument("student")
    parser.add_argument("--timeout", type=int, default=None)
    chosen = parser.parse_args()
    course = Course(chosen.root, chosen.grading)
    write_record(course, grade_one(course, chosen.assignment, chosen.student, chosen.timeout))


if __name__ == "__main__":
    main()
