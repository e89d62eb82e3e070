"""Grade the submissions of an assignment: workers examine in parallel, this process saves.

Workers run students' code in a sandbox and judge it. This process writes their results to the gradebook
while they continue. A submission that kills its worker does not affect any other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import (
    FAILED,
    UNCLEAR,
    WITH_GRADE,
    Record,
    code_digest,
    fingerprint,
    read_record,
    remove_record,
    unfit_name,
    write_record,
)
from cellgrader.course.snapshot import Snapshot, course_snapshot
from cellgrader.errors import in_words
from cellgrader.grade import which_counts
from cellgrader.grade.how import USUAL, How
from cellgrader.grade.who import to_grade
from cellgrader.marks.appeal_points import restore
from cellgrader.marks.history import announcing, note
from cellgrader.marks.in_gradebook import LOST, found_records
from cellgrader.marks.only_gains import Gains
from cellgrader.processes.interrupt import DeferredInterrupt
from cellgrader.processes.pool import Died, Pool, Work
from cellgrader.run import systems
from cellgrader.run.examine import Examiner
from cellgrader.submission.attempts import attempt, graded, known_again, note_graded, spent, work_of
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import find_submissions
from cellgrader.submission.shared_by_hand import hand_over
from cellgrader.submission.shared_work import keep_own, whose_work
from cellgrader.with_nbgrader.lock import alone

if TYPE_CHECKING:
    from cellgrader.run.examine import Examination
    from cellgrader.with_nbgrader.save import Saver

    # Examines these submissions; yields each, as it was read, with the result.
    Examined = Callable[[list[Submission]], Iterator[tuple[Submission, Examination | Died]]]


def grade(
    course: Course,
    name: str,
    students: Iterable[str] = (),
    how: How = USUAL,
    *,
    tell: Callable[[Record], None] = lambda record: None,
    begun: Callable[[str], None] = lambda student: None,
    reason: str = "",
) -> list[Record]:
    """Autograde the submissions of ``students`` (default: all students), and of their partners.

    Args:
        course: the class; its submitted/STUDENT/psN folders are graded.
        name: the assignment, for example "ps1". It must have been released, so that the gradebook
            knows its cells.
        how: by which workers, within which limits, and what is graded again.
        tell: called with each record as soon as it is available.
        begun: called with a student's name when work on the submission starts, from another thread.
        reason: an instructor's words on why marks change, kept in the history.
    Returns:
        One record per student, in the students' order.
    Raises:
        CourseError: there is no such assignment, no submission or no sandbox, or another run is active.
    """
    wanted = to_grade(course, name, students)
    how.refuse()
    # Resolve the address here: workers do not see this process's environment.
    course = replace(course, db_url=course.gradebook_url)
    with alone(course):
        open_gradebook(course)
        forget_lost(course, name)
        note(course, name)  # what changed since, before other reasons come up
        run = Run(course, name, how.options(course), tell)
        run.gains = Gains(course, name, only_gains=how.only_gains, again=how.again)
        todo = [each for each in run.submissions(wanted) if not run.is_done(each, how.again)]
        if todo:
            with announcing(course, name, reason):
                try:
                    run.grade(todo, how, begun)
                finally:
                    whole = [who for each in todo for who in each.members]
                    restore(course, name, whole)
                    note(course, name, whole, words=reason, again=how.again)
        return [run.records[student] for student in wanted]


def forget_lost(course: Course, name: str) -> None:
    """Remove the records of grades that the gradebook does not have, so that the work is graded anew."""
    there = [path.stem for path in (course.records / name).glob("[!.]*.json")]
    for record in found_records(course, name, there):
        if record.status == LOST:
            remove_record(course, name, record.student)


class Run:
    """One call of ``grade``: its fixed inputs, and the records so far.

    gains: which marks stay, because a regrade would lower them.
    writes: whether new versions are counted; a preview writes nothing.
    """

    gains: Gains | None = None
    writes = True

    def __init__(
        self,
        course: Course,
        name: str,
        options: dict[str, object],
        tell: Callable[[Record], None],
        *,
        snapshot: Snapshot | None = None,
        writes: bool = True,
    ) -> None:
        self.course = course
        self.name = name
        self.tell = tell
        self.records: dict[str, Record] = {}
        self.writes = writes
        self.snapshot = snapshot or course_snapshot(course, name)
        self._digest = self.snapshot.digest()
        self.options = options | ({"final": True} if systems.is_final(course, name) else {})
        self._common = self.options | {"secret": hashlib.sha256(course.secret()).hexdigest()}

    def submissions(self, students: Iterable[str]) -> list[Submission]:
        """The submissions of these students, each once, before their files are read."""
        found = find_submissions(self.course, self.name).each(students)
        release = Examiner(self.course).release
        return [whose_work(self.course, self.name, each, release) for each in found]

    def fingerprint(self, submission: Submission) -> str:
        """A digest of everything that the submission's grade depends on."""
        options = self._common | {"together": submission.members}
        return fingerprint(self._digest, submission.work.digest(), options)

    def is_done(self, submission: Submission, again: bool) -> bool:
        """Whether a submission needs no grading: it has valid records, or cannot be graded.

        Keeps the records in that case: one for each member.
        """
        members = submission.members
        why = unfit_name(submission.first)
        status = FAILED if why else UNCLEAR
        why = why or submission.unclear
        if why:
            for who in members:
                self._keep(self._written(Record(self.name, who, status, why)))
            return True
        records = {who: read_record(self.course, self.name, who) for who in members}
        if not any(records.values()):
            return False
        try:
            submission = self.load(submission)
            print_of = self.fingerprint(submission)
        except Exception:  # the error recurs during grading and is recorded there
            return False
        done = not again and all(each and each.stands_for(print_of) for each in records.values())
        most, numbers = self.course.settings["attempts"], graded(self.course, self.name, records)
        why = "" if done else spent(most, submission.attempt, numbers)
        for who in members if done or why else ():
            # A new partner brings no new attempt.
            record = records[who] or self._written(Record(self.name, who, UNCLEAR, why))
            self._keep(replace(record, sentence=why) if why else replace(record, before=True))
        return done or bool(why)

    def grade(self, submissions: list[Submission], how: How, begun: Callable[[str], None]) -> None:
        """Let workers examine the submissions, and save the results."""
        from cellgrader.with_nbgrader.save import Saver

        saver, workers = Saver(self.course, self.name), how.workers
        if how.scheduler is None:
            workers = min(workers or os.cpu_count() or 1, len(submissions))
        with self.examining(workers, how.scheduler, begun) as examined, DeferredInterrupt() as interrupt:
            for submission, found in examined(submissions):
                with interrupt.deferred():
                    for record in self.save(saver, submission, found):
                        self._keep(record)

    @contextmanager
    def examining(
        self,
        workers: int | None,
        scheduler: str | None = None,
        begun: Callable[[str], None] = lambda student: None,
    ) -> Iterator[Examined]:
        """Context manager: workers, and a function that lets them examine submissions."""
        with self.pool(workers, scheduler, begun) as (pool, work):

            def examined(submissions: list[Submission]) -> Iterator:
                by = {each.first: each for each in submissions}
                for first, read, found in pool.results(work, [*by], lambda key: self.load(by[key])):
                    yield read or by[first], found

            yield examined

    @contextmanager
    def pool(
        self,
        workers: int | None,
        scheduler: str | None = None,
        begun: Callable[[str], None] = lambda student: None,
    ) -> Iterator[tuple[Pool, Work]]:
        """Context manager: workers, and the job that examines a submission on one of them."""
        from cellgrader.processes import local
        from cellgrader.run.worker import WorkerState, examine_on_worker
        from cellgrader.sandbox import shared

        Examiner(self.course).release(self.name)  # fail now rather than once per student
        # The label depends only on the class, so this run replaces the state that a killed run left.
        folder_digest = hashlib.sha256(os.fsencode(self.course.folder.resolve())).hexdigest()[:16]
        label = f"cellgrader-{self.name}-{folder_digest}{'' if self.writes else '-preview'}"
        code = code_digest() if scheduler else b""
        here = scheduler is None and self.options["confined"]
        with ExitStack() as stack:
            # Started first, it imports while the workers start.
            door = stack.enter_context(shared()) if here else None
            options = self.options | {"secret": self.course.secret(), "door": door}
            state = WorkerState(self.name, self.snapshot, options, code)
            if scheduler is None:
                started = local.start(state, workers, begun)
            else:
                from cellgrader.processes import cluster

                started = cluster.start(state, workers, begun, run=label, address=scheduler)
            yield stack.enter_context(started), examine_on_worker

    def save(self, saver: Saver, submission: Submission, found: Examination | Died) -> list[Record]:
        """Save a result for each member, and return the records.

        Any error becomes a FAILED record, so that it does not stop the other submissions.
        """
        members, records = submission.members, list[Record]()
        if isinstance(found, Died):
            return [self._failed(who, found.why) for who in members]
        try:
            for who in members:
                records.append(self._save_for(who, saver, submission, found))
                keep_own(self.course, self.name, who, submission.source)
            hand_over(self.course, self.name, members)
        except BaseException as error:  # without records, all of it is done again
            for who in members:
                remove_record(self.course, self.name, who)
            if isinstance(error, OSError) or not isinstance(error, Exception):
                raise
            return [self._failed(who, in_words(error)) for who in members]
        return records

    def _save_for(
        self, student: str, saver: Saver, submission: Submission, found: Examination
    ) -> Record:
        """Save a result for one member."""
        try:
            found, number = replace(found, student=student), submission.attempt
            print_of = self.fingerprint(submission)
            record = self.gains and self.gains.kept(found, number, print_of)
            record = record or which_counts.save(self.course, saver, found, submission, print_of)
            if record.has_grade and found.status in WITH_GRADE:
                note_graded(self.course, self.name, student, number)
            return record
        except Exception as error:
            return self._failed(student, in_words(error))

    def _failed(self, student: str, why: str) -> Record:
        """Write the record of what could not be graded."""
        sentence = f"This submission could not be graded: {why}."
        return self._written(Record(self.name, student, FAILED, sentence))

    def _written(self, record: Record) -> Record:
        if self.writes:
            write_record(self.course, record)
        return record

    def load(self, submission: Submission) -> Submission:
        """A submission with the files and the number of the attempt that counts."""
        return which_counts.counting(self.course, self.name, self.newest(submission))

    def newest(self, submission: Submission) -> Submission:
        """A submission with its newest files, and the highest number they have for a member."""
        work, numbers = work_of(self.course, self.name, submission.source), []
        content, known = work.digest(), known_again(work)
        for who in submission.members:
            own = known if who == submission.source else None
            numbers.append(attempt(self.course, self.name, who, content, write=self.writes, first=own))
        return replace(submission, work=work, attempt=max(numbers))

    def _keep(self, record: Record) -> None:
        self.records[record.student] = record
        self.tell(record)
