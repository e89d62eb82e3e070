"""A class of made-up students, whose submissions imitate real ones.

=========  ======================================================================
perfect    every exercise solved
half       the first half of the exercises solved, the rest untouched
empty      the assignment as it was released
wrong      every second exercise answered with a typical mistake (solutions/checks)
crashing   one answer imports a missing module, one raises, one has a syntax error
slow       one answer never ends
broken     a file that breaks off in the middle
=========  ======================================================================

The expected status and points of each are known, see ``Expected``.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from cellgrader.course.folders import Course
from cellgrader.course.records import CRASHED, GRADED, TIMED_OUT, UNREADABLE
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import Exercise, mark, text
from cellgrader.profile import the_course
from cellgrader.release.adapt import class_notebook

SAMPLE = "grading/sample"
# "slow" comes early, so that others are graded while it waits for its timeout.
STUDENTS = ("perfect", "slow", "half", "empty", "wrong", "crashing", "broken")

MISSING_MODULE = "import a_module_that_nobody_has_installed\n"
RAISES = "raise RuntimeError('the student left this line in')\n"
SYNTAX_ERROR = "def answer(:\n"
ENDLESS = "import time\nwhile True:\n    time.sleep(0.1)\n"


@dataclass(frozen=True)
class Expected:
    """The expected grade of a made-up student.

    status: the allowed statuses.
    points: exercise -> (lowest, highest) points, without manual points; None if there is no grade.
    """

    status: tuple[str, ...]
    points: Mapping[str, tuple[float, float]] | None


def sample_course(root: Path) -> Course:
    """The class of the made-up students, with its own gradebook."""
    return Course(root, SAMPLE)


def load_checks(course: Course, name: str) -> ModuleType:
    """The hidden checks of an assignment and the answers that test them, see ``CourseProfile``."""
    return the_course().load_checks(course.root, name)


def wrong_answers(course: Course, name: str) -> dict[str, list[tuple[str, str]]]:
    """Exercise -> typical wrong answers as (name of the mistake, source)."""
    table = load_checks(course, name).WRONG
    return {exercise: [(entry[0], entry[1]) for entry in table[exercise]] for exercise in table}


def who_hands_in(course: Course, name: str) -> tuple[str, ...]:
    """The made-up students of one assignment.

    "slow" takes part only in the first assignment, to wait for its timeout once. A trained system takes
    seconds to run, so few hand one in.
    """
    if any(_checkpoints(course, name)):
        return ("perfect", "empty", "wrong", "broken")
    return tuple(who for who in STUDENTS if who != "slow" or name == course.names()[0])


def make_submissions(
    course: Course, name: str, students: Iterable[str] = STUDENTS
) -> dict[str, Expected]:
    """Write the made-up submissions of one assignment and return what to expect of each.

    Args:
        course: the class to write into, see ``sample_course``. The assignment must have been
            released: students start from assignments/psN.
    """
    released = notebooks.read(course.assignments / name / f"{name}.ipynb")
    solution = class_notebook(course, name)
    tasks = notebooks.exercises(solution)
    right = right_answers(solution)
    expected = {}
    for student in students:
        folder = course.submitted / student / name
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(course.assignments / name, folder)
        put_beside(course, name, folder)
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


def put_beside(course: Course, name: str, folder: Path) -> None:
    """Put the reference's checkpoint into a submission, where an assignment has one."""
    for path in _checkpoints(course, name):
        shutil.copy(path, folder)


def _checkpoints(course: Course, name: str) -> Iterator[Path]:
    return (course.solutions / "checks" / name).glob("*.safetensors")


def right_answers(solution: dict) -> dict[str, str]:
    """Exercise -> the solution as a student would hand it in."""
    return {
        mark(cell)["grade_id"]: notebooks.without_markers(text(cell))
        for cell in solution["cells"]
        if mark(cell).get("solution")
    }


def answered(released: dict, answers: Mapping[str, str]) -> dict:
    """A copy of the released notebook with these answers filled in."""
    filled = copy.deepcopy(released)
    for cell in filled["cells"]:
        answer = answers.get(mark(cell).get("grade_id", ""))
        if mark(cell).get("solution") and answer is not None:
            cell["source"] = answer
    return filled


def _plan(
    course: Course, name: str, student: str, tasks: Sequence[Exercise], right: Mapping[str, str]
) -> tuple[dict[str, str], Expected]:
    """The answers of one student, and what to expect."""
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
        # A wrong answer may crash cells that use it, or only give wrong numbers.
        return _with_bad_answers(course, name, right, full, bad, (GRADED, CRASHED), nothing=False)
    if student == "crashing":
        code = [task.name for task in graded if task.code]
        first, middle, last = code[0], code[len(code) // 2], code[-1]
        bad = {last: SYNTAX_ERROR + right[last]}
        bad[middle] = RAISES + right[middle]
        bad[first] = MISSING_MODULE + right[first]
        return _with_bad_answers(course, name, right, full, bad, (CRASHED,), nothing=True)
    if student == "slow":
        first = next(task.name for task in graded if task.code)
        bad = {first: ENDLESS + right[first]}
        return _with_bad_answers(course, name, right, full, bad, (TIMED_OUT,), nothing=True)
    raise CourseError(f"A made-up student should be one of {', '.join(STUDENTS)}, but is {student!r}.")


def _with_bad_answers(
    course: Course,
    name: str,
    right: Mapping[str, str],
    full: Mapping[str, tuple[float, float]],
    bad: Mapping[str, str],
    status: tuple[str, ...],
    *,
    nothing: bool,
) -> tuple[dict[str, str], Expected]:
    """Right answers with ``bad`` ones among them, and what to expect.

    Bad answers get no points if ``nothing``, otherwise less than full points. Exercises whose checks
    use a bad answer (DEPENDS in solutions/checks) may get any points.
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
    """Sentences about what differs from the expectation; empty if nothing does."""
    found = []
    if status not in expected.status:
        found.append(f"the status should be {' or '.join(expected.status)}, but is {status}")
    if expected.points is None or points is None:
        if (expected.points is None) != (points is None):
            found.append("there is a grade, but none is expected, or the other way round")
        return found
    for task, (low, high) in expected.points.items():
        if not low <= points[task] <= high:
            span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            found.append(f"{task} should get {span} points, but got {points[task]:g}")
    return found
