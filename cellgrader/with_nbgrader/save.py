"""Save examinations to the gradebook through nbgrader. Only one process does this."""

from __future__ import annotations

import logging
import shutil
import warnings
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, WITH_GRADE, Record, remove_record, write_record
from cellgrader.course.small_files import NEEDED, SECRET
from cellgrader.course.snapshot import Snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.release.generate import last_line
from cellgrader.run.examine import Examination
from cellgrader.submission.collected import Submission

# The folder in the class's folder that nbgrader reads instead of submitted/, one submission at a time.
STAGE = ".saving"


class Saver:
    """Saves examinations of one assignment, one after the other.

    Runs nbgrader's autograde on a folder with the executed notebook in place of the submitted one. So
    nbgrader itself writes the gradebook, autograded/, late penalties and flags for manual grading.
    """

    def __init__(self, course: Course, name: str) -> None:
        from cellgrader.with_nbgrader.preprocess import AUTOGRADE, SANITIZE

        self.course = course
        self.name = name
        self.stage = course.folder / STAGE
        warnings.filterwarnings("ignore", message="Object of type .* not in session")
        self.api = course.api(
            CourseDirectory__submitted_directory=f"{course.grading}/{STAGE}",
            Autograde__exporter_class="nbconvert.exporters.NotebookExporter",
            Autograde__sanitize_preprocessors=SANITIZE,
            Autograde__autograde_preprocessors=AUTOGRADE,
        )
        for noisy in ("nbgrader", "traitlets"):
            logging.getLogger(noisy).propagate = False

    def save(self, done: Examination, submission: Submission, fingerprint: str) -> Record:
        """Write a submission's grade, then its record.

        The old record is removed first. So an interrupted run leaves either a true record or none, and
        without a record the submission is graded again.
        """
        remove_record(self.course, self.name, done.student)
        status, sentence = done.status, done.sentence
        if done.status in WITH_GRADE:
            why = self._autograde(done, submission)
            if why:
                status, sentence = FAILED, f"nbgrader could not save the grade: {why}."
        sentence = " ".join(part for part in (sentence, submission.work.sentence()) if part)
        record = Record(
            self.name,
            done.student,
            status,
            sentence,
            done.seconds,
            fingerprint,
            done.remarks,
            done.messages,
            attempt=submission.attempt,
            to_review=done.to_review,
            measured=done.measured,
            partners=submission.partners(done.student),
            findings=done.findings,
        )
        write_record(self.course, record)
        return record

    def _autograde(self, done: Examination, submission: Submission) -> str:
        """Let nbgrader save the grade; return the reason if it fails, otherwise ""."""
        from cellgrader.with_nbgrader.transaction import one_transaction

        folder = self.stage / done.student / self.name
        try:
            self._write_stage(done, submission, folder)
            with one_transaction(self.course.gradebook_url):
                outcome = self.api.autograde(self.name, done.student, force=True, create=True)
        finally:
            shutil.rmtree(self.stage, ignore_errors=True)
        return "" if outcome["success"] else last_line(outcome)

    def _write_stage(self, done: Examination, submission: Submission, folder: Path) -> None:
        """Write the executed notebook, and the files that nbgrader may keep, to the folder."""
        shutil.rmtree(self.stage, ignore_errors=True)
        # nbgrader's secret belongs to whoever handed in.
        own = NEEDED if done.student == submission.source else NEEDED.keys() - {SECRET}
        beside = {name: content for name, content in submission.work.files.items() if name in own}
        Snapshot(beside, {}).unpack(folder)
        notebooks.write(done.graded(), folder / f"{self.name}.ipynb")


def clean_up(course: Course) -> None:
    """Remove temporary files of a run that was killed while writing."""
    from cellgrader.course.gradebook import NEW

    for pattern in (STAGE, "release-*", f"{NEW}*"):
        for left in course.folder.glob(pattern):
            shutil.rmtree(left, ignore_errors=True)
    for left in (
        *course.records.glob("*/.*.json.*"),
        *course.folder.glob(".*.json.*"),
        *course.folder.glob("history/*/.*.jsonl.*"),
        *course.folder.glob("history/.*.reason.txt.*"),
        *course.folder.glob("appeals/*/.*.json.*"),
    ):
        left.unlink(missing_ok=True)
