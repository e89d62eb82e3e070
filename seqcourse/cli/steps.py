"""The progress display of long commands: which step, what is running, how many seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from cellgrader.printable import printable


class _OfMany(ProgressColumn):
    """A column that shows only in lines that count something."""

    def __init__(self, column: ProgressColumn, word: str = "") -> None:
        self.column = column
        self.word = word
        super().__init__()

    def render(self, task: Task) -> RenderableType:
        if task.total is None:
            return ""
        shown = self.column.render(task)
        return Text.assemble(shown, f" {self.word}") if self.word and isinstance(shown, Text) else shown


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
        self._moving = Progress(disable=True)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step; its seconds are printed when it ends well."""
        self.number += 1
        self._step_started = time.monotonic()
        self.console.print(f"[{self.number}/{self.total}] {title}", style="bold", markup=False)
        with self._display() as moving:
            moving.add_task(escape(title), total=None)
            yield
        self.console.print(f"      done in {self.seconds():.0f} s")

    def _display(self) -> Progress:
        """The moving line; on a terminal only."""
        self._moving = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            _OfMany(BarColumn(bar_width=20)),
            _OfMany(MofNCompleteColumn()),
            TimeElapsedColumn(),
            _OfMany(TimeRemainingColumn(), "left"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        return self._moving

    def count(self, total: int) -> Callable[[int, str], None]:
        """A second moving line in the running step, with a bar and the time that is left.

        Args:
            total: how many there are to do.
        Returns:
            To be called with how many are done and what is being done, from any thread.
        """
        moving = self._moving
        task = moving.add_task("", total=total)

        def show(done: int, doing: str) -> None:
            moving.update(task, completed=done, description=escape(printable(doing)))

        return show

    def __call__(self, line: str) -> None:
        """Report a line of the running step."""
        self.console.print(f"  {self.seconds():4.0f} s  {printable(line)}", markup=False)

    def seconds(self) -> float:
        """Seconds since the running step began."""
        return time.monotonic() - self._step_started

    def all_seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.started
