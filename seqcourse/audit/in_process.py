"""Run and probe our own answers in this process, without a notebook, kernel or sandbox.

It is faster than the pipeline that grades a class, with the same probe. Never use it for students' code.
"""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.document import mark, text
from cellgrader.probe_files import ENDING, REQUEST, RESULT
from cellgrader.run.kernels import NOT_RUN
from seqcourse.audit.answers import Answer

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


def answered_space(space: Space, answer: Answer) -> Space:
    """The namespace with an answer in the place of the solution; without it if it fails to run."""
    changed = dict(space)
    changed.pop(answer.exercise, None)
    with contextlib.suppress(Exception):
        exec(compile(answer.source, answer.exercise, "exec"), changed)
    return changed


def handed_over(request: Mapping[str, Any], space: Space, folder: Path) -> tuple[bytes | None, str]:
    """What the probe hands over from a process of its own: the arrays, or None and how it ended."""
    from seqcourse.check.grade.probe import run

    (folder / REQUEST).write_bytes(pickle.dumps(request))
    run(folder, space)
    ending, result = folder / ENDING, folder / RESULT
    if ending.exists():
        return None, ending.read_text(encoding="utf-8")
    return result.read_bytes(), ""
