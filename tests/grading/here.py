"""Grade work of our own in this process, with the real checks, but no workers, kernel or sandbox.

For tests of what happens around an examination. That the workers and the sandbox do it the same way is
shown by the tests that use them.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.grade.submissions import Run
from cellgrader.run import examine
from cellgrader.run.examine import Examination, Examiner
from cellgrader.run.kernels import ProbeResult, Ran
from cellgrader.submission.collected import Submission
from cellgrader.watch import loop
from cellgrader.watch.arrivals import Resting
from cellgrader.watch.board import Board
from cellgrader.watch.loop import Watcher
from seqcourse.audit.in_process import Space, handed_over


class _Runner:
    """Takes the place of the grader's: runs the cells and the probes here."""

    def __init__(self, notebook, new_kernel, **limits) -> None:
        self.notebook = notebook

    def run(self, requests) -> Ran:
        space: Space = {"__name__": "__main__"}
        for cell in self.notebook.cells:
            if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
                with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                    exec(cell.source, space)
        ran = Ran()
        for cell, request in requests.items():
            with tempfile.TemporaryDirectory() as folder:
                ran.answers[cell] = ProbeResult(*handed_over(request, space, Path(folder)))
        return ran


class Desk:
    """Takes the workers' place: examines a submission as soon as it comes."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.name = run.name
        run.snapshot.unpack(folder)  # as a worker does
        self.examiner = Examiner(Course(folder), secret=run.course.secret(), confined=False)
        self.keys: list[str] = []  # whom it has examined
        self.done: deque[tuple[str, Submission, Examination]] = deque()

    def add(self, work: object, key: str, load) -> None:
        submission = load(key)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / key / self.name
            submission.work.unpack(folder)
            found = self.examiner.examine(self.name, submission, folder)
        self.keys.append(key)
        self.done.append((key, submission, found))

    def has_room(self) -> bool:
        return not self.done

    def ended(self, seconds: float) -> tuple[str, Submission, Examination] | None:
        return self.done.popleft() if self.done else None

    def results(self, work: object, keys: list[str], load) -> Iterator:
        for key in keys:
            self.add(work, key, load)
            yield self.done.popleft()


def examine_here(monkeypatch: pytest.MonkeyPatch) -> list[Desk]:
    """Let runs examine in this process; returns the desks that they use, the last one last."""
    desks: list[Desk] = []

    @contextmanager
    def pool(run: Run, *given, **named) -> Iterator[tuple[Desk, None]]:
        with tempfile.TemporaryDirectory() as folder:
            desks.append(Desk(run, Path(folder)))
            yield desks[-1], None

    monkeypatch.setattr(Run, "pool", pool)
    monkeypatch.setattr(examine, "Runner", _Runner)
    return desks


def watch_here(course: Course, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[list[str], str]]:
    """A function that lets a new watcher see what is there; returns whom it examined, and its board."""
    desks = examine_here(monkeypatch)
    monkeypatch.setattr(Watcher, "_release", lambda watcher: None)
    monkeypatch.setattr(loop, "LOOK", 0.02)
    monkeypatch.setattr(loop, "Resting", lambda: Resting(quiet=0.0))

    def watch() -> tuple[list[str], str]:
        said = io.StringIO()
        board = Board("ps1", Console(file=said, width=400))
        Watcher(course, "ps1", board).run(idle=0.1)
        return desks[-1].keys, f"{said.getvalue()}{board.totals}"

    return watch
