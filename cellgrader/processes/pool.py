"""Jobs for several workers: each worker has one job at a time, and results come as the jobs end.

Two modules know what a worker is: ``local`` and ``cluster``. Each has a context manager ``start`` that
gives a ``Pool``. A worker's death identifies the job that caused it; that job is tried once more.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from cellgrader.errors import CourseError, in_words

# Seconds to wait for something that should be there soon.
PATIENCE = 30

# What a worker does with its state, a key and the key's job; and what returns the job for a key.
Work = Callable[[Any, str, Any], Any]
Load = Callable[[str], Any]


class State(Protocol):
    """What every worker holds during a run; it is sent to each."""

    def set_up(self, folder: str) -> None:
        """Runs on the worker before its first job; files go into ``folder``."""

    def tear_down(self) -> None:
        """Runs on the worker at the end."""

    def refusal(self) -> str:
        """Runs on a worker elsewhere: why it cannot work, or "" if it can."""


@dataclass(frozen=True)
class Died:
    """Takes the place of a result: why the job's workers died, or the error that was raised."""

    why: str


class Lost(Exception):
    """The worker died that did the job."""


class NoWorkers(CourseError):
    """No worker is left, so that no job can be done."""


class Pool:
    """Gives jobs to workers and yields results as they arrive.

    Args:
        do: does one job on a free worker and returns its result or ``Died``. Raises Lost if the worker
            dies and NoWorkers if none is left. It is called from several threads at a time.
        slots: the number of jobs in progress at a time.
        begun: called with a job's key when the job starts, from another thread.
    """

    def __init__(
        self, do: Callable[[Work, str, Any], Any], slots: int, begun: Callable[[str], None]
    ) -> None:
        self.slots = slots
        self._do, self._begun = do, begun
        self._waiting: deque[tuple[Work, str, Load]] = deque()
        self._results: queue.SimpleQueue[tuple[str, Any, Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._busy = 0

    def results(self, work: Work, keys: list[str], load: Load) -> Iterator[tuple[str, Any, Any]]:
        """Run ``work`` for every key.

        Args:
            work: called on a worker with its state, a key and the key's job.
            load: returns the job for a key; called just before the job is sent, in another thread.
        Yields:
            (key, job, result or ``Died``), in the order in which the jobs end.
        Raises:
            NoWorkers: no worker is left.
        """
        for key in keys:
            self.add(work, key, load)
        for _ in keys:
            while (ended := self.ended(PATIENCE)) is None:
                pass
            yield ended

    def add(self, work: Work, key: str, load: Load) -> None:
        """Run ``work`` for one more key as soon as a worker is free, see ``results``."""
        with self._lock:
            self._waiting.append((work, key, load))
            if self._busy == self.slots:
                return
            self._busy += 1
        # A daemon: what hangs elsewhere must not keep this process from ending.
        threading.Thread(target=self._serve, daemon=True).start()

    def has_room(self) -> bool:
        """Whether one more job would begin at once and leave a worker free, where there are several."""
        return self.slots - self._busy >= min(2, self.slots)

    def ended(self, seconds: float) -> tuple[str, Any, Any] | None:
        """(key, job, result) of the next job that ends, or None if none ends within these seconds.

        Raises:
            NoWorkers: no worker is left.
        """
        try:
            key, job, result = self._results.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(result, BaseException):
            raise result
        return key, job, result

    def stop(self) -> None:
        """Begin no further job."""
        self._waiting.clear()

    def _serve(self) -> None:
        """Do one waiting job after the other until there are none, in a thread of its own."""
        while True:
            with self._lock:  # jobs are loaded one after the other, in their order
                if not self._waiting:
                    self._busy -= 1
                    return
                work, key, load = self._waiting.popleft()
                try:
                    job = load(key)
                except Exception as error:
                    self._results.put((key, None, Died(in_words(error))))
                    continue
            try:
                result = self._result(work, key, job)
            except BaseException as error:  # it ends the run: ``ended`` raises it
                result = error
            self._results.put((key, job, result))

    def _result(self, work: Work, key: str, job: Any) -> Any:
        """The result of one job, which is tried once more if its worker dies."""
        for _ in range(2):
            self._begun(key)
            try:
                return self._do(work, key, job)
            except Lost:
                continue
            except NoWorkers:
                raise
            except Exception as error:
                return Died(in_words(error))
        return Died("the process that examined it died, twice")
