"""Grade every submission of an assignment, each in a process of its own.

A submission that breaks its process breaks nothing else: the others go on, and it gets a record
that says what happened.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

from seqcourse.errors import CourseError
from seqcourse.grading.course import Course
from seqcourse.grading.records import FAILED, Record, read_record, record_path, write_record

# Seconds for a whole submission, beyond which its process is ended from outside.
WHOLE = 1200


def grade(
    course: Course,
    name: str,
    students: Iterable[str] = (),
    *,
    workers: int | None = None,
    timeout: int | None = None,
    tell: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Autograde the submissions of ``students`` (of everybody without names).

    Args:
        course: the class; its submitted/STUDENT/psN/psN.ipynb are graded.
        name: the assignment, "ps1" for example. It must have been released before, so that the
            gradebook knows its cells.
        workers: how many submissions at a time; the number of cores without it.
        timeout: seconds that one cell may take; the course's setting without it.
        tell: called with each record as soon as it is there.
    Returns:
        One record per student, in the students' order.
    Raises:
        CourseError: no such assignment, or nobody handed anything in.
    """
    wanted = to_grade(course, name, students)
    course.open_gradebook()
    workers = workers or max(1, min(os.cpu_count() or 1, len(wanted)))
    records: dict[str, Record] = {}
    with _alone(course), ThreadPoolExecutor(workers) as pool:
        running = _Running()
        jobs = [pool.submit(_grade_apart, course, name, who, timeout, running) for who in wanted]
        try:
            for job in as_completed(jobs):
                record = job.result()
                records[record.student] = record
                tell(record)
        except KeyboardInterrupt:
            # Those at work are stopped and get no record; the others do not begin.
            pool.shutdown(wait=False, cancel_futures=True)
            running.stop()
            raise
    return [records[student] for student in wanted]


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


@contextmanager
def _alone(course: Course) -> Iterator[None]:
    """Keep a second run out of the same class: the two would mix up each other's files.

    The lock belongs to the process and goes with it, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    with (course.folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                f"One run at a time should grade the class in {course.grading}, but another one is "
                f"still at work. Wait until it ends, then grade again."
            ) from None
        yield


class _Running:
    """The worker processes that are at work, so that an interrupted run can stop them."""

    def __init__(self) -> None:
        self.stopped = False
        self._processes: set[subprocess.Popen] = set()
        self._lock = threading.Lock()

    def run(self, command: list[str], environment: dict[str, str]) -> str:
        """Run a worker to its end and say how it ended."""
        with self._lock:
            if self.stopped:
                return "it was stopped"
            # In a session of its own: Ctrl-C reaches only this process, which stops the workers.
            process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=environment,
                start_new_session=True,
            )
            self._processes.add(process)
        try:
            _, said = process.communicate(timeout=WHOLE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"it was ended after {WHOLE} s"
        finally:
            self._processes.discard(process)
        return f"exit code {process.returncode}, {(said.strip() or 'no message')[-300:]}"

    def stop(self) -> None:
        """End every worker, and let none begin."""
        with self._lock:
            self.stopped = True
            for process in list(self._processes):
                process.terminate()


def _grade_apart(
    course: Course, name: str, student: str, timeout: int | None, running: _Running
) -> Record:
    """Run one worker process and read the record that it wrote."""
    record_path(course, name, student).unlink(missing_ok=True)
    # -P: no file of the current folder stands in for a module.
    command = [sys.executable, "-P", "-m", "seqcourse.grading.worker", str(course.root)]
    command += [course.grading, name, student, "--parent", str(os.getpid())]
    if timeout is not None:
        command += ["--timeout", str(timeout)]
    environment = dict(os.environ)
    # One thread per student: several at once would fight for the cores, and a grade should not
    # depend on how many there are.
    environment.setdefault("OMP_NUM_THREADS", "1")
    started = time.monotonic()
    why = running.run(command, environment)
    record = read_record(course, name, student)
    if record is None:
        sentence = f"The process that graded this submission broke: {why}."
        seconds = round(time.monotonic() - started, 1)
        record = Record(name, student, FAILED, sentence, seconds)
        if not running.stopped:
            write_record(course, record)
    return record
