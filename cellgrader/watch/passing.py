"""Pass work and feedback on through nbgrader's exchange, as its commands do, but in this process."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.watch.arrivals import Resting

if TYPE_CHECKING:
    from nbgrader.apps.baseapp import NbGrader


class Exchange:
    """The exchange that this machine is set up for.

    Args:
        app: a program of nbgrader's with this machine's settings.
        name: the assignment.
    """

    def __init__(self, app: NbGrader, name: str) -> None:
        from nbgrader.auth import Authenticator
        from nbgrader.exchange import ExchangeFactory

        self._app = app
        self._name = name
        self._factory = ExchangeFactory(parent=app)
        self._authenticator = Authenticator(parent=app)
        self._said = _Sentences()
        app.log.handlers[:] = [self._said]
        app.log.propagate = False
        self._resting = Resting()
        self._known: set[str] | None = None
        self._told: set[str] = set()
        self.moving = False  # whether somebody hands in at this moment
        root = self._factory.exchange(coursedir=app.coursedir, parent=app).root
        self.inbound = Path(root) / app.coursedir.course_id / "inbound"

    def collect(self) -> list[str]:
        """Take newer submissions into the inbox; returns sentences about what could not be taken."""
        names = self._listed()
        _, moving = self._resting.look((each, self.inbound / each) for each in names)
        self.moving = bool(moving)
        rest = set(names) - set(moving)
        if rest == self._known:
            return []
        with self._action("Collect") as action:
            action.update = True
            action.leave = frozenset(moving)
            action.start()
        self._known = rest
        told = [each for each in self._said.take(logging.WARNING) if each not in self._told]
        self._told.update(told)
        return told

    def release(self, student: str) -> str:
        """Give a student the page; returns why it was not given, "" if it was."""
        with self._action("ReleaseFeedback", student) as action:
            action.start()
        return " ".join(self._said.take(logging.WARNING))

    def _listed(self) -> list[str]:
        found = [path.name for path in self.inbound.iterdir()]
        return sorted(each for each in found if f"+{self._name}+" in each)

    @contextlib.contextmanager
    def _action(self, kind: str, student: str = "*") -> Iterator[Any]:
        """One of nbgrader's commands, as an object. What stops it becomes a CourseError."""
        from nbgrader.coursedir import CourseDirectory
        from nbgrader.exchange import ExchangeError

        folders = CourseDirectory(parent=self._app, student_id=student, assignment_id=self._name)
        self._said.take(logging.NOTSET)
        try:
            yield getattr(self._factory, kind)(
                coursedir=folders, authenticator=self._authenticator, parent=self._app
            )
        except (ExchangeError, SystemExit) as error:
            said = " ".join(self._said.take(logging.WARNING)) or str(error)
            raise CourseError(f"nbgrader's exchange should pass files on, but said: {said}") from None


def find_exchange(course: Course, name: str) -> Exchange | None:
    """The exchange of this machine, or None if it has none in which students hand in to this course."""
    from nbgrader.apps.baseapp import NbGrader

    if os.name != "posix":
        return None
    path = list(sys.path)
    with contextlib.chdir(course.root):  # here nbgrader looks for settings, as for its command
        app = NbGrader()
        app.log.setLevel(logging.WARNING)
        app.initialize([])
    sys.path[:] = path
    exchange = Exchange(app, name)
    return exchange if exchange.inbound.is_dir() else None


class _Sentences(logging.Handler):
    """Keeps what nbgrader says."""

    def __init__(self) -> None:
        super().__init__()
        self._records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)

    def take(self, level: int) -> list[str]:
        """What was said at this level or above since the last call, each on one line."""
        records, self._records = self._records, []
        return [" ".join(each.getMessage().split()) for each in records if each.levelno >= level]
