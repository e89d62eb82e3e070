"""Plain `nbgrader autograde`, set up in nbgrader_config.py: it examines as `seqcourse grade` does.

A worker process finds, mends, runs and judges the notebook, with the same sandbox, limits and alarm. All
that is left to do for nbgrader is to save the result, in the same steps.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import NotebookExporter
from traitlets import Bool, Integer, Unicode

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, read_record
from cellgrader.grade.how import How
from cellgrader.grade.submissions import Run
from cellgrader.notebook.search import NotGradable
from cellgrader.processes.pool import Died
from cellgrader.profile import program
from cellgrader.submission.attempts import attempt, graded, spent, work_of
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import Submissions, find_submissions

if TYPE_CHECKING:
    from cellgrader.grade.submissions import Examined


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
    _submissions: Submissions | None = None

    @property
    def course(self) -> Course:
        return Course(Path(self.root or self.parent.coursedir.root), self.grading)

    def refusal(self, name: str, student: str) -> str:
        """Why a submission is passed over: it is that of partners, or the attempts are used up."""
        if self._submissions is None:
            self._submissions = find_submissions(self.course, name)
        return no_attempt_left(self.course, name, student, self._submissions)

    def from_filename(self, filename: str, resources: dict | None = None, **kw: Any) -> Any:
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        info = resources["nbgrader"]
        if self._examined is None:
            how = How(1, self.timeout, unsafe=self.unsafe_no_sandbox, everything=self.everything)
            workers = examining(self.course, info["assignment"], how)
            self._examined = self.parent.opened.enter_context(workers)
        ((_, done),) = self._examined([Submission((info["student"],), info["student"])])
        if isinstance(done, Died):
            raise NotGradable(FAILED, f"This submission could not be graded: {done.why}.")
        if done.notebook is None:
            raise NotGradable(done.status, done.sentence)
        book = nbformat.reads(json.dumps(done.graded()), as_version=4)
        return self.from_notebook_node(book, resources=resources, **kw)


def examining(course: Course, name: str, how: How) -> AbstractContextManager[Examined]:
    """Workers that examine as `seqcourse grade` does; nothing is saved."""
    return Run(course, name, how.options(course), tell=lambda record: None).examining(how.workers)


def no_attempt_left(
    course: Course, name: str, student: str, submissions: Submissions | None = None
) -> str:
    """Why a submission is not graded by plain nbgrader, which writes no records; "" if it is."""
    most = course.settings["attempts"]
    submission = (submissions or find_submissions(course, name)).of(student)
    many = len(submission.members)
    if submission.unclear or many > 1:
        return submission.unclear or (
            f"It is the work of {many} partners. Grade it for all: {program()} grade {name}"
        )
    record = read_record(course, name, student)
    done = graded(course, name, {student: record})
    if not done and record is None and (course.autograded / student / name).exists():
        done = [*range(1, most + 1)]
    if not most or not done:
        return ""
    content = work_of(course, name, student).digest()
    return spent(most, attempt(course, name, student, content), done)
