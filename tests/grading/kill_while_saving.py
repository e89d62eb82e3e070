"""Saves a class again and again in processes that are killed; a program of test_resume.

    python -m tests.grading.kill_while_saving ROOT SEED KILLS

Everything is imported once, and each process is a fork of this one: so there is time for many kills. A
process is killed at a call that chance draws among all calls of a run, however busy the machine is: in
nbgrader's commits, at its files, or between the gradebook and a record.
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

import seqcourse  # noqa: F401  (makes the course known to the grader)
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.course.records import read_record
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.submission.collected import Submission
from cellgrader.with_nbgrader.lock import alone
from cellgrader.with_nbgrader.save import Saver

from . import state

EXAMINED = "examined.pickle"


def save_all(course: Course, again: bool) -> None:
    """What ``grade`` does, with examinations that are there already."""
    examined = pickle.loads((course.root / EXAMINED).read_bytes())
    with alone(course):
        open_gradebook(course)
        saver = Saver(course, "ps1")
        for student, done in examined.items():
            work = folder_snapshot(course.submitted / student / "ps1")
            if again or read_record(course, "ps1", student) is None:
                saver.save(done, Submission((student,), student, 1, work), "the same")


class Calls:
    """A profiler: counts the calls of functions, and kills this process at one of them."""

    def __init__(self, last: int | None = None) -> None:
        self.count, self.last = 0, last

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def in_a_fork(course: Course, again: bool, last: int | None = None) -> int:
    """``save_all`` in a fork of this process, killed at call number ``last``: how the fork ended."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        sys.setprofile(Calls(last) if last else None)
        save_all(course, again)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def whole(course: Course) -> tuple:
    """What must be there in the end."""
    return state.gradebook(course.gradebook_url), state.files(course)


def main() -> None:
    """After every kill a run goes to its end, and must find its way; prints how many kills hit."""
    root, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    calm = root.parent / "calm"
    shutil.copytree(root, calm)
    save_all(Course(calm), again=True)  # in this process: now all is imported
    expected = whole(Course(calm))
    calls = Calls()
    sys.setprofile(calls)
    save_all(Course(calm), again=True)
    sys.setprofile(None)
    assert whole(Course(calm)) == expected
    chance = random.Random(seed)
    hits = 0
    for number in range(kills):
        course = Course(root.parent / f"killed-{number % 4}")
        if number < 4:  # later on, what is there is saved once more
            shutil.copytree(root, course.root)
        hits += os.WIFSIGNALED(in_a_fork(course, again=True, last=chance.randint(1, calls.count)))
        assert in_a_fork(course, again=False) == 0
        assert whole(course) == expected, f"kill number {number}"
    print(hits)


if __name__ == "__main__":
    main()
