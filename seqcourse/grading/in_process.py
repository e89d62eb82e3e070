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


def solved_space(course: Course, name: str, whole: bool = True) -> Space:
    """The namespace of the instructor's notebook after running it, with all exercises solved.

    Args:
        whole: run every cell; False for those that answers need: imports, settings, the solutions.
    """
    space: Space = {"__name__": "__main__"}
    for cell in notebooks.read(course.solution(name))["cells"]:
        tags = set(cell["metadata"].get("tags", ()))
        if not whole and not mark(cell).get("solution") and "setup" not in tags:
            continue
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
            changed = answered_space(space, answer)
            lost, messages = 0.0, []
            for cell in tests:
                share, message = _judged(judges[cell], changed, Path(folder))
                lost += worth[cell] * (1 - share)
                messages.append(message)
            total = sum(worth[cell] for cell in tests)
            outcomes.append(Outcome(answer, round(lost, 6), total, " ".join(filter(None, messages))))
            tell(number + 1, len(answers))
    return outcomes


def answered_space(space: Space, answer: Answer) -> Space:
    """The namespace with an answer in the place of the solution; without it if it fails to run."""
    changed = dict(space)
    changed.pop(answer.exercise, None)
    with contextlib.suppress(Exception):
        exec(compile(answer.source, answer.exercise, "exec"), changed)
    return changed


def _worth(course: Course, name: str) -> dict[str, float]:
    cells = notebooks.read(course.solution(name))["cells"]
    return {
        mark(cell)["grade_id"]: float(mark(cell)["points"]) for cell in cells if mark(cell).get("grade")
    }


def _judged(judge: Judge, space: Space, folder: Path) -> tuple[float, str]:
    """The share of the points and the message of one check."""
    seconds = min(SECONDS, judge.request["seconds"])
    verdict = judge.verdict(*handed_over({**judge.request, "seconds": seconds}, space, folder))
    return verdict.share, verdict.sentence


def handed_over(request: Mapping[str, Any], space: Space, folder: Path) -> tuple[bytes | None, str]:
    """What the probe hands over from a process of its own: the arrays, or None and how it ended."""
    from seqcourse.check.probe import run

    (folder / REQUEST).write_bytes(pickle.dumps(request))
    run(folder, space)
    ending, result = folder / ENDING, folder / RESULT
    if ending.exists():
        return None, ending.read_text(encoding="utf-8")
    return result.read_bytes(), ""
