"""Plain `nbgrader autograde`, set up in nbgrader_config.py: it examines as `seqcourse grade` does.

A worker process finds, mends, runs and judges the notebook, with the same sandbox, limits and alarm. All
that is left to do for nbgrader is to save the result, in the same steps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from traitlets import Bool, Integer, Unicode

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED
from cellgrader.grade.submissions import examining, no_attempt_left
from cellgrader.notebook.search import NotGradable
from cellgrader.processes.cluster import Died
from cellgrader.submission.partners import Teams, find_teams


class Reader(NotebookExporter):
    """Lets a worker find, mend, run and judge a submission's notebook.

    nbgrader's second pass reads its own file, in nbgrader's way.
    """

    root = Unicode("", help="The course's folder.").tag(config=True)
    grading = Unicode("grading", help="The class's folder in it.").tag(config=True)
    timeout = Integer(120, help="Seconds that one cell may take.").tag(config=True)
    everything = Bool(False, help="Run also the cells that only show something.").tag(config=True)
    unsafe_no_sandbox = Bool(
        False, help="Run students' code without a sandbox, with all your rights."
    ).tag(config=True)

    _examined: Any = None
    _teams: Teams | None = None

    @property
    def course(self) -> Course:
        return Course(Path(self.root or self.parent.coursedir.root), self.grading)

    def refusal(self, name: str, student: str) -> str:
        """Why a submission is passed over: it is that of partners, or the attempts are used up."""
        if self._teams is None:
            self._teams = find_teams(self.course, name)
        return no_attempt_left(self.course, name, student, self._teams)

    def from_filename(self, filename: str, resources: dict | None = None, **kw: Any) -> Any:
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        info = resources["nbgrader"]
        if self._examined is None:
            options = {"timeout": self.timeout, "everything": self.everything}
            workers = examining(
                self.course, info["assignment"], unsafe=self.unsafe_no_sandbox, **options
            )
            self._examined = self.parent.opened.enter_context(workers)
        ((_, _, done),) = self._examined([info["student"]])
        if isinstance(done, Died):
            raise NotGradable(FAILED, f"This submission could not be graded: {done.why}.")
        if done.notebook is None:
            raise NotGradable(done.status, done.sentence)
        book = nbformat.reads(json.dumps(done.graded()), as_version=4)
        return self.from_notebook_node(book, resources=resources, **kw)
