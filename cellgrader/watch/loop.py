"""The watcher: from a submission's arrival to its feedback, and on again after it was killed.

What is known of an attempt is on the disk before the next step begins: that it was begun, that it is in
the gradebook, that the student has the page (see ``day``). So a watcher that was killed at any moment
goes on when it is started again: with the same attempt, the same hidden inputs, and the same number of
attempts left today.

The class's lock is held only while a grade is saved, about a second. So `seqcourse grade` can run beside
a watcher; while it runs, results wait to be saved.

A submission waits under the name of its first member, counts for each, and is looked at again if any of
their folders changes.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, Record, read_record, unfit_name, write_record
from cellgrader.errors import in_words
from cellgrader.grade.how import How
from cellgrader.grade.submissions import DeferredInterrupt, Run, forget_lost
from cellgrader.marks import history
from cellgrader.notebook.parse import shown
from cellgrader.people.enrolment import question, unknown
from cellgrader.processes.forked import Beside, Steps
from cellgrader.release.generate import release
from cellgrader.run.examine import Examiner
from cellgrader.submission.attempts import work_of
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import Submissions, find_submissions
from cellgrader.submission.shared_work import whose_work
from cellgrader.watch import day, feedback_pages, standing
from cellgrader.watch.arrivals import Resting, inbox
from cellgrader.watch.board import Board
from cellgrader.watch.only_one import clean_up, only_watcher
from cellgrader.with_nbgrader.lock import Busy, alone

if TYPE_CHECKING:
    from cellgrader.processes.pool import Pool
    from cellgrader.watch.passing import Exchange

# Seconds: between two looks at the folders, and until something that failed is tried again. The latter
# is doubled each time, up to LONGEST. HELD: until it is asked again whether the next day has begun.
LOOK, AGAIN, LONGEST, HELD = 1.0, 60.0, 3600.0, 15.0
# Seconds: what a submission may take besides one cell before it waits until nobody else does, how much
# earlier its examination may end because of that (a cell has whole seconds), and the longest that work
# which is held back is not read again.
BRIEF, ROUNDED, KNOWN = 30.0, 2.0, 600.0


class Watcher:
    """Grades what arrives for one assignment.

    Args:
        course: the class.
        name: the assignment.
        board: where everything is shown.
        exchange: nbgrader's exchange, or None where files only come into the inbox.
        timeout: seconds that one cell may take (default: the course's setting).
        clock: the time, in seconds since 1970.
    """

    def __init__(
        self,
        course: Course,
        name: str,
        board: Board,
        *,
        exchange: Exchange | None = None,
        timeout: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.course, self.name = replace(course, db_url=course.gradebook_url), course.require(name)
        self.board, self.exchange, self.clock = board, exchange, clock
        self._timeout = timeout or course.settings["timeout"]
        self._resting = Resting()
        self._given = feedback_pages.Pages(self.course, name, board, exchange, clock)
        # Who is waiting, at work, or gets a page, with which submission, and since when.
        self._arrived: dict[str, tuple[Submission, float]] = {}
        self._ended: deque[tuple[str, Submission | None, Any]] = deque()
        self._later: dict[str, float] = {}  # who is looked at again, and when
        self._held: dict[str, tuple[str, ...]] = {}  # whose work is held back: which version, and why
        self._standing: dict[str, Hashable] = {}  # what it was held back for, see ``_stands``
        self._pages = Beside()  # the pages of those who are graded or held back
        self._slow: deque[str] = deque()  # who waits until nobody else does, and who is examined in full
        self._in_full, self._known, self._changing = set[str](), set[str](), set[str]()
        self._faults, self._submissions = Counter[str](), Submissions()
        self._looked, self._moving = 0.0, True
        self._busy = time.monotonic()  # when something last happened

    def run(self, workers: int | None = None, idle: float | None = None) -> None:
        """Watch until interrupted.

        Args:
            workers: the number of submissions examined at a time (default: one per core).
            idle: end after so many seconds in which nothing arrived and nothing is left to grade.
        Raises:
            CourseError: another watcher watches this assignment, or all workers are gone.
        """
        from cellgrader.with_nbgrader.save import Saver

        with only_watcher(self.course, self.name), self.board.shown():
            self._release()
            forget_lost(self.course, self.name)
            options = How(timeout=self._timeout).options(self.course)
            self._run = Run(self.course, self.name, options, tell=lambda record: None)
            self._saver = Saver(self.course, self.name)
            with (
                self._run.pool(workers, begun=self.board.begun) as (self._pool, self._work),
                DeferredInterrupt() as self._interrupt,
            ):
                self.board.note(f"Watching {self._places()}.")
                while not self._is_idle(idle):
                    self._step(self._pool)
                    self._interrupt.check()

    def _step(self, pool: Pool) -> None:
        """Look at the folders, and bring one result further."""
        if time.monotonic() - self._looked >= LOOK:
            with self._noted():
                self._look()
            self._looked = time.monotonic()
        with self._noted():
            self.board.write_page()
        if self._slow and pool.has_room():
            pool.add(self._work, self._slow.popleft(), self._load)
        self._put_pages()
        ended = pool.ended(0.0 if self._ended else LOOK / 10 if self._pages else LOOK / 4)
        if ended is not None:
            self._ended.append(ended)
        if self._ended and self._finished(*self._ended[0]):
            self._ended.popleft()
            self._busy = time.monotonic()

    def _put_pages(self) -> None:
        """Bring all pages further whose process has ended."""
        while shown := self._pages.ended(0.0):
            student, fault = shown
            with self._faults_of(student):
                if fault:
                    raise fault
                for who in self._of(student).members:
                    self._arrived.pop(who, None)

    def _is_idle(self, idle: float | None) -> bool:
        if self._arrived or self._ended or self._moving or not self._looked:
            self._busy = time.monotonic()
            return False
        return idle is not None and time.monotonic() - self._busy >= idle

    # Arrivals

    def _look(self) -> None:
        """Take what the exchange has, and see who has handed in."""
        self._moving = False
        if self.exchange is not None:
            with self._noted():
                for sentence in self.exchange.collect():
                    self.board.note(sentence)
                self._moving = self.exchange.moving
        now = time.monotonic()
        rest, moving = self._resting.look(inbox(self.course, self.name))
        self._changing = set(moving)
        self._moving |= bool(moving)
        new = [
            student
            for student in rest
            if student not in self._arrived and self._later.get(student, 0.0) <= now
        ]
        self._meet(new)
        for student in new:
            with self._faults_of(student):
                self._take(student)

    def _meet(self, students: list[str]) -> None:
        """Learn which students are in the class, and who works together."""
        if students:
            self._submissions = find_submissions(self.course, self.name)
        if set(students) - self._known:
            self._known |= set(students) - set(unknown(self.course, self.name))

    def _take(self, student: str) -> None:
        """Decide about a submission that has arrived: grade it now, later, or not at all."""
        course, name, now = self.course, self.name, self.clock()
        if why := unfit_name(student):
            write_record(course, Record(name, student, FAILED, why))
            self._resting.take(student)
            self.board.failed(student, why)
            return
        if student not in self._known:
            self._later[student] = time.monotonic() + AGAIN
            self.board.note(question(course, name, student))
            return
        submission = self._submissions.of(student)
        members, first = submission.members, submission.first
        if (self._arrived.keys() | self._changing) & set(members):
            return  # a member's folder still changes, or is at work: looked at again after that
        stands = self._stands(submission, now)
        if self._standing.get(first) == stands:
            self._later[student] = time.monotonic() + HELD
            return
        submission = whose_work(course, name, submission, Examiner(course).release)
        if submission.unclear:
            self._hold(student, submission, submission.unclear, stands)
            return
        submission = replace(submission, work=work_of(course, name, submission.source))
        digest = submission.work.digest().hex()
        tries = {who: day.tries(course, name, who, now) for who in members}
        last = {who: each[-1] for who, each in tries.items() if each and each[-1].submission == digest}
        records = {who: read_record(course, name, who) for who in members}
        if len(last) == len(members):
            if all(standing.has_ended(last[who], records[who]) for who in members):
                for who in members:
                    if feedback_pages.belongs_to(course, name, who):  # the same, handed in once more
                        self._given.pass_on(who)
                self._resting.take(student)
                return
            submission = replace(submission, attempt=max(each.number for each in last.values()))
            if all(standing.is_saved(self._run, submission, each) for each in records.values()):
                self._resting.take(student)
                self._arrive(student, submission)
                self._pages.add(first, self._show(submission, list(records.values()), None))
                return
        elif all(standing.elsewhere(course, name, who, digest, each) for who, each in records.items()):
            self._resting.take(student)
            return
        elif why := standing.refusal(course, name, submission, tries, records, now):
            self._hold(student, submission, why, stands)
            return
        self._held.pop(first, None)
        self._standing.pop(first, None)
        self._resting.take(student)
        self._arrive(student, submission)
        self.board.arrived(first)
        self._pool.add(self._work, first, self._load)

    def _arrive(self, student: str, submission: Submission) -> None:
        """Count a submission as at work until its pages are there."""
        kept = replace(submission, work=None)  # it is read anew when its turn comes
        self._arrived |= dict.fromkeys(kept.members, (kept, self._resting.since(student)))

    def _of(self, student: str) -> Submission:
        """The submission of a student who is at work."""
        return self._arrived[student][0] if student in self._arrived else self._submissions.of(student)

    def _hold(self, student: str, submission: Submission, why: str, stands: Hashable) -> None:
        """Say to all members why their work is not graded now, once for each version.

        Args:
            stands: for what it is held back, see ``_stands``.
        """
        course, name, first = self.course, self.name, submission.first
        handed_in = [who for who in submission.members if course.handed_in(who, name)]
        which = (why, *(work_of(course, name, who).digest().hex() for who in handed_in))
        if self._held.get(first) != which:
            self._held[first] = which
            self._arrive(student, submission)
            self._pages.add(first, self._given.say(submission, why))
            self.board.held(first, why)
        self._standing[first] = stands
        self._later[student] = time.monotonic() + HELD  # and so on, until something has changed

    def _stands(self, submission: Submission, now: float) -> Hashable:
        """All that can end the wait of work that is held back, without reading it: it may be large."""
        folders = tuple(self._resting.state(who) for who in submission.members)
        settings = repr(self.course.settings)
        return (submission, folders, settings, day.next_day(now), time.monotonic() // KNOWN)

    def _load(self, student: str) -> Submission:
        """Read a submission just before a worker gets it, and note that the attempt begins."""
        found = self._run.newest(self._arrived[student][0])
        if student not in self._in_full:
            found = replace(found, wall=self._timeout + BRIEF)
        digest = found.work.digest().hex()
        now = self.clock()
        for who in found.members:
            last = day.last(self.course, self.name, who, now)
            if student in self._in_full and last and last.submission != digest:
                # It was replaced while it waited: it is never graded, and costs nothing.
                day.note(self.course, self.name, who, last.number, day.SPOILT, now)
            day.begin(self.course, self.name, who, digest, found.attempt, now)
        return found

    # Results

    def _finished(self, student: str, submission: Submission | None, found: Any) -> bool:
        """Save a result and show it to all members; False if it has to wait."""
        seconds = getattr(found, "seconds", 0.0) + ROUNDED
        if submission is not None and 0 < submission.wall <= seconds:
            self._slow.append(student)
            self._in_full.add(student)
            self.board.note(f"{shown(student)}: this takes long, so it waits until nobody else does.")
            return True
        submission = submission or self._of(student)
        try:
            with self._interrupt.deferred(), alone(self.course, brief=True):
                records = self._run.save(self._saver, submission, found)
                with self._noted():
                    history.note(self.course, self.name, [record.student for record in records])
        except Busy:
            self.board.note("Results wait: another run grades the class. They are saved when it ends.")
            time.sleep(LOOK)
            return False
        except OSError as error:  # a full disk: nothing is lost, the result is still here
            self.board.note(f"A grade should be saved, but the system refuses: {error}. Make room.")
            time.sleep(LOOK)
            return False
        self._in_full.discard(student)
        with self._faults_of(student):
            failed = next((record for record in records if record.status == FAILED), None)
            if failed:
                steps = self._failed(submission, failed)
            else:
                self._note(submission, day.GRADED)
                steps = self._show(submission, records, found)
            self._pages.add(student, steps)
        return True

    def _failed(self, submission: Submission, record: Record) -> Steps:
        """The grader failed: the attempt costs nothing, and is tried again."""
        if submission.work is not None:
            self._note(submission, day.SPOILT)
        self.board.failed(submission.first, f"{record.sentence} {self._again(submission)}")
        why = f"{record.sentence} It is tried again, and costs you no attempt."
        yield from self._given.say(submission, why)

    def _show(self, submission: Submission, records: list[Record], found: Any) -> Steps:
        """Put the page where each member finds it."""
        state, said = standing.ending(records[0], submission.attempt, found)
        for each in records:
            yield from self._given.put(each, submission, found)
            self._given.pass_on(each.student)
        self._note(submission, state)
        first, now = submission.first, time.monotonic()
        self._faults.pop(first, None)
        wait = now - self._arrived.get(first, (submission, now))[1]
        if partners := submission.partners(first):
            said = f"with {' and '.join(map(shown, partners))}: {said}"
        if state == day.SHOWN:
            self.board.graded(first, said, wait)
        else:
            self.board.failed(first, said)

    def _note(self, submission: Submission, state: str) -> None:
        for who in submission.members:
            day.note(self.course, self.name, who, submission.attempt, state, self.clock())

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """What goes wrong here is said, and tried again with the next look."""
        try:
            yield
        except Exception as error:
            self.board.note(f"{in_words(error)}.")

    @contextmanager
    def _faults_of(self, student: str) -> Iterator[None]:
        """What goes wrong with one student's work stops nobody else's."""
        try:
            yield
        except Exception as error:
            submission = self._of(student)
            for who in submission.members:
                self._arrived.pop(who, None)
            self.board.failed(submission.first, f"{in_words(error)}. {self._again(submission)}")

    def _again(self, submission: Submission) -> str:
        """Look at a submission again after a while, without a change; says when."""
        wait = min(LONGEST, AGAIN * 2 ** self._faults[submission.first])
        self._faults[submission.first] += 1
        for who in submission.members:
            self._resting.forget(who)
            self._later[who] = time.monotonic() + wait
        return f"It is tried again in {wait / 60:.0f} minutes."

    # The beginning

    def _release(self) -> None:
        """Generate the assignment, as `seqcourse grade` does before it grades."""
        while True:
            with suppress(Busy), alone(self.course, brief=True):
                clean_up(self.course, self.name)
                release(self.course, [self.name], target=self.course.folder / "released")
                history.note(self.course, self.name)
                return
            self.board.note("Another run grades the class. Watching begins when it ends.")
            time.sleep(LOOK)

    def _places(self) -> str:
        here = f"{self.course.grading}/submitted/STUDENT/{self.name}"
        return here if self.exchange is None else f"{self.exchange.inbound} and {here}"
