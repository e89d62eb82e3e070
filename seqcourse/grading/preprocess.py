"""Make nbgrader's own `autograde` safe with untrusted submissions.

`nbgrader autograde` uses this through nbgrader_config.py:

    c.Autograde.exporter_class = Reader
    c.Autograde.sanitize_preprocessors = SANITIZE
    c.Autograde.autograde_preprocessors = AUTOGRADE

`Reader` examines a submission as `seqcourse grade` does, with the same limits. What is left to do for
nbgrader is to save the result; both commands do that with the same steps.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, OverwriteCells
from traitlets import Bool, Integer, Unicode

from seqcourse.grading.byhand import HoldBack, SaveGrades
from seqcourse.grading.cluster import Died
from seqcourse.grading.course import Course
from seqcourse.grading.grade import examining
from seqcourse.grading.kept import TIMESTAMP, kept, time
from seqcourse.grading.late import RenewPenalty
from seqcourse.grading.records import FAILED
from seqcourse.grading.stage import NotGradable


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

    def from_filename(self, filename: str, resources: dict | None = None, **kw: Any) -> Any:
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        info = resources["nbgrader"]
        if self._examined is None:
            course = Course(Path(self.root or self.parent.coursedir.root), self.grading)
            options = {"timeout": self.timeout, "everything": self.everything}
            workers = examining(course, info["assignment"], unsafe=self.unsafe_no_sandbox, **options)
            self._examined = self.parent.opened.enter_context(workers)
        ((_, _, done),) = self._examined([info["student"]])
        if isinstance(done, Died):
            raise NotGradable(FAILED, f"This submission could not be graded: {done.why}.")
        if done.notebook is None:
            raise NotGradable(done.status, done.sentence)
        book = nbformat.reads(json.dumps(done.graded()), as_version=4)
        return self.from_notebook_node(book, resources=resources, **kw)


# The notebook has already been mended, run and judged.
SANITIZE = [HoldBack, OverwriteCells]
AUTOGRADE = [LimitOutput, SaveGrades, RenewPenalty, CheckCellMetadata]


# What follows changes nbgrader itself, which has no settings for it.


def _existing_timestamp(self: CourseDirectory, folder: str) -> datetime | None:
    """The time of a submission. nbgrader would read a file of any size or kind."""
    content = kept(Path(folder)).get(TIMESTAMP)
    return None if content is None else time(content)


def _init_assignment(self: BaseConverter, assignment: str, student: str) -> None:
    """Copy only what is needed of a submission. nbgrader would copy all files, also through links."""
    if not isinstance(self, Autograde):
        return _copy_all(self, assignment, student)
    target = Path(self._format_dest(assignment, student))
    target.mkdir(parents=True, exist_ok=True)
    for name, content in kept(Path(self._format_source(assignment, student))).items():
        (target / name).unlink(missing_ok=True)
        (target / name).write_bytes(content)


def _convert_notebooks(self: Autograde) -> None:
    """End the workers of a ``Reader`` at the end."""
    with ExitStack() as self.opened:
        BaseConverter.convert_notebooks(self)


_copy_all = BaseConverter.init_assignment
CourseDirectory.get_existing_timestamp = _existing_timestamp
BaseConverter.init_assignment = _init_assignment
Autograde.convert_notebooks = _convert_notebooks
