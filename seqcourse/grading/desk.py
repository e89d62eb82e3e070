"""A worker's desk: the assignment, unpacked, and what is kept ready between two submissions.

The desk travels to every worker as a plugin of Dask. There it unpacks the course's files into a
folder of its own, and keeps one examiner per thread: a warm process and the loaded checks. Nothing
on it writes grades.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

from distributed import Worker, WorkerPlugin, get_worker

from seqcourse.grading.cluster import STARTED
from seqcourse.grading.confine import refusal
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examination, Examiner, examine
from seqcourse.grading.gradebook import DB_URL
from seqcourse.grading.parcel import Parcel
from seqcourse.grading.records import FAILED, code_digest

# Seconds for one submission, beyond which something is wrong with the grader itself.
WHOLE = 1200


class Desk(WorkerPlugin):
    """What the workers of one run know.

    Args:
        run: the name by which jobs find the desk.
        name: the assignment.
        parcel: the course's files, see ``pack_course``.
        options: handed to every ``Examiner``.
        code: a digest of this package, where workers may have another version of it.
    """

    def __init__(
        self, run: str, name: str, parcel: Parcel, options: dict[str, object], code: bytes = b""
    ) -> None:
        self.run = run
        self.name = name
        self.parcel = parcel
        self.options = options
        self.code = code

    def setup(self, worker: Worker) -> None:
        os.environ.pop(DB_URL, None)
        self.lock = threading.Lock()
        self.examiners: dict[int, Examiner] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="desk-", dir=worker.local_directory))
        self.course = Course(self.folder / "course")
        self.parcel.unpack(self.course.root)

    def teardown(self, worker: Worker) -> None:
        with self.lock:
            examiners, self.examiners = self.examiners, {}
        for examiner in examiners.values():
            examiner.__exit__(None, None, None)
        shutil.rmtree(self.folder, ignore_errors=True)

    def refusal(self) -> str:
        """Why this worker cannot grade; "" where it can."""
        if self.code not in (b"", code_digest()):
            return "It has another version of seqcourse than the run that asks; install the same one."
        return refusal() if self.options["confined"] else ""

    def examine(self, student: str, submission: Parcel) -> Examination:
        """Unpack a submission in a folder of its own and examine it."""
        with self.lock:
            examiner = self.examiners.get(threading.get_ident())
            if examiner is None:
                examiner = Examiner(self.course, **self.options).__enter__()
                self.examiners[threading.get_ident()] = examiner
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="submission-") as place:
            folder = Path(place) / student / self.name
            submission.unpack(folder)
            return examine(self.course, self.name, student, folder, examiner=examiner)


def examine_here(run: str, student: str, submission: Parcel) -> Examination:
    """The task that workers are given. ``run`` names the desk."""
    worker = get_worker()
    desk = worker.plugins[run]
    worker.log_event(f"{STARTED} {run}", student)
    why = desk.refusal()
    if why:
        sentence = f"The worker at {worker.address} cannot grade. {why}"
        return Examination(desk.name, student, FAILED, sentence)
    # Only from outside can a hanging grader be ended: this process goes, and another takes over.
    alarm = threading.Timer(WHOLE, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    try:
        return desk.examine(student, submission)
    finally:
        alarm.cancel()
