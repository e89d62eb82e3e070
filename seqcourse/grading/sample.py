"""A class of made-up students: each hands in something that real students hand in.

=========  ======================================================================
perfect    every exercise solved
half       the first half of the exercises solved, the rest untouched
empty      the assignment as it was released
wrong      every second exercise answered with a typical mistake (solutions/checks)
crashing   one answer imports a missing module, one raises, one is no Python
slow       one answer never ends
broken     a file that breaks off in the middle
=========  ======================================================================

Because the project makes them, it knows what each must get: ``expected`` says it, per exercise.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from seqcourse.errors import CourseError
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.notebook import Exercise, mark, text
from seqcourse.grading.records import CRASHED, GRADED, TIMED_OUT, UNREADABLE

SAMPLE = "grading/sample"
# The slow one comes early: others are graded while it waits for its time-out.
STUDENTS = ("perfect", "slow", "half", "empty", "wrong", "crashing", "broken")

MISSING_MODULE = "import a_module_that_nobody_has_installed\n"
RAISES = "raise RuntimeError('the student left this line in')\n"
NO_PYTHON = "def answer(:\n"
ENDLESS = "import time\nwhile True:\n    time.sleep(0.1)\n"


@dataclass(frozen=True)
class Expected:
    """What a made-up student must get: one of these statuses, (lowest, highest) points per exercise.

    ``points`` is None where there can be no grade. Hand-graded points are left out.
    """

    status: tuple[str, ...]
    points: Mapping[str, tuple[float, float]] | None


def sample_course(root: Path) -> Course:
    """The class of the made-up students, with a gradebook of its own."""
    return Course(root, SAMPLE)


def load_checks(course: Course, name: str) -> ModuleType:
    """Import solutions/checks/psN.py.

    Raises:
        CourseError: there is no such file.
    """
    path = course.solutions / "checks" / f"{name}.py"
    if not path.exists():
        raise CourseError(
            f"solutions/checks/{name}.py should hold wrong answers to the exercises of {name}, but "
            f"there is no such file. solutions/checks/README.md says what goes in."
        )
    spec = importlib.util.spec_from_file_location(f"checks_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wrong_answers(course: Course, name: str) -> dict[str, list[tuple[str, str]]]:
    """Per exercise, the (name of the mistake, source) of typical wrong answers."""
    table = load_checks(course, name).WRONG
    return {exercise: [(entry[0], entry[1]) for entry in table[exercise]] for exercise in table}


def who_hands_in(course: Course, name: str) -> tuple[str, ...]:
    """The made-up students of one assignment.

    The slow one takes part in the first only: to wait for one more time-out shows nothing new.
    """
    return tuple(who for who in STUDENTS if who != "slow" or name == course.names()[0])


def make_submissions(
    course: Course, name: str, students: Iterable[str] = STUDENTS
) -> dict[str, Expected]:
    """Write the made-up submissions of one assignment and return what each must get.

    Args:
        course: the class to write into, see ``sample_course``. The assignment must have been
            released: students start from assignments/psN.
    """
    released = notebooks.read(course.assignments / name / f"{name}.ipynb")
    solution = notebooks.read(course.solution(name))
    tasks = notebooks.exercises(solution)
    right = right_answers(solution)
    expected = {}
    for student in students:
        folder = course.submitted / student / name
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(course.assignments / name, folder)
        path = folder / f"{name}.ipynb"
        if student == "broken":
            whole = json.dumps(answered(released, right), indent=1)
            notebooks.write_text(path, whole[: len(whole) * 2 // 3])
            expected[student] = Expected((UNREADABLE,), None)
            continue
        answers, outcome = _plan(course, name, student, tasks, right)
        notebooks.write(answered(released, answers), path)
        expected[student] = outcome
    return expected


def right_answers(solution: dict) -> dict[str, str]:
    """Per exercise, the solution as a student would hand it in."""
    return {
        mark(cell)["grade_id"]: notebooks.without_markers(text(cell))
        for cell in solution["cells"]
        if mark(cell).get("solution")
    }


def answered(released: dict, answers: Mapping[str, str]) -> dict:
    """A copy of the released notebook with these answer cells filled in."""
    filled = copy.deepcopy(released)
    for cell in filled["cells"]:
        answer = answers.get(mark(cell).get("grade_id", ""))
        if mark(cell).get("solution") and answer is not None:
            cell["source"] = answer
    return filled


def _plan(
    course: Course, name: str, student: str, tasks: Sequence[Exercise], right: Mapping[str, str]
) -> tuple[dict[str, str], Expected]:
    """The answers of one student, and what they must get."""
    graded = [task for task in tasks if task.automatic]
    full = {task.name: (task.automatic, task.automatic) for task in graded}
    none = {task.name: (0.0, 0.0) for task in graded}
    if student == "perfect":
        return dict(right), Expected((GRADED,), full)
    if student == "empty":
        return {}, Expected((GRADED,), none)
    if student == "half":
        solved = {task.name for task in tasks[: len(tasks) // 2]}
        answers = {task: right[task] for task in solved}
        points = {task: full[task] if task in solved else none[task] for task in full}
        return answers, Expected((GRADED,), points)
    if student == "wrong":
        mistakes = wrong_answers(course, name)
        bad = {task.name: mistakes[task.name][0][1] for task in graded[::2] if mistakes.get(task.name)}
        # A wrong answer may stop cells that use it, or only give wrong numbers.
        return _spoilt(course, name, right, full, bad, (GRADED, CRASHED), nothing=False)
    if student == "crashing":
        code = [task.name for task in graded if task.code]
        first, middle, last = code[0], code[len(code) // 2], code[-1]
        bad = {last: NO_PYTHON + right[last]}
        bad[middle] = RAISES + right[middle]
        bad[first] = MISSING_MODULE + right[first]
        return _spoilt(course, name, right, full, bad, (CRASHED,), nothing=True)
    if student == "slow":
        first = next(task.name for task in graded if task.code)
        bad = {first: ENDLESS + right[first]}
        return _spoilt(course, name, right, full, bad, (TIMED_OUT,), nothing=True)
    raise CourseError(f"A made-up student should be one of {', '.join(STUDENTS)}, but is {student!r}.")


def _spoilt(
    course: Course,
    name: str,
    right: Mapping[str, str],
    full: Mapping[str, tuple[float, float]],
    bad: Mapping[str, str],
    status: tuple[str, ...],
    *,
    nothing: bool,
) -> tuple[dict[str, str], Expected]:
    """Right answers except ``bad`` ones, which get nothing or less than everything.

    Exercises whose tests use a bad answer (DEPENDS in solutions/checks) may get anything.
    """
    depends = getattr(load_checks(course, name), "DEPENDS", {})
    points = dict(full)
    for task, (_, most) in full.items():
        if task in bad:
            # Below full marks by at least a hundredth of a point.
            points[task] = (0.0, 0.0 if nothing else most - 0.01)
        elif any(needed in bad for needed in depends.get(task, ())):
            points[task] = (0.0, most)
    return {**right, **bad}, Expected(status, points)


def differences(expected: Expected, status: str, points: Mapping[str, float] | None) -> list[str]:
    """What is not as expected, as sentences; an empty list when all is well."""
    found = []
    if status not in expected.status:
        found.append(f"the status should be {' or '.join(expected.status)}, but is {status}")
    if expected.points is None or points is None:
        if (expected.points is None) != (points is None):
            found.append("there is a grade where none can be, or none where one must be")
        return found
    for task, (low, high) in expected.points.items():
        if not low <= points[task] <= high:
            span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            found.append(f"{task} should get {span} points, but got {points[task]:g}")
    return found
