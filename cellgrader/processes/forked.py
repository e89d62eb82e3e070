"""Several things at a time, each in forked processes: pages are made beside what else goes on.

What is done is a generator of ``Begun``: it yields each process that it waits for, and goes on once that
has ended. All generators run in the thread that asks, so their processes are forked there, too.
"""

from __future__ import annotations

import math
import os
import select
import time
from collections import deque
from collections.abc import Iterator

from cellgrader.processes.limited import Begun

Steps = Iterator[Begun]


def done_now(steps: Steps) -> None:
    """Do one thing, and wait for each of its processes."""
    for _ in steps:
        pass


class Beside:
    """Goes on with as many as there are cores, and begins the others in the order of their arrival."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or os.cpu_count() or 1
        self._waiting: deque[tuple[str, Steps]] = deque()
        self._going: dict[str, tuple[Steps, Begun]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting or self._going)

    def add(self, key: str, steps: Steps) -> None:
        """Do one more thing; the key names it."""
        self._waiting.append((key, steps))

    def ended(self, seconds: float) -> tuple[str, Exception | None] | None:
        """The next thing that ends, and what it raised, or None if none ends within these seconds."""
        until = time.monotonic() + seconds
        while self:
            while self._waiting and len(self._going) < self.at_once:
                key, steps = self._waiting.popleft()
                if end := self._further(key, steps):
                    return end
            ready = self._ready(max(0.0, until - time.monotonic()))
            for key in ready:
                if end := self._further(key, self._going.pop(key)[0]):
                    return end
            if not ready and time.monotonic() >= until:
                break
        return None

    def _further(self, key: str, steps: Steps) -> tuple[str, Exception | None] | None:
        """Let one go on to its next process; at its end, what ``ended`` returns."""
        try:
            self._going[key] = steps, next(steps)
        except StopIteration:
            return key, None
        except Exception as error:
            return key, error
        return None

    def _ready(self, seconds: float) -> list[str]:
        """Those whose process has ended, after at most so many seconds."""
        keys = {begun.pipe: key for key, (_, begun) in self._going.items()}
        if None in keys:  # nothing can be forked here
            return [keys[None]]
        poll = select.poll()
        for pipe in keys:
            poll.register(pipe, select.POLLIN)
        return [keys[pipe] for pipe, _ in poll.poll(None if math.isinf(seconds) else 1000 * seconds)]
