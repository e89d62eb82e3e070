"""What a regrade would change, without writing anything: ``seqcourse grade ps3 --preview``.

The work is examined as ``grade`` does, with the same attempts and inputs, in the same sandbox. Work that
``grade`` would not examine again is not examined here either.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.class_settings import FILES
from cellgrader.course.address import SQLITE, sqlite_file
from cellgrader.course.folders import CONFIG_FILE, Course
from cellgrader.course.gradebook import copy_to, handed_in, opened
from cellgrader.course.records import FAILED
from cellgrader.course.snapshot import Snapshot, course_snapshot
from cellgrader.course.version import FILE as VERSION
from cellgrader.errors import CourseError
from cellgrader.grade.how import USUAL, How
from cellgrader.grade.submissions import Run
from cellgrader.grade.which_counts import would_not_count
from cellgrader.grade.who import to_grade
from cellgrader.marks.history import owners, state_of
from cellgrader.marks.in_words import label, points
from cellgrader.marks.only_gains import Difference, Gains, compare
from cellgrader.notebook.parse import shown
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable
from cellgrader.profile import program
from cellgrader.release.generate import release
from cellgrader.submission.partners import handing_in

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from rich.table import Table


@dataclass(frozen=True)
class Preview:
    """What a regrade would change.

    differences: one for each student whose mark would change, also where it is kept.
    same: how many marks would stay.
    without: who has no mark yet, so that nothing can change.
    failed: who could not be examined, each with the reason.
    """

    assignment: str
    differences: tuple[Difference, ...]
    same: int
    without: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def summary(self) -> list[str]:
        """Sentences about the whole."""
        written = [each for each in self.differences if not each.kept]
        gain = [each.gain for each in written if each.gain > 0]
        lose = [each for each in written if each.gain < 0]
        stay = self.same + len(self.differences) - len(gain) - len(lose)
        up = f" ({number(sum(gain))} points in all, at most {number(max(gain))})" if gain else ""
        told = [f"{len(gain)} would gain{up}, {len(lose)} would lose, {stay} would stay."]
        if lose:
            some = ", ".join(f"{shown(each.student)} ({number(-each.gain)})" for each in lose[:8])
            told.append(f"Would lose: {some}{', ...' if len(lose) > 8 else ''}.")
        if kept := [shown(each.student) for each in self.differences if each.kept]:
            told.append(f"Would fall, but --only-gains keeps the mark: {', '.join(kept[:8])}.")
        if self.without:
            told.append(f"No mark yet: {', '.join(map(shown, self.without))}.")
        told += [f"Could not be examined: {who}" for who in self.failed]
        told.append(
            f'Nothing was written. Write all: {program()} grade {self.assignment} --reason "..."; '
            f"only what rises: add --only-gains."
        )
        return told


def by_exercise(found: Preview, numbers: dict[str, str]) -> list[str]:
    """What would change in each exercise, those with most students first: "2 half: 89 lose 1"."""
    counts: dict[str, Counter[str]] = {}
    for each in found.differences:
        for exercise, (old, new) in () if each.kept else each.changed.items():
            if old is None or new is None:
                word = "wait for a grade by hand" if new is None else "get a grade that waited"
            else:
                word = f"{'gain' if new > old else 'lose'} {number(abs(new - old))}"
            counts.setdefault(exercise, Counter())[word] += 1
    return [
        printable(f"{label(exercise, numbers)}: ")
        + ", ".join(f"{count} {word}" for word, count in found_words.most_common())
        for exercise, found_words in sorted(counts.items(), key=lambda pair: -pair[1].total())
    ]


def preview(course: Course, name: str, students: Iterable[str] = (), how: How = USUAL) -> Preview:
    """Examine what ``grade`` would examine, and compare; the arguments are those of ``grade``.

    Raises:
        CourseError: there is no such assignment or submission, or nothing was graded yet.
    """
    course.require(name)
    students = list(students)
    wanted = to_grade(course, name, students) if students else handing_in(course, name)
    file = sqlite_file(course.gradebook_url)
    if file is not None and not file.exists() or not wanted:
        raise CourseError(
            f"A preview compares with the marks of {name}, but nothing was graded yet. "
            f"Grade first: {program()} grade {name}"
        )
    how.refuse()
    course = replace(course, db_url=course.gradebook_url)
    options, snapshot = how.options(course), _fresh(course, name)
    run = Run(course, name, options, tell=lambda record: None, snapshot=snapshot, writes=False)
    gains = Gains(course, name, only_gains=how.only_gains, again=how.again)
    with opened(course, as_it_is=True) as gradebook:
        marked, found, failed = _examine(run, gains, gradebook, wanted, how)
    found.sort(key=lambda each: wanted.index(each.student))
    same = len(marked) - len(found) - len(failed)
    without = tuple(who for who in wanted if who not in marked)
    return Preview(name, tuple(found), same, without, tuple(failed))


def _examine(
    run: Run, gains: Gains, gradebook: Gradebook, wanted: list[str], how: How
) -> tuple[list[str], list[Difference], list[str]]:
    """Who has a mark, how marks would differ, and who could not be examined, with the reason."""
    course, name, found, failed = run.course, run.name, list[Difference](), list[str]()
    submissions, owner = handed_in(gradebook, name), owners(course, name)
    marked = [
        who
        for who in wanted
        if who in submissions
        and (state := state_of(course, name, submissions[who], owner))
        and state.marks is not None
    ]
    todo = []
    for submission in run.submissions(marked):
        if why := submission.unclear:
            members = submission.members
            failed += [f"{shown(each)}: {printable(why)}" for each in members if each in marked]
        elif not run.is_done(submission, how.again):
            todo.append(submission)
    if todo:
        with run.examining(how.workers, how.scheduler) as examined:
            for_each = (
                (student, submission, done)
                for submission, done in examined(todo)
                for student in submission.members
                if student in marked
            )
            for student, submission, done in for_each:
                why = getattr(done, "why", "") or done.status == FAILED and done.sentence
                if why:
                    failed.append(f"{shown(student)}: {printable(why)}")
                    continue
                done = replace(done, student=student)
                if would_not_count(course, done, submission):
                    continue
                one = compare(course, name, submissions[student], done, submission.attempt)
                if one and one.now.differs(one.before):
                    found.append(_kept(one, gains, student, submission.attempt))
    return marked, found, failed


def _kept(one: Difference, gains: Gains, student: str, attempt: int) -> Difference:
    """The same, with whether the mark stays because a regrade would lower it."""
    same = one.before.attempt in (None, attempt)
    return replace(one, kept=one.gain < 0 and same and gains.protects(student, attempt))


def _fresh(course: Course, name: str) -> Snapshot:
    """The files that a worker needs, the assignment released anew, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="preview-") as temporary:
        root = Path(temporary) / "course"
        root.mkdir()
        (root / "solutions").symlink_to(course.solutions.resolve(), target_is_directory=True)
        for file in (CONFIG_FILE, *FILES):
            if (course.root / file).exists():
                shutil.copy(course.root / file, root)
        elsewhere = Course(root, course.grading, db_url=f"{SQLITE}{root / 'gradebook.db'}")
        file = sqlite_file(course.gradebook_url)
        if file is not None:  # a copy, since a new one takes seconds
            copy_to(course, root / "gradebook.db")
        elsewhere.make_folder()
        if (course.folder / VERSION).exists():
            shutil.copy(course.folder / VERSION, elsewhere.folder)
        released = elsewhere.folder / "released" / name
        with redirect_stderr(io.StringIO()):  # what is said of an update concerns the copy only
            release(elsewhere, [name], target=released.parent)
        prefix = f"{course.grading}/released/{name}/"
        files = {
            prefix + path.relative_to(released).as_posix(): path.read_bytes()
            for path in sorted(released.rglob("*"))
            if path.is_file()
        }
    known = course_snapshot(course, name)
    kept = {path: content for path, content in known.files.items() if not path.startswith(prefix)}
    return replace(known, files={**kept, **files})


def as_table(found: Preview, numbers: dict[str, str]) -> Table:
    """A table for the terminal: each exercise that would change, and each total."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=f"What grading {found.assignment} would change", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("student", no_wrap=True)
    table.add_column("exercise")
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("why", ratio=1)
    for each in found.differences:
        who = escape(printable(each.student))
        for exercise, (old, new) in each.changed.items():
            why = escape(printable(each.why.get(exercise, "")))
            table.add_row(
                who, escape(printable(label(exercise, numbers))), points(old), points(new), why
            )
            who = ""
        word = f"gains {points(each.gain)}" if each.gain > 0 else f"loses {points(-each.gain)}"
        if each.kept:
            word = f"stays {points(each.before.total)}: --only-gains"
        word = word if each.gain else "stays"
        totals = points(each.before.total), points(each.now.total)
        table.add_row(who, "total", *totals, word, style="bold", end_section=True)
    return table
