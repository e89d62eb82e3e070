"""The progress display of long commands: which step, what is running, how many seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class Steps:
    """Shows the steps of a command one after the other.

    Each step has a title and a clock. Lines reported within it (``steps("ps1: done")``) stay on the
    screen; on a terminal a moving line below them shows that the machine still works. In a pipe
    only the lines are printed.

    Args:
        total: how many steps there will be.
    """

    def __init__(self, total: int, console: Console | None = None) -> None:
        self.total = total
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.number = 0
        self.started = time.monotonic()
        self._step_started = self.started

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step; its seconds are printed when it ends well."""
        self.number += 1
        self._step_started = time.monotonic()
        self.console.print(f"[{self.number}/{self.total}] {title}", style="bold", markup=False)
        moving = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        with moving:
            moving.add_task(escape(title))
            yield
        self.console.print(f"      done in {self.seconds():.0f} s")

    def __call__(self, line: str) -> None:
        """Report a line of the running step."""
        self.console.print(f"  {self.seconds():4.0f} s  {line}", markup=False)

    def seconds(self) -> float:
        """Seconds since the running step began."""
        return time.monotonic() - self._step_started

    def all_seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.started
