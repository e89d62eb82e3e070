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
from functools import partial
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
from cellgrader.course.snapshot import Snapshot, course_snapshot, folder_snapshot
from cellgrader.errors import CourseError
from cellgrader.grade.which_counts import best_counts, forget_best, save_best, standing
from cellgrader.grade.who import to_grade
from cellgrader.marks.appeal_points import restore
from cellgrader.marks.history import announcing, note
from cellgrader.marks.in_gradebook import LOST, found_records
from cellgrader.marks.only_gains import Gains
from cellgrader.processes.interrupt import DeferredInterrupt
from cellgrader.run import systems
from cellgrader.run.examine import Examiner
from cellgrader.submission.attempts import attempt, graded, known_again, note_graded, spent, work_of
from cellgrader.submission.partners import find_teams
from cellgrader.submission.shared_work import whose_work
from cellgrader.with_nbgrader.lock import alone

if TYPE_CHECKING:
    from cellgrader.processes.cluster import Cluster, Died
    from cellgrader.run.examine import Examination
    from cellgrader.with_nbgrader.save import Saver

    # Examines the submissions of these students; yields each with its snapshot and the result.
    Examined = Callable[[list[str]], Iterator[tuple[str, Snapshot | None, Examination | Died]]]


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
    reason: str = "",
    only_gains: bool = False,
) -> list[Record]:
    """Autograde the submissions of ``students`` (default: all students), and of their partners.

    Args:
        course: the class; its submitted/STUDENT/psN folders are graded.
        name: the assignment, for example "ps1". It must have been released, so that the gradebook
            knows its cells.
        workers: the number of submissions examined at a time (default: one per core).
        timeout: seconds that one cell may take (default: the course's setting).
        tell: called with each record as soon as it is available.
        begun: called with a student's name when work on the submission starts, from another thread.
        scheduler: the address of a Dask cluster to use instead of processes on this machine.
        again: also grade submissions that have not changed since they were graded.
        unsafe: run students' code without a sandbox, with the grading user's rights.
        everything: also run cells that only display something.
        reason: an instructor's words on why marks change, kept in the history.
        only_gains: write no mark that would fall, see ``cellgrader.marks.only_gains``.
    Returns:
        One record per student, in the students' order.
    Raises:
        CourseError: there is no such assignment, no submission or no sandbox, or another run is active.
    """
    wanted = to_grade(course, name, students)
    if scheduler is None:
        refuse_unconfined(unsafe)
    # Resolve the address here: workers do not see this process's environment.
    course = replace(course, db_url=course.gradebook_url)
    timeout = timeout or course.settings["timeout"]
    options = {"confined": not unsafe, "timeout": timeout, "everything": everything}
    with alone(course):
        open_gradebook(course)
        forget_lost(course, name)
        note(course, name)  # what changed since, before other reasons come up
        run = Run(course, name, options, tell)
        run.gains = Gains(course, name, only_gains=only_gains, again=again)
        todo = [who for who in run.teams.firsts(wanted) if not run.is_done(who, again)]
        if todo:
            with announcing(course, name, reason):
                try:
                    run.grade(todo, workers, scheduler, begun)
                finally:
                    whole = run.teams.whole(todo)
                    restore(course, name, whole)
                    note(course, name, whole, words=reason, again=again)
        return [run.records[student] for student in wanted]


def forget_lost(course: Course, name: str) -> None:
    """Remove the records of grades that the gradebook does not have, so that the work is graded anew."""
    there = [path.stem for path in (course.records / name).glob("[!.]*.json")]
    for record in found_records(course, name, there):
        if record.status == LOST:
            remove_record(course, name, record.student)


def refuse_unconfined(unsafe: bool) -> None:
    """Raise CourseError if this machine has no sandbox, unless students' code may run without one."""
    from cellgrader.sandbox import refusal

    if not unsafe and refusal():
        raise CourseError(refusal())


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
        self.most = course.settings["attempts"]
        self.writes = writes
        self.snapshot = snapshot or course_snapshot(course, name)
        self._digest = self.snapshot.digest()
        self.options = options | ({"final": True} if systems.is_final(course, name) else {})
        self._common = self.options | {"secret": hashlib.sha256(course.secret()).hexdigest()}
        self.teams = find_teams(course, name)
        self._sources: dict[str, str] = {}

    def fingerprint(self, submission: Snapshot, partners: tuple[str, ...] = ()) -> str:
        """A digest of everything that the submission's grade depends on.

        Args:
            partners: all who handed it in together; without any, one student did.
        """
        together = {"together": partners} if len(partners) > 1 else {}
        return fingerprint(self._digest, submission.digest(), self._common | together)

    def is_done(self, student: str, again: bool) -> bool:
        """Whether the submission needs no grading: it has valid records, or cannot be graded.

        Keeps the records in that case: one for each partner.

        Args:
            student: the first of those who handed in together.
        """
        members = self.teams.of(student).members
        why = unfit_name(student)
        status = FAILED if why else UNCLEAR
        why = why or self.unclear(student)
        if why:
            for who in members:
                record = Record(self.name, who, status, why)
                write_record(self.course, record)
                self._keep(record)
            return True
        records = {who: read_record(self.course, self.name, who) for who in members}
        found = [record for record in records.values() if record is not None]
        if not found:
            return False
        try:
            submission = self.load(student)
            print_of = self.fingerprint(submission, members)
        except Exception:  # the error recurs during grading and is recorded there
            return False
        done = not again and all(each and each.stands_for(print_of) for each in records.values())
        last = max(each.attempt if each.has_grade else 0 for each in found)
        numbers = graded(self.course, self.name, members, last)
        why = "" if done else spent(self.most, submission.attempt, numbers)
        for who in members if done or why else ():
            record = records[who]
            if record is None:  # a new partner brings no new attempt
                record = Record(self.name, who, UNCLEAR, why)
                write_record(self.course, record)
            self._keep(replace(record, sentence=why) if why else replace(record, before=True))
        return done or bool(why)

    def unclear(self, student: str) -> str:
        """Why it is unclear which work of partners counts; "" if it is clear, and then noted."""
        release = Examiner(self.course).release
        self._sources[student], why = whose_work(self.course, self.name, self.teams.of(student), release)
        return why

    def source(self, student: str) -> str:
        """In whose folder the work is, once ``unclear`` has looked."""
        return self._sources.get(student, student)

    def grade(
        self,
        students: list[str],
        workers: int | None,
        scheduler: str | None,
        begun: Callable[[str], None],
    ) -> None:
        """Let workers examine the submissions, and save the results."""
        from cellgrader.with_nbgrader.save import Saver

        saver = Saver(self.course, self.name)
        if scheduler is None:
            workers = min(workers or os.cpu_count() or 1, len(students))
        with self.examining(workers, scheduler, begun) as examined, DeferredInterrupt() as interrupt:
            for student, snapshot, found in examined(students):
                with interrupt.deferred():
                    for record in self.save_all(saver, student, snapshot, found):
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
            yield lambda students: pool.results(work, students, self.load)

    @contextmanager
    def pool(
        self,
        workers: int | None,
        scheduler: str | None = None,
        begun: Callable[[str], None] = lambda student: None,
    ) -> Iterator[tuple[Cluster, Callable[[str, Snapshot], Examination]]]:
        """Context manager: workers, and the job that examines a submission on one of them."""
        from cellgrader.processes import cluster
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
            state = WorkerState(label, self.name, self.snapshot, options, code)
            work = partial(examine_on_worker, label)
            pool = stack.enter_context(
                cluster.start(state, label, workers=workers, scheduler=scheduler, begun=begun)
            )
            yield pool, work

    def save_all(
        self, saver: Saver, student: str, snapshot: Snapshot | None, found: Examination | Died
    ) -> list[Record]:
        """Save a result for the student and each partner, and return their records."""
        team = self.teams.of(student)
        if snapshot is None or len(team.members) == 1:
            return [self.save(saver, who, snapshot, found) for who in team.members]
        from cellgrader.submission.shared_by_hand import hand_over
        from cellgrader.submission.shared_work import for_member, keep_own

        source, records = self.source(student), []
        print_of = self.fingerprint(snapshot, team.members)
        try:
            for who in team.members:
                own = for_member(who, source, snapshot)
                records.append(self.save(saver, who, own, found, print_of, team.partners(who)))
                keep_own(self.course, self.name, who, source)
            hand_over(self.course, self.name, team.members)
        except BaseException as error:  # without records, all of it is done again
            for who in team.members:
                remove_record(self.course, self.name, who)
            if isinstance(error, OSError) or not isinstance(error, Exception):
                raise
            from cellgrader.processes.cluster import Died, in_words

            return [self.save(saver, who, None, Died(in_words(error))) for who in team.members]
        return records

    def save(
        self,
        saver: Saver,
        student: str,
        snapshot: Snapshot | None,
        found: Examination | Died,
        print_of: str = "",
        partners: tuple[str, ...] = (),
    ) -> Record:
        """Save a result and return its record.

        Any error becomes a FAILED record, so that it does not stop the other submissions.

        Args:
            print_of: the fingerprint of the work; that of ``snapshot`` without it.
        """
        from cellgrader.processes.cluster import Died, in_words

        if not isinstance(found, Died):
            try:
                print_of = print_of or self.fingerprint(snapshot)
                found = replace(found, student=student)
                kept = self.gains and self.gains.kept(found, snapshot.attempt, print_of)
                if not kept and not partners and best_counts(self.course):
                    record = save_best(self.course, saver, found, snapshot, print_of)
                else:
                    if not kept and partners:
                        forget_best(self.course, self.name, student)
                    record = kept or saver.save(found, snapshot, print_of, partners)
                if record.has_grade and found.status in WITH_GRADE:
                    note_graded(self.course, self.name, student, snapshot.attempt)
                return record
            except Exception as error:
                found = Died(in_words(error))
        sentence = f"This submission could not be graded: {found.why}."
        record = Record(self.name, student, FAILED, sentence)
        write_record(self.course, record)
        return record

    def load(self, student: str) -> Snapshot:
        """The submission, with the number of its attempt: the highest of all partners."""
        source = self.source(student)
        members = self.teams.of(student).members
        found = work_of(self.course, self.name, source)
        content, first = found.digest(), known_again(found)
        alone = len(members) == 1  # of partners, the last version counts
        earlier = standing(self.course, self.name, student, content.hex()) if alone else None
        if earlier is not None:
            folder, number = earlier
            return replace(folder_snapshot(folder), attempt=number)
        write, numbers = self.writes, []
        for who in members:
            own = first if who == source else None
            numbers.append(attempt(self.course, self.name, who, content, write=write, first=own))
        return replace(found, attempt=max(numbers))

    def _keep(self, record: Record) -> None:
        self.records[record.student] = record
        self.tell(record)
