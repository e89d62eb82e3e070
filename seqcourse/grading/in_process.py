"""Probe and judge our own answers in this process, without a notebook, kernel or sandbox.

Used for the hundreds of operator mutants: it is faster, with the same probe and verdict. Never use it
for students' code.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcourse.errors import CourseError
from seqcourse.exchange import ENDING, REQUEST, RESULT
from seqcourse.grading import notebook as notebooks
from seqcourse.grading.mutants import SECONDS, Answer, Outcome
from seqcourse.grading.notebook import mark, text
from seqcourse.grading.run import NOT_RUN

if TYPE_CHECKING:
    from seqcourse.check.verdict import Judge
    from seqcourse.grading.course import Course

Space = dict[str, Any]


def solved_space(course: Course, name: str) -> Space:
    """The namespace of the instructor's notebook after running it, with all exercises solved."""
    space: Space = {"__name__": "__main__"}
    for cell in notebooks.read(course.solution(name))["cells"]:
        tags = set(cell["metadata"].get("tags", ()))
        if cell["cell_type"] == "code" and not mark(cell).get("grade") and not NOT_RUN & tags:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text(cell), mark(cell).get("grade_id", "cell"), "exec"), space)
    return space


def try_in_process(
    course: Course,
    name: str,
    answers: Sequence[Answer],
    judges: Mapping[str, Judge],
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[Outcome]:
    """Points and messages of each answer, combined with the reference answers to the other exercises.

    Args:
        judges: by grade cell, see ``Examiner.judges``.
    """
    tasks = {task.name: task for task in notebooks.exercises(notebooks.read(course.solution(name)))}
    worth = _worth(course, name)
    space = solved_space(course, name)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for number, answer in enumerate(answers):
            tests = [cell for cell in tasks[answer.exercise].tests if cell in judges]
            if not tests:
                raise CourseError(
                    f"CHECKS of {name} should have a check of {answer.exercise}, but has none."
                )
            changed = dict(space)
            changed.pop(answer.exercise, None)
            with contextlib.suppress(Exception):  # an answer that fails to run counts as missing
                exec(compile(answer.source, answer.exercise, "exec"), changed)
            lost, messages = 0.0, []
            for cell in tests:
                share, message = _judged(judges[cell], changed, Path(folder))
                lost += worth[cell] * (1 - share)
                messages.append(message)
            total = sum(worth[cell] for cell in tests)
            outcomes.append(Outcome(answer, round(lost, 6), total, " ".join(filter(None, messages))))
            tell(number + 1, len(answers))
    return outcomes


def _worth(course: Course, name: str) -> dict[str, float]:
    cells = notebooks.read(course.solution(name))["cells"]
    return {
        mark(cell)["grade_id"]: float(mark(cell)["points"]) for cell in cells if mark(cell).get("grade")
    }


def _judged(judge: Judge, space: Space, folder: Path) -> tuple[float, str]:
    """The share of the points and the message of one check."""
    from seqcourse.check.probe import run

    request = judge.request | {"seconds": min(SECONDS, judge.request["seconds"])}
    (folder / REQUEST).write_bytes(pickle.dumps(request))
    run(folder, space)
    ending, result = folder / ENDING, folder / RESULT
    if ending.exists():
        verdict = judge.verdict(None, ending.read_text(encoding="utf-8"))
    else:
        verdict = judge.verdict(result.read_bytes())
    return verdict.share, verdict.sentence
