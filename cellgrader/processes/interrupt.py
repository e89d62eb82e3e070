"""Ctrl-C while a grade is written, or while other people's code runs that would hide or spoil it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class DeferredInterrupt:
    """Defers Ctrl-C while a grade is written.

    nbgrader would catch the interrupt, delete the graded notebook and report a failure.
    """

    def __enter__(self) -> DeferredInterrupt:
        self._writing = self._interrupted = False
        self._previous = None
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *problem: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        if self._writing:
            return
        if not callable(self._previous):
            raise KeyboardInterrupt
        self._previous(number, frame)
        self._interrupted = False  # an import goes on: it comes again

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """An interrupt inside the block takes effect at the block's end."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False
        self.check()

    def check(self) -> None:
        """Raise an interrupt that came before and was lost in somebody else's ``except``."""
        if self._interrupted:
            raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """An interrupt inside the block takes effect at the block's end."""
    with DeferredInterrupt() as interrupt, interrupt.deferred():
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Processes that are started inside the block get no interrupt until they ask for it; see ``quiet``.

    An interrupt of this process takes effect at the block's end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    with deferred():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
