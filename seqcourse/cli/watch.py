"""``seqcourse watch``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from cellgrader.course.folders import Course
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root
from seqcourse.errors import CourseError


@refusals_in_words()
def watch_assignment(
    name: str,
    workers: int | None,
    timeout: int | None,
    page: Path | None,
    idle: float | None,
    db_url: str = "",
) -> None:
    """Grade what arrives for an assignment until interrupted.

    Args:
        page: a page to write beside what the terminal shows.
        idle: end after so many seconds without anything to do.
        db_url: the gradebook's address; empty for the usual one.
    """
    need_nbgrader()
    from cellgrader.processes import local
    from cellgrader.sandbox import refusal
    from cellgrader.watch.board import Board
    from cellgrader.watch.loop import Watcher
    from cellgrader.watch.passing import find_exchange

    course = Course(find_root(), db_url=db_url)
    course.require(name)
    if refusal():
        raise CourseError(refusal())
    if page is not None and not page.absolute().parent.is_dir():
        raise CourseError(f"--page should be a file in an existing folder, but {page.parent} is none.")
    local.get_ready()
    # A service is stopped by this signal: it ends like Ctrl-C, never in the middle of a grade.
    signal.signal(signal.SIGTERM, lambda *received: os.kill(os.getpid(), signal.SIGINT))
    board = Board(name, path=page)
    watcher = Watcher(course, name, board, exchange=find_exchange(course, name), timeout=timeout)
    try:
        watcher.run(workers, idle)
    except KeyboardInterrupt:
        pass
    print(f"Stopped watching {name}: {board.totals}.")
    if idle is None:
        print(f"The next start goes on where this one ended: seqcourse watch {name}", file=sys.stderr)
