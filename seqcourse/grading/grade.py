"""Grade every submission of an assignment, each in a process of its own.

A submission that breaks its process breaks nothing else: the others go on, and it gets a record
that says what happened.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from seqcourse.errors import CourseError
from seqcourse.grading.course import Course
from seqcourse.grading.worker import FAILED, Record, read_record, record_path, write_record

# Seconds for a whole submission, beyond which its process is ended from outside.
WHOLE = 1200


def grade(
    course: Course,
    name: str,
    students: Iterable[str] = (),
    *,
    workers: int | None = None,
    timeout: int | None = None,
    tell: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Autograde the submissions of ``students`` (of everybody without names).

    Args:
        course: the class; its submitted/STUDENT/psN/psN.ipynb are graded.
        name: the assignment, "ps1" for example. It must have been released before, so that the
            gradebook knows its cells.
        workers: how many submissions at a time; the number of cores without it.
        timeout: seconds that one cell may take; the course's setting without it.
        tell: called with each record as soon as it is there.
    Returns:
        One record per student, in the students' order.
    Raises:
        CourseError: no such assignment, or nobody handed anything in.
    """
    course.require(name)
    handed_in = course.students(name)
    wanted = list(students) or handed_in
    for student in wanted:
        if student not in handed_in:
            raise CourseError(
                f"{student} should have handed in {name} at "
                f"{course.grading}/submitted/{student}/{name}/{name}.ipynb, but there is nothing."
            )
    if not wanted:
        raise CourseError(
            f"Submissions of {name} should lie at {course.grading}/submitted/STUDENT/{name}/"
            f"{name}.ipynb, but there are none."
        )
    course.open_gradebook()
    workers = workers or max(1, min(os.cpu_count() or 1, len(wanted)))
    records: dict[str, Record] = {}
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(_grade_apart, course, name, who, timeout) for who in wanted]
        for job in as_completed(jobs):
            record = job.result()
            records[record.student] = record
            tell(record)
    return [records[student] for student in wanted]


def _grade_apart(course: Course, name: str, student: str, timeout: int | None) -> Record:
    """Run one worker process and read the record that it wrote."""
    record_path(course, name, student).unlink(missing_ok=True)
    command = [sys.executable, "-m", "seqcourse.grading.worker", str(course.root), course.grading]
    command += [name, student]
    if timeout is not None:
        command += ["--timeout", str(timeout)]
    environment = dict(os.environ)
    # One thread per student: several at once would fight for the cores, and a grade should not
    # depend on how many there are.
    environment.setdefault("OMP_NUM_THREADS", "1")
    started = time.monotonic()
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=WHOLE,
        )
        why = f"exit code {process.returncode}, {(process.stderr.strip() or 'no message')[-300:]}"
    except subprocess.TimeoutExpired:
        why = f"it was ended after {WHOLE} s"
    record = read_record(course, name, student)
    if record is None:
        sentence = f"The process that graded this submission broke: {why}."
        seconds = round(time.monotonic() - started, 1)
        record = Record(name, student, FAILED, sentence, seconds)
        write_record(course, record)
    return record
