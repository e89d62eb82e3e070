"""Grade the submissions of an assignment: many are examined at a time, one process saves.

Workers examine (they run students' code, confined, and judge it); what they find comes here and goes
into the gradebook while they work on. A submission that breaks its worker breaks nothing else.
"""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from seqcourse.errors import CourseError
from seqcourse.grading.course import Course
from seqcourse.grading.gradebook import open_gradebook
from seqcourse.grading.records import (
    FAILED,
    Record,
    code_digest,
    fingerprint,
    read_record,
    unfit_name,
    write_record,
)
from seqcourse.grading.snapshot import Snapshot, course_snapshot, folder_snapshot

if TYPE_CHECKING:
    from seqcourse.grading.cluster import Died
    from seqcourse.grading.examine import Examination
    from seqcourse.grading.save import Saver


def grade(
    course: Course,
    name: str,
    students: Iterable[str] = (),
    *,
    workers: int | None = None,
    timeout: int | None = None,
    tell: Callable[[Record], None] = lambda record: None,
    begun: Callable[[str], None] = lambda student: None,
    scheduler: str | None = None,
    again: bool = False,
    unsafe: bool = False,
    everything: bool = False,
) -> list[Record]:
    """Autograde the submissions of ``students`` (of everybody without names).

    Args:
        course: the class; what lies in its submitted/STUDENT/psN is graded.
        name: the assignment, "ps1" for example. It must have been released before, so that the
            gradebook knows its cells.
        workers: how many submissions at a time; the number of cores without it.
        timeout: seconds that one cell may take; the course's setting without it.
        tell: called with each record as soon as it is there.
        begun: called with a student's name when work on the submission begins, from another thread.
        scheduler: the address of a Dask cluster to use in place of processes on this machine.
        again: grade also what was graded before and has not changed since.
        unsafe: run students' code without a sandbox, with all the rights of whoever grades.
        everything: run also the cells that only show something.
    Returns:
        One record per student, in the students' order.
    Raises:
        CourseError: no such assignment, nobody handed anything in, there is no sandbox, or another
            run is at work.
    """
    wanted = to_grade(course, name, students)
    if scheduler is None and not unsafe:
        from seqcourse.grading.confine import refusal

        if refusal():
            raise CourseError(refusal())
    # The address may come from the environment, which workers do not get to see.
    course = replace(course, db_url=course.gradebook_url)
    options = {"confined": not unsafe, "timeout": timeout, "everything": everything}
    with alone(course):
        open_gradebook(course)
        run = _Run(course, name, options, tell)
        todo = [student for student in wanted if not run.is_done(student, again)]
        if todo:
            run.grade(todo, workers, scheduler, begun)
        return [run.records[student] for student in wanted]


def to_grade(course: Course, name: str, students: Iterable[str] = ()) -> list[str]:
    """Whose submissions ``grade`` will grade, each once, or CourseError where there is none."""
    course.require(name)
    handed_in = course.students(name)
    wanted = list(dict.fromkeys(students)) or handed_in
    for student in wanted:
        if student not in handed_in:
            raise CourseError(
                f"{student} should have handed in {name} at "
                f"{course.grading}/submitted/{student}/{name}/{name}.ipynb, but there is nothing."
            )
    if not wanted:
        raise CourseError(
            f"Submissions of {name} should lie at {course.grading}/submitted/STUDENT/{name}/"
            f"{name}.ipynb, but there are none."
        )
    return wanted


class _Run:
    """One call of ``grade``: what stays the same in it, and the records so far."""

    def __init__(
        self, course: Course, name: str, options: dict[str, object], tell: Callable[[Record], None]
    ) -> None:
        self.course = course
        self.name = name
        self.options = options
        self.tell = tell
        self.records: dict[str, Record] = {}
        self.snapshot = course_snapshot(course, name)
        due = {"due": _due(course, name), "secret": hashlib.sha256(course.secret()).hexdigest()}
        self._common = options | due
        self._digest = self.snapshot.digest()

    def fingerprint(self, submission: Snapshot) -> str:
        """What the grade of a submission depends on, all of it."""
        return fingerprint(self._digest, submission.digest(), self._common)

    def is_done(self, student: str, again: bool) -> bool:
        """Tell the record of what is graded already, or can never be; False for the rest."""
        why = unfit_name(student)
        if why:
            record = Record(self.name, student, FAILED, why)
            write_record(self.course, record)
            self._keep(record)
            return True
        record = None if again else read_record(self.course, self.name, student)
        try:
            done = record is not None and record.stands_for(self.fingerprint(self._load(student)))
        except Exception:  # it goes wrong again where that is put on record
            done = False
        if done:
            self._keep(replace(record, before=True))
        return done

    def grade(
        self,
        students: list[str],
        workers: int | None,
        scheduler: str | None,
        begun: Callable[[str], None],
    ) -> None:
        """Have workers examine, and save what they find."""
        from seqcourse.grading import cluster
        from seqcourse.grading.examine import Examiner
        from seqcourse.grading.save import Saver
        from seqcourse.grading.worker import WorkerState, examine_on_worker

        Examiner(self.course).release(self.name)  # better one sentence now than one per student
        # The same class gives its workers' state the same name: what a killed run left is replaced.
        place = hashlib.sha256(os.fsencode(self.course.folder.resolve())).hexdigest()[:16]
        label = f"seqcourse-{self.name}-{place}"
        secret = {"secret": self.course.secret()}
        code = code_digest() if scheduler else b""
        state = WorkerState(label, self.name, self.snapshot, self.options | secret, code)
        saver = Saver(self.course, self.name)
        some = min(workers or os.cpu_count() or 1, len(students)) if scheduler is None else workers
        with (
            cluster.start(state, label, workers=some, scheduler=scheduler, begun=begun) as there,
            _Held() as held,
        ):
            for student, snapshot, found in there.results(
                partial(examine_on_worker, label), students, self._load
            ):
                with held.back():
                    self._keep(self._save(saver, student, snapshot, found))

    def _save(
        self, saver: Saver, student: str, snapshot: Snapshot | None, found: Examination | Died
    ) -> Record:
        """Save what was found and return its record.

        Whatever goes wrong with one submission, from its folder to the gradebook, becomes its record
        here and stops nobody else.
        """
        from seqcourse.grading.cluster import Died, in_words

        if not isinstance(found, Died):
            try:
                return saver.save(found, snapshot, self.fingerprint(snapshot))
            except Exception as error:
                found = Died(in_words(error))
        sentence = f"This submission could not be graded: {found.why}."
        record = Record(self.name, student, FAILED, sentence)
        write_record(self.course, record)
        return record

    def _load(self, student: str) -> Snapshot:
        return folder_snapshot(self.course.submitted / student / self.name)

    def _keep(self, record: Record) -> None:
        self.records[record.student] = record
        self.tell(record)


def _due(course: Course, name: str) -> str:
    """When the assignment is due; lateness may cost points."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(course.gradebook_url) as gradebook:
        try:
            return str(gradebook.find_assignment(name).duedate or "")
        except MissingEntry:
            return ""


class _Held:
    """Ctrl-C while a grade is written waits until it is written.

    nbgrader would catch it, take the graded notebook away and report a failure.
    """

    def __enter__(self) -> _Held:
        self._writing = self._asked = False
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *problem: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: object) -> None:
        self._asked = True
        if not self._writing:
            raise KeyboardInterrupt

    @contextmanager
    def back(self) -> Iterator[None]:
        """Within the block, an interruption waits for the block's end."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False
        if self._asked:
            raise KeyboardInterrupt


# The classes that this process has locked: releasing and grading are one run.
_locked: set[Path] = set()


@contextmanager
def alone(course: Course) -> Iterator[None]:
    """Keep a second run out of the same class: the two would mix up each other's files.

    The lock belongs to the process and goes with it, however it ends. What a killed run left half
    written is taken away first. Within the block another one of the same class changes nothing.
    """
    from seqcourse.grading.save import clean_up

    place = course.folder.resolve()
    if place in _locked:
        yield
        return
    course.make_folder()
    with (place / ".lock").open("w") as file:
        _lock(file, course)
        _locked.add(place)
        try:
            clean_up(course)
            yield
        finally:
            _locked.discard(place)


def _lock(file: IO[str], course: Course) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CourseError(
            f"One run at a time should grade the class in {course.grading}, but another one is "
            f"still at work. Wait until it ends, then grade again."
        ) from None
