"""Read a submission, change its answers, and run all versions in the sandbox.

A student's code is parsed in a limited process and run in the sandbox; nothing else touches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from cellgrader.errors import CourseError
from cellgrader.notebook.document import mark, text
from cellgrader.notebook.parse import NotGradable
from cellgrader.processes.limited import TooCostly, limited
from cellgrader.profile import the_course
from cellgrader.run.examine import READING, Examiner
from cellgrader.run.examine import read as read_submission
from cellgrader.run.kernels import Runner
from cellgrader.similar.compare import answers_in
from cellgrader.viva.changes import changes, marked, squeezed
from cellgrader.viva.outcomes import Planned, Tried

BUDGET = 20.0  # seconds of processor time for all versions of one answer
LONGEST = 6_000  # characters of an answer that is asked about


@dataclass(frozen=True)
class Plan:
    """What is tried of a submission.

    notebook: the mended one.
    alone: the notebook that was handed out, with the answers and no other cell of the student's.
    answers: by exercise.
    """

    notebook: dict
    alone: dict
    answers: Mapping[str, Planned]

    @property
    def words(self) -> str:
        """All that is written in the notebook, without spaces."""
        parts = []
        for cell in self.notebook["cells"]:
            parts.append(text(cell))
            for output in cell.get("outputs", ()):
                parts += [_joined(output.get("text")), _joined(output.get("data", {}).get("text/plain"))]
        return squeezed(" ".join(parts))


def _joined(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def exercises(examiner: Examiner, name: str) -> dict[str, Any]:
    """The exercises of an assignment whose answers can be called, by name."""
    checks = getattr(the_course().load_checks(examiner.course.root, name), "CHECKS", ())
    found = {check.answer: check.exercise for check in checks if hasattr(check, "exercise")}
    return {answer: exercise for answer, exercise in found.items() if exercise.cases}


def plan(examiner: Examiner, name: str, folder: Path, wanted: Sequence[str], seed: int) -> Plan:
    """Read a submission and plan the changes of its answers.

    Raises:
        CourseError: there is no notebook that can be read; the sentence says why.
    """
    try:
        return limited(READING, _planned, folder, name, examiner.release(name), list(wanted), seed)
    except (NotGradable, TooCostly) as problem:
        raise CourseError(str(problem)) from None


def _planned(folder: Path, name: str, release: dict, wanted: Sequence[str], seed: int) -> Plan:
    name_of_shapes = the_course().check_part("inside.changed").MARK
    notebook = read_submission(folder, name, release)[0].notebook
    given = answers_in(release, wanted)
    answers = {}
    for exercise, source in answers_in(notebook, wanted).items():
        if len(source) > LONGEST or squeezed(source) == squeezed(given.get(exercise, "")):
            continue
        try:
            answers[exercise] = Planned(source, changes(source, seed), marked(source, name_of_shapes))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # no Python code, such as an unfinished line
    for cell in release["cells"]:
        answer = answers.get(mark(cell).get("grade_id")) if mark(cell).get("solution") else None
        cell["source"] = answer.source if answer else text(cell)
    return Plan(notebook, release, answers)


def try_all(
    examiner: Examiner, asked: Mapping[str, Any], plan: Plan, *, alone: bool = False
) -> list[Tried]:
    """Run the notebook in a fresh sandbox, then all versions of its answers.

    Args:
        alone: without the student's other cells: nothing but the answers decides what happens.
    """
    versions_of, unpack = (
        the_course().check_part("grade.versions"),
        the_course().check_part("calls.payload").unpack,
    )
    calls = {name: versions_of.calls_of(asked[name]) for name in plan.answers}
    requests: dict[str, dict[str, Any]] = {}
    for name, one in plan.answers.items():
        versions = [one.source, *(change.source for change in one.changes)]
        requests[name] = versions_of.request(
            asked[name], calls[name], versions, one.marked.source, BUDGET
        )
    book = nbformat.from_dict(plan.alone if alone else plan.notebook)
    runner = Runner(book, examiner.new_kernel, timeout=examiner.timeout, wall=examiner.limits.wall)
    ran = runner.run(requests)
    tried = []
    for name, one in plan.answers.items():
        data = ran.answers[name].data
        try:
            found = unpack(data) if data else {}
        except ValueError:
            found = {}
        tried.append(Tried(name, asked[name].is_class, one, calls[name], found))
    return tried
