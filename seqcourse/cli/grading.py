"""``seqcourse release`` and ``seqcourse grade``."""

from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.course.records import FAILED, Record
from cellgrader.errors import in_words
from cellgrader.grade.how import How
from seqcourse.cli.root import find_root, shown
from seqcourse.cli.steps import Steps
from seqcourse.errors import CourseError

# What no code can help: no right, a disk that may only be read, a full one.
OUTSIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)


@contextmanager
def refusals_in_words() -> Iterator[None]:
    """Turn a file that the system refuses to write or read into a CourseError."""
    try:
        yield
    except OSError as error:
        if error.errno not in OUTSIDE:
            raise
        where = f" at {shown(Path(error.filename))}" if error.filename else ""
        raise CourseError(
            f"This command should read and write files of the course, but the system refused{where}: "
            f"{error.strerror}. Change the rights or make room, then run it again."
        ) from error


def need_nbgrader() -> None:
    """Raise CourseError where nbgrader is not installed."""
    from importlib.util import find_spec

    if find_spec("nbgrader") is None:
        raise CourseError(
            "Releasing and grading need nbgrader, but it is not installed. "
            "Install it: pip install 'seqcourse[grading]'"
        )


@refusals_in_words()
def release_assignments(names: list[str]) -> None:
    """Generate the assignments and say which files changed."""
    need_nbgrader()
    from cellgrader.release.generate import Released, left_behind, release
    from cellgrader.submission.attempts import last_years

    course = Course(find_root())

    def tell(released: Released) -> None:
        if released.changed:
            print(f"{shown(released.folder)}: written ({', '.join(released.changed)})")
        else:
            print(f"{shown(released.folder)}: unchanged")
        for warning in released.warnings:
            print(f"  {warning}")

    release(course, names, tell=tell)
    for warning in left_behind(course):
        print(warning)
    if warning := last_years(course):
        print(warning)


@refusals_in_words()
def grade_submissions(
    names: list[str],
    students: list[str],
    how: How,
    *,
    feedback: bool = False,
    db_url: str = "",
    reason: str = "",
) -> bool:
    """Grade one assignment after the other; a table for each, and the feedback if asked for.

    Returns whether every submission was graded or has a fault of its own, and no page failed.

    Args:
        db_url: the gradebook's address; empty for the usual one.
        reason: why marks change.
    """
    need_nbgrader()
    course = Course(find_root(), db_url=db_url)
    wanted = list(dict.fromkeys(names)) or [n for n in course.names() if course.students(n)]
    if not wanted:
        raise CourseError(
            f"Submissions should lie at {course.grading}/submitted/STUDENT/ps1/ps1.ipynb, but there "
            f"are none. (`make course` shows all of it on a sample class.)"
        )
    check_before(course, wanted, students)
    steps = Steps(len(wanted))
    good = True
    for name in wanted:
        with steps.step(f"Grading {name}"):
            named = in_folders(course, name, students)
            scores = grade_assignment(course, name, steps, named, how, reason=reason)
            good &= not any(row.status == FAILED for row in scores.rows)
            if feedback:
                good &= write_feedback(course, name, named, steps)
    return good


def in_folders(course: Course, name: str, students: list[str]) -> list[str]:
    """The students that were named, also where several stand between commas: ada,ben."""
    there = set(course.students(name))
    found = []
    for named in students:
        found += [named] if named in there else [part.strip() for part in named.split(",")]
    return [student for student in found if student]


def check_before(course: Course, names: list[str], students: list[str]) -> None:
    """Raise CourseError for what is wrong with the command before anything is written."""
    from cellgrader.grade.who import to_grade

    for name in names:
        to_grade(course, name, in_folders(course, name, students))
    if not os.access(course.folder, os.W_OK | os.X_OK):
        raise CourseError(
            f"Grades are written to {shown(course.folder)}/, but you may not write there. "
            f"Change its owner or its rights."
        )


def grade_assignment(
    course: Course, name: str, steps: Steps, students: list[str], how: How, *, reason: str = ""
):
    """Grade one assignment, print its table, and return the scores."""
    from cellgrader.course.records import read_record
    from cellgrader.grade.submissions import grade
    from cellgrader.grade.who import to_grade
    from cellgrader.marks.scores import as_table, read_scores
    from cellgrader.pages.report import make_report
    from cellgrader.people.enrolment import unknown
    from cellgrader.processes import local
    from cellgrader.release.generate import release
    from cellgrader.with_nbgrader.lock import alone

    asked = [] if students else unknown(course, name)
    wanted = to_grade(course, name, students)
    count = len(wanted)
    display = Display(steps, name, count)
    if not how.scheduler and any(read_record(course, name, who) is None for who in wanted):
        local.get_ready()  # while the assignment is released
    with alone(course):
        release(course, [name], target=course.folder / "released")
        try:
            records = grade(
                course, name, students, how, tell=display.told, begun=display.begun, reason=reason
            )
        except KeyboardInterrupt:
            print(
                f"seqcourse: Interrupted; {display.done} of {count} submissions of {name} are graded "
                f"and saved. Run the same command again to grade the rest.",
                file=sys.stderr,
            )
            raise
    display.end()
    scores = read_scores(course, name, records)
    Console(highlight=False).print(as_table(scores))
    report = make_report(scores, records)
    for line in [*report.summary, *report.commonest]:
        steps(line)
    for sentence in _left_open(course, name, wanted, asked, whole=not students):
        steps(sentence)
    return scores


def _left_open(
    course: Course, name: str, wanted: list[str], asked: list[str], whole: bool
) -> Iterator[str]:
    """What an instructor should look at: who is missing, misplaced, unknown or without a time."""
    from cellgrader.marks.late import without_time
    from cellgrader.people.enrolment import absent, misplaced, question
    from cellgrader.submission.partners import find_submissions

    missing = [who for who in absent(course, name) if who not in wanted] if whole else []
    if missing:
        yield f"nothing of {name} handed in: {', '.join(missing)}"
    yield from misplaced(course, name)
    yield from (question(course, name, student) for student in asked)
    if untimed := without_time(course, name, wanted):
        yield untimed
    yield from (*course.passed_over(name), *find_submissions(course, name).questions)


# What is said of one submission's code while a class is graded; the record has all of it.
MOST_REMARKS = 3


class Display:
    """What is seen while an assignment is graded: who is done, who is at work, how long it takes."""

    def __init__(self, steps: Steps, name: str, count: int) -> None:
        self.steps = steps
        self.name = name
        self.count = count
        self.done = self.before = 0
        self.at_work: list[str] = []
        self.show = steps.count(count)

    def begun(self, student: str) -> None:
        """Work on a submission begins; called from another thread."""
        self.at_work.append(student)
        self._update()

    def told(self, record: Record) -> None:
        """A submission is done; what an earlier run did is counted only."""
        self.done += 1
        self.before += record.before
        if record.student in self.at_work:
            self.at_work.remove(record.student)
        self._update()
        if not record.before:
            said = f": {record.told}" if record.told else ""
            self.steps(
                f"{self.name} {self.done}/{self.count}  {record.student}: {record.status} "
                f"({record.seconds:.1f} s){said}"
            )
            for remark in record.to_review[:MOST_REMARKS]:
                self.steps(f"    look at the work of {record.student}: {remark}")

    def _update(self) -> None:
        self.show(self.done, ", ".join(self.at_work[:4]))

    def end(self) -> None:
        """Say what was not graded again."""
        if self.before:
            self.steps(
                f"{self.before} of {self.count} were graded before and have not changed since; "
                f"--again grades them again"
            )


@refusals_in_words()
def give_feedback(name: str, students: list[str], release: bool) -> bool:
    """Write the feedback pages again, and release them through nbgrader's exchange if asked to.

    Returns whether every page was made and released.
    """
    need_nbgrader()
    course = Course(find_root())
    course.require(name)
    steps = Steps(1 + release)
    with steps.step(f"Writing the feedback on {name}"):
        good = write_feedback(course, name, in_folders(course, name, students), steps)
    if release:
        with steps.step(f"Releasing the feedback on {name}"):
            # In a process of its own: there nbgrader finds the exchange that this machine is set up for.
            command = [sys.executable, "-P", "-m", "nbgrader", "release_feedback", name]
            good &= subprocess.run(command, cwd=course.root).returncode == 0
    return good


def write_feedback(course: Course, name: str, students: list[str], steps: Callable) -> bool:
    """Write the feedback page of everybody who has a grade; False if one could not be made."""
    from cellgrader.marks.history import note
    from cellgrader.marks.in_gradebook import LOST, found_records
    from cellgrader.pages.feedback import making_feedback, page_path
    from cellgrader.processes.forked import Beside
    from cellgrader.submission.partners import handing_in

    good, pages = True, Beside()
    note(course, name)  # the pages say what changed
    for record in found_records(course, name, dict.fromkeys(students) or handing_in(course, name)):
        student = record.student
        if record.status == LOST:
            steps(f"{student}: {record.sentence}")
            good = False
        elif record.has_grade:
            pages.add(student, making_feedback(course, name, student))
    while ended := pages.ended(math.inf):
        student, error = ended
        if error is None:
            steps(f"feedback: {shown(page_path(course, name, student))}")
        else:  # one page that cannot be made stops no other
            steps(str(error) if isinstance(error, CourseError) else f"{student}: {in_words(error)}")
            good = False
    return good
