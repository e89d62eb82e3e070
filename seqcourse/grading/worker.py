"""Grade one submission in a process of its own; ``grade`` starts one per student.

    python -m seqcourse.grading.worker ROOT GRADING ps1 STUDENT --timeout 120

Whatever happens, a record is written: grading/records/ps1/STUDENT.json. A later version confines
the kernel and moves the hidden checks out of it; both hook in at nbgrader's own lists of
preprocessors in nbgrader_config.py, so that this file stays as it is.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.records import (
    CRASHED,
    FAILED,
    GRADED,
    MISSING,
    TIMED_OUT,
    UNREADABLE,
    Record,
    unfit_name,
    write_record,
)

# What a failed test raises; anything else is worth a sentence.
EXPECTED_ERRORS = {"AssertionError", "Mistake"}
TIMEOUT_ERROR = "CellTimeoutError"


def grade_one(course: Course, name: str, student: str, timeout: int | None = None) -> Record:
    """Autograde one submission with nbgrader and say what became of it.

    Args:
        timeout: seconds that one cell may take; the course's setting without it.
    """
    started = time.monotonic()
    status, sentence = _grade(course, name, student, timeout)
    return Record(name, student, status, sentence, round(time.monotonic() - started, 1))


def _grade(course: Course, name: str, student: str, timeout: int | None) -> tuple[str, str]:
    if unfit_name(student):
        return FAILED, unfit_name(student)
    folder = course.submitted / student / name
    path = folder / f"{name}.ipynb"
    if not path.exists():
        others = ", ".join(sorted(other.name for other in folder.glob("*")))
        if not others:
            return MISSING, f"{name}.ipynb should be in the folder, but there is nothing."
        return MISSING, (
            f"{name}.ipynb should be in the folder, but there is {others}. If that is the work, "
            f"rename it and grade {student} again."
        )
    try:
        notebooks.read(path)
    except CourseError as error:
        return UNREADABLE, str(error)
    from seqcourse.grading.release import last_line

    options = {} if timeout is None else {"Execute__timeout": timeout}
    outcome = course.api(**options).autograde(name, student, force=True, create=True)
    if not outcome["success"]:
        return FAILED, f"nbgrader could not grade the notebook: {last_line(outcome)}."
    graded = notebooks.read(course.autograded / student / name / f"{name}.ipynb")
    status, sentence = judge(graded)
    gone = lost_cells(notebooks.read(course.solution(name)), graded)
    if gone:
        _no_points_for(course, name, student, gone)
        some = _some(gone).replace("cells", "the cells").replace("cell ", "the cell ")
        sentence = f"{sentence} The student deleted {some}; what they carry counts 0.".strip()
    return status, sentence


def lost_cells(solution: dict, handed_in: dict) -> list[str]:
    """The names of answer and test cells that a submission no longer has."""
    there = {notebooks.mark(cell).get("grade_id") for cell in handed_in["cells"]}
    marks = [notebooks.mark(cell) for cell in solution["cells"]]
    needed = [mark["grade_id"] for mark in marks if mark.get("solution") or mark.get("grade")]
    return [name for name in needed if name not in there]


def _no_points_for(course: Course, name: str, student: str, cells: list[str]) -> None:
    """Give 0 points where nbgrader would wait for a grade by hand of a cell that is not there."""
    from nbgrader.api import Gradebook

    with Gradebook(course.gradebook_url) as gradebook:
        for graded in gradebook.find_submission(name, student).notebooks:
            for grade in graded.grades:
                if grade.name in cells:
                    grade.auto_score = 0.0
                    grade.needs_manual_grade = False
        gradebook.db.commit()


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


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, so that nothing is graded unseen."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Grade the submission that the command line names and write its record."""
    parser = argparse.ArgumentParser(description="Grade one submission.")
    parser.add_argument("root", type=Path)
    parser.add_argument("grading")
    parser.add_argument("assignment")
    parser.add_argument("student")
    parser.add_argument("--timeout", type=int, default=None)
    parser.add_argument("--parent", type=int, default=None)
    chosen = parser.parse_args()
    if chosen.parent is not None and os.name == "posix":
        threading.Thread(target=_end_with, args=(chosen.parent,), daemon=True).start()
    course = Course(chosen.root, chosen.grading)
    write_record(course, grade_one(course, chosen.assignment, chosen.student, chosen.timeout))


if __name__ == "__main__":
    main()
