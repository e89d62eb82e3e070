"""What the instructor sees while a class is watched: a table on a terminal, else lines.

The same can be written to a page that renews itself in the browser. It holds names and points, so only
its owner can read it.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cellgrader.notebook.document import write_text
from cellgrader.pages.frame import page
from cellgrader.printable import printable

# How many events the table shows, and the page.
IN_TABLE, ON_PAGE = 15, 500
# Seconds between two versions of the page, and until a browser looks again.
PAGE_EVERY, RENEW = 2.0, 10


@dataclass(frozen=True)
class Event:
    """Something that happened: when, whose work, what, and a sentence."""

    time: float
    student: str
    what: str
    sentence: str

    def cells(self) -> tuple[str, str, str, str]:
        clock = time.strftime("%H:%M:%S", time.localtime(self.time))
        return clock, printable(self.student, 40), self.what, printable(self.sentence)


@dataclass(frozen=True)
class Totals:
    """What happened since the watcher started: counts of submissions, and the median wait in seconds."""

    arrived: int = 0
    waiting: int = 0
    held: int = 0
    at_work: int = 0
    graded: int = 0
    failed: int = 0
    median: float | None = None

    def __str__(self) -> str:
        wait = "" if self.median is None else f" · median wait {self.median:.0f} s"
        return (
            f"{self.arrived} arrived · {self.waiting} waiting · {self.at_work} at work · "
            f"{self.held} held back · {self.graded} graded · {self.failed} failed{wait}"
        )


class Board:
    """Collects events, and shows them. Its methods may be called from several threads.

    Args:
        name: the assignment.
        path: the page to write, or None.
    """

    def __init__(self, name: str, console: Console | None = None, path: Path | None = None) -> None:
        self.name = name
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.path = path
        self.totals = Totals()
        self.events: deque[Event] = deque(maxlen=ON_PAGE)
        self.waits: list[float] = []
        self._waiting: set[str] = set()
        self._at_work: set[str] = set()
        self._held: set[str] = set()
        self._lock = threading.RLock()
        self._written = 0.0
        self._changed = True

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Context manager: on a terminal the table is shown and renewed within the block."""
        try:
            if self.console.is_terminal:
                with Live(get_renderable=self.table, console=self.console, refresh_per_second=2):
                    yield
            else:
                yield
        finally:
            self.write_page(now=True)

    def arrived(self, student: str) -> None:
        """A submission has arrived and waits for its turn."""
        with self._lock:
            self._waiting.add(student)
            self._held.discard(student)
            self._count(arrived=self.totals.arrived + 1)

    def begun(self, student: str) -> None:
        """A worker has begun with it."""
        with self._lock:
            self._waiting.discard(student)
            self._at_work.add(student)
            self._count()

    def graded(self, student: str, sentence: str, wait: float) -> None:
        """The student has the page, ``wait`` seconds after the work arrived."""
        with self._lock:
            self.waits.append(wait)
            self._ends(student, "graded", f"{sentence} ({wait:.0f} s)", graded=self.totals.graded + 1)

    def failed(self, student: str, sentence: str) -> None:
        """It was not graded, by a fault of the file or of the grader."""
        with self._lock:
            self._ends(student, "failed", sentence, failed=self.totals.failed + 1)

    def held(self, student: str, sentence: str) -> None:
        """It is not graded now; the sentence says why."""
        with self._lock:
            self._held.add(student)
            self._ends(student, "held back", sentence)

    def note(self, sentence: str) -> None:
        """Something that concerns no single student. The same sentence is not repeated."""
        with self._lock:
            if not self.events or self.events[-1].sentence != sentence:
                self._add(Event(time.time(), "", "", sentence))

    def _ends(self, student: str, what: str, sentence: str, **totals: int) -> None:
        with self._lock:
            self._waiting.discard(student)
            self._at_work.discard(student)
            self._count(**totals)
            self._add(Event(time.time(), student, what, sentence))

    def _count(self, **totals: int) -> None:
        self.totals = replace(
            self.totals,
            waiting=len(self._waiting),
            at_work=len(self._at_work),
            held=len(self._held),
            median=statistics.median(self.waits) if self.waits else None,
            **totals,
        )
        self._changed = True

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self._changed = True
        if not self.console.is_terminal:
            clock, student, what, sentence = event.cells()
            who = f"{student}: {what}. " if student else ""
            self.console.print(f"{clock}  {who}{sentence}", markup=False)

    def table(self) -> Group:
        """The totals and the newest events, for a terminal."""
        with self._lock:
            totals, events = self.totals, list(self.events)[-IN_TABLE:]
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("time", "student", "", ""):
            table.add_column(column, no_wrap=column == "time")
        for event in events:
            table.add_row(*map(Text, event.cells()))
        return Group(Text(f"{self.name}: {totals}", style="bold"), table)

    def write_page(self, now: bool = False) -> None:
        """Write the page if something has changed, at most every few seconds."""
        if self.path is None or not (
            now or self._changed and time.monotonic() - self._written > PAGE_EVERY
        ):
            return
        with self._lock:
            totals, events = self.totals, list(self.events)
            self._changed, self._written = False, time.monotonic()
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in event.cells())}</tr>"
            for event in reversed(events)
        )
        body = (
            f"<p>{escape(str(totals))}</p>"
            '<div class="wide"><table><thead><tr><th>time</th><th>student</th><th>state</th>'
            f"<th>what</th></tr></thead><tbody>{rows}</tbody></table></div>"
        )
        content = page(f"Watching {self.name}", body, renew=RENEW)
        write_text(self.path, content, mode=0o600)  # for its owner only
