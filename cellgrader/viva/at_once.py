"""The sheets of a class, several at a time: a process per core, and one warm process for all of them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.processes.interrupt import held_back
from cellgrader.profile import CourseProfile, the_course, use
from cellgrader.run.examine import Examiner
from cellgrader.viva.sheet import Sheet, make_sheet

_examiner: Examiner  # of a process that makes sheets


def make_sheets(
    course: Course, name: str, students: Sequence[str], workers: int | None = None
) -> Iterator[tuple[str, Sheet | CourseError]]:
    """Each student with the sheet, or with the error that says why there is none.

    Args:
        workers: the number of sheets made at a time (default: one per core).
    """
    from cellgrader.sandbox import shared

    many = min(workers or os.cpu_count() or 1, len(students))
    if many <= 1:
        with Examiner(course) as examiner:
            for student in students:
                yield student, _sheet_or_error(examiner, name, student)
        return
    context = multiprocessing.get_context("spawn")
    with (
        shared() as door,
        ProcessPoolExecutor(many, context, _begin, (course, door, the_course())) as pool,
    ):
        with held_back():  # the processes start, and leave Ctrl-C to the command
            made = pool.map(_make, [name] * len(students), students)
        yield from zip(students, made, strict=True)


def _begin(course: Course, door: Path, profile: CourseProfile) -> None:
    global _examiner
    use(profile)
    import cellgrader.processes.ignore_interrupts  # noqa: F401

    _examiner = Examiner(course, door=door)


def _make(name: str, student: str) -> Sheet | CourseError:
    return _sheet_or_error(_examiner, name, student)


def _sheet_or_error(examiner: Examiner, name: str, student: str) -> Sheet | CourseError:
    try:
        return make_sheet(examiner, name, student)
    except CourseError as problem:
        return problem
