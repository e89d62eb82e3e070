"""What the student finds: the page in grading/feedback/STUDENT/psN/psN.html, made beside other things.

An attempt that counts gets nbgrader's page from the gradebook. One that does not, because an earlier one
was better, gets the same page from a second gradebook that is used for nothing else. What was not graded
gets a page with the reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

from cellgrader.course.address import SQLITE
from cellgrader.course.folders import Course, remove
from cellgrader.course.gradebook import opened
from cellgrader.course.records import Record, read_record, record_path
from cellgrader.course.small_files import NEEDED, kept
from cellgrader.course.watched import folder_of
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import making_feedback, page_path
from cellgrader.pages.frame import page
from cellgrader.printable import printable
from cellgrader.processes.forked import Steps
from cellgrader.release.generate import release
from cellgrader.submission.collected import Submission
from cellgrader.watch import day
from cellgrader.watch.board import Board

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

    from cellgrader.run.examine import Examination
    from cellgrader.watch.passing import Exchange


def show_reason(course: Course, name: str, student: str, sentence: str, *, below: bool = True) -> Steps:
    """Say why there is no feedback on the newest version.

    Args:
        below: keep the feedback on the last graded version, if there is one, below the sentence.
    """
    record = read_record(course, name, student)
    if (
        below
        and record is not None
        and record.has_grade
        and (course.autograded / student / name).is_dir()
    ):
        notice = f"{sentence} Below is the feedback on an earlier version."
        yield from making_feedback(course, name, student, notice)
    else:
        title = f"Feedback on {name}"
        text = page(title, f"<p>{escape(printable(sentence))}</p>")
        notebooks.write_text(page_path(course, name, student), text)
    _belongs_to(course, name, student, kept(course.submitted / student / name))


def can_be_released(course: Course, name: str, student: str) -> bool:
    """Whether a page can be passed on through nbgrader's exchange: the work came that way."""
    folder = page_path(course, name, student).parent
    return all((folder / file).is_file() for file in NEEDED)


class Pages:
    """Puts pages where the students find them; the arguments are those of a ``Watcher``."""

    def __init__(
        self,
        course: Course,
        name: str,
        board: Board,
        exchange: Exchange | None,
        clock: Callable[[], float],
    ) -> None:
        self.course, self.name, self.board = course, name, board
        self.exchange, self.clock = exchange, clock
        self._aside = Aside(course, name)

    def say(self, submission: Submission, why: str) -> Steps:
        """Put a reason onto the page of each member."""
        for who in submission.members:
            yield from show_reason(self.course, self.name, who, why)
            self.pass_on(who)

    def put(self, record: Record, submission: Submission, found: Any) -> Steps:
        course, name, student, which = self.course, self.name, record.student, submission.attempt
        if record.attempt != which:
            notice = f"{record.sentence} Here is the feedback on version {which}."
            yield from self._aside.show(found, submission, notice)
        elif record.has_grade:
            try:
                yield from making_feedback(course, name, student, self._notice(student, which))
            except CourseError as error:  # such as a notebook whose page would be too large
                yield from show_reason(course, name, student, str(error), below=False)
                self.board.note(str(error))
        else:
            why = f"{record.sentence} This cost you no attempt."
            yield from show_reason(course, name, student, why)

    def _notice(self, student: str, which: int) -> str:
        """Which version a page is about, and how many more are graded today."""
        a_day = self.course.settings["watch.attempts_a_day"]
        if not a_day:
            return f"This is version {which}."
        now = self.clock()
        used = day.used(day.tries(self.course, self.name, student, now), now)
        return f"This is version {which}. Graded today: {min(used, a_day)} of {a_day}."

    def pass_on(self, student: str) -> None:
        """Release a page through the exchange if the work came that way."""
        if self.exchange is None or not can_be_released(self.course, self.name, student):
            return
        if why := self.exchange.release(student):
            self.board.note(why)


class Aside:
    """Makes the pages of attempts that do not count, with a gradebook of its own.

    Args:
        course: the class.
        name: the assignment.
    """

    def __init__(self, course: Course, name: str) -> None:
        self._class = course
        self._name = name
        grading = (folder_of(course, name) / "aside").relative_to(course.root).as_posix()
        file = (course.root / grading / "gradebook.db").absolute()
        self._course = Course(course.root, grading, f"{SQLITE}{file}")
        self._ready = False

    def show(self, found: Examination, submission: Submission, notice: str) -> Steps:
        """Write the page of an attempt that does not count."""
        from nbgrader.api import Gradebook

        from cellgrader.with_nbgrader.save import Saver

        self._prepare()
        student = found.student
        url = self._course.gradebook_url
        with opened(self._class) as real, Gradebook(url) as own:
            extension = _copy_student(real, own, self._name, student)
        try:
            Saver(self._course, self._name).save(found, submission, "")
            with Gradebook(url) as own:
                own.find_submission(self._name, student).extension = extension
                own.db.commit()
            yield from making_feedback(self._course, self._name, student, notice)
            made = page_path(self._course, self._name, student)
            target = page_path(self._class, self._name, student)
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.new")
            shutil.copyfile(made, beside)
            os.replace(beside, target)
            _belongs_to(self._class, self._name, student, kept(made.parent))
        finally:
            self._forget(student)

    def _prepare(self) -> None:
        if self._ready:
            return
        release(self._course, [self._name], target=self._course.folder / "released")
        if not self._course.submitted.is_symlink():  # marks of a platform lie there
            self._course.submitted.symlink_to(self._class.submitted.absolute())
        self._ready = True

    def _forget(self, student: str) -> None:
        """Remove all about a student: only the page is needed."""
        from nbgrader.api import Gradebook, MissingEntry

        with suppress(MissingEntry), Gradebook(self._course.gradebook_url) as own:
            own.remove_student(student)
        for folder in (self._course.autograded / student, self._course.feedback / student):
            if folder.is_dir():
                remove(folder)
        record_path(self._course, self._name, student).unlink(missing_ok=True)


def _copy_student(real: Gradebook, own: Gradebook, name: str, student: str) -> object:
    """Copy a name and the due date; returns the student's extension."""
    from nbgrader.api import MissingEntry

    own.update_or_create_assignment(name, duedate=real.find_assignment(name).duedate)
    try:
        known = real.find_student(student)
        names = {"first_name": known.first_name, "last_name": known.last_name}
    except MissingEntry:
        names = {}
    own.update_or_create_student(student, **names)
    try:
        return real.find_submission(name, student).extension
    except MissingEntry:
        return None


def belongs_to(course: Course, name: str, student: str) -> bool:
    """Let a student's page belong to the newest submission; False if it does already."""
    now = kept(course.submitted / student / name)
    folder = page_path(course, name, student).parent
    if not folder.is_dir() or now == kept(folder):
        return False
    _belongs_to(course, name, student, now)
    return True


def _belongs_to(course: Course, name: str, student: str, files: Mapping[str, bytes]) -> None:
    """Put the files beside a page that say to which submission it belongs."""
    folder = page_path(course, name, student).parent
    for file in NEEDED:
        if file in files:
            (folder / file).write_bytes(files[file])
        else:
            (folder / file).unlink(missing_ok=True)
