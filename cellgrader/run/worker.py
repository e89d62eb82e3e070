"""Per-worker state: the unpacked course and cached examiners.

It is sent to every worker. There it unpacks the course's files into a folder and keeps one examiner per
thread (a warm process and the loaded checks). It never writes grades.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

from cellgrader.course.address import DB_URL
from cellgrader.course.folders import Course
from cellgrader.course.records import code_digest
from cellgrader.course.snapshot import Snapshot
from cellgrader.profile import program, the_course, use
from cellgrader.run.examine import Examination, Examiner
from cellgrader.sandbox import refusal
from cellgrader.submission.collected import Submission

# Seconds for one submission. A longer examination means that the grader itself hangs.
WHOLE = 1200


class WorkerState:
    """The state of each worker during one run.

    Args:
        name: the assignment.
        snapshot: the course's files, see ``course_snapshot``.
        options: passed to every ``Examiner``.
        code: the package's digest if workers may have another version, otherwise b"".
    """

    def __init__(
        self, name: str, snapshot: Snapshot, options: dict[str, object], code: bytes = b""
    ) -> None:
        self.name = name
        self.snapshot = snapshot
        self.options = options
        self.code = code
        self.profile = the_course()

    def set_up(self, folder: str) -> None:
        use(self.profile)
        os.environ.pop(DB_URL, None)
        self.lock = threading.Lock()
        self.examiners: dict[int, Examiner] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="grading-", dir=folder))
        self.course = Course(self.folder / "course")
        self.snapshot.unpack(self.course.root)

    def tear_down(self) -> None:
        with self.lock:
            examiners, self.examiners = self.examiners, {}
        for examiner in examiners.values():
            examiner.__exit__(None, None, None)
        shutil.rmtree(self.folder, ignore_errors=True)

    def refusal(self) -> str:
        """Why this worker cannot grade, or "" if it can."""
        if self.code not in (b"", code_digest()):
            return f"It has another version of {program()} than the run that asks; install the same one."
        return refusal() if self.options["confined"] else ""

    def unpack_and_examine(self, submission: Submission) -> Examination:
        """Unpack a submission into a temporary folder and examine it."""
        with self.lock:
            examiner = self.examiners.get(threading.get_ident())
            if examiner is None:
                examiner = Examiner(self.course, **self.options).__enter__()
                self.examiners[threading.get_ident()] = examiner
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="submission-") as temporary:
            folder = Path(temporary) / submission.first / self.name
            submission.work.unpack(folder)
            return examiner.examine(self.name, submission, folder)


def examine_on_worker(state: WorkerState, first: str, submission: Submission) -> Examination:
    """The job that a worker runs for one submission; the pool knows it by its first member."""
    # A hanging examination cannot be interrupted: end the process, which is then replaced.
    alarm = threading.Timer(WHOLE, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    try:
        return state.unpack_and_examine(submission)
    finally:
        alarm.cancel()
