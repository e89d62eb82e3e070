"""The one writer: what was examined goes into the gradebook through nbgrader itself."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from pathlib import Path

from seqcourse.grading import notebook as notebooks
from seqcourse.grading.course import Course
from seqcourse.grading.examine import Examination
from seqcourse.grading.records import FAILED, WITH_GRADE, Record, remove_record, write_record
from seqcourse.grading.release import last_line
from seqcourse.grading.snapshot import Snapshot

# In the class's folder: what nbgrader finds instead of the submissions, one at a time.
STAGE = ".saving"
TIMESTAMP = "timestamp.txt"
LONGEST_TIME = 100
# What students see of a run, in the graded notebook's metadata.
REMARKS = "seqcourse"


class Saver:
    """Saves examinations of one assignment, one after the other.

    nbgrader's converter runs as `nbgrader autograde` does, on a folder that holds the executed
    notebook in place of the submitted one; so gradebook, autograded/, late penalties and the flags
    of what is graded by hand are nbgrader's own.
    """

    def __init__(self, course: Course, name: str) -> None:
        from seqcourse.grading.preprocess import SAVE, SAVE_SANITIZE

        self.course = course
        self.name = name
        self.stage = course.folder / STAGE
        warnings.filterwarnings("ignore", message="Object of type .* not in session")
        self.api = course.api(
            CourseDirectory__submitted_directory=f"{course.grading}/{STAGE}",
            Autograde__exporter_class="nbconvert.exporters.NotebookExporter",
            Autograde__sanitize_preprocessors=SAVE_SANITIZE,
            Autograde__autograde_preprocessors=SAVE,
        )
        for noisy in ("nbgrader", "traitlets"):
            logging.getLogger(noisy).propagate = False

    def save(self, done: Examination, submission: Snapshot, fingerprint: str) -> Record:
        """Write a submission's grade, then its record.

        The old record goes first. So wherever this is interrupted, either there is a record and it
        is true, or there is none and the submission is graded again.
        """
        remove_record(self.course, self.name, done.student)
        status, sentence = done.status, done.sentence
        if done.status in WITH_GRADE:
            why = self._autograde(done, submission)
            if why:
                status, sentence = FAILED, f"nbgrader could not save the grade: {why}."
        sentence = " ".join(part for part in (sentence, submission.sentence()) if part)
        record = Record(
            self.name,
            done.student,
            status,
            sentence,
            done.seconds,
            fingerprint,
            done.remarks,
            done.messages,
        )
        write_record(self.course, record)
        return record

    def _autograde(self, done: Examination, submission: Snapshot) -> str:
        """Let nbgrader save it; returns why it could not, or ""."""
        folder = self.stage / done.student / self.name
        try:
            self._lay_out(done, submission, folder)
            outcome = self.api.autograde(self.name, done.student, force=True, create=True)
        finally:
            shutil.rmtree(self.stage, ignore_errors=True)
        return "" if outcome["success"] else last_line(outcome)

    def _lay_out(self, done: Examination, submission: Snapshot, folder: Path) -> None:
        """The executed notebook, and the regular files that were handed in beside it."""
        shutil.rmtree(self.stage, ignore_errors=True)
        beside = {
            path: content
            for path, content in submission.files.items()
            if not path.endswith(".ipynb") and (path != TIMESTAMP or _is_time(content))
        }
        Snapshot(beside, {}).unpack(folder)
        book = json.loads(done.notebook or "")
        told = {"remarks": list(done.remarks), "status": done.status, "sentence": done.sentence}
        book.setdefault("metadata", {})[REMARKS] = told
        notebooks.write(book, folder / f"{self.name}.ipynb")


def _is_time(content: bytes) -> bool:
    """Whether nbgrader can read a time stamp; it would refuse the whole submission otherwise."""
    from nbgrader.utils import parse_utc

    if len(content) > LONGEST_TIME:
        return False
    try:
        parse_utc(content.decode().strip())
    except Exception:  # it may look for a time zone anywhere on the disk
        return False
    return True


def clean_up(course: Course) -> None:
    """Take away what a run left that was killed while it wrote."""
    from seqcourse.grading.gradebook import NEW

    for pattern in (STAGE, "release-*", f"{NEW}*"):
        for left in course.folder.glob(pattern):
            shutil.rmtree(left, ignore_errors=True)
    for left in course.records.glob("*/.*.json.*"):
        left.unlink(missing_ok=True)
