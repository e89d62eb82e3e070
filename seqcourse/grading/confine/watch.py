"""Looks after a sandbox from outside: adds up what its processes use, and ends it in time.

Limits of single processes do not stop many of them together, and control groups can often not be
set up. The sandbox's own /proc lists exactly its processes, so it is read there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from seqcourse.grading.confine.limits import Limits, size_in_words

INTERVAL = 0.1
OURS = 2  # processes of the holder
# Fields of /proc/PID/stat after the program's name: processor time, its own and that of children
# that ended, in user mode and in the system's; threads; when it started.
UTIME, STIME, CUTIME, CSTIME, THREADS, STARTED = 11, 12, 13, 14, 17, 19


@dataclass(frozen=True)
class Usage:
    """What the processes of a sandbox use at one moment; memory is at most this."""

    processes: int
    memory: int
    cpu: float


class Meter:
    """Reads what a sandbox uses.

    Args:
        proc: a file descriptor of the sandbox's /proc; it is closed by ``close``.
    """

    def __init__(self, proc: int):
        self.proc = proc
        self.tick = os.sysconf("SC_CLK_TCK")
        self.seen: dict[tuple[str, str], int] = {}  # process and its start -> processor time
        self.gone = 0  # processor time of those that ended

    def read(self) -> Usage:
        """Add up what there is now."""
        processes = memory = inherited = 0
        now = {}
        for pid in self._pids():
            try:
                stat = self._file(pid, "stat").rpartition(")")[2].split()
                # Without what is mapped from files; too much, as pages shared by a fork count twice.
                memory += _kilobytes(self._file(pid, "status"), "RssAnon:", "RssShmem:") * 1024
            except OSError:
                continue  # it ended meanwhile
            processes += int(stat[THREADS])
            now[pid, stat[STARTED]] = int(stat[UTIME]) + int(stat[STIME])
            inherited += int(stat[CUTIME]) + int(stat[CSTIME])
        # Two counts, each of which can only be too small: a process that ended counts with what it had
        # used when it was last seen, or with what its parent inherited from it.
        self.gone += sum(used for who, used in self.seen.items() if who not in now)
        self.seen = now
        ticks = sum(now.values()) + max(self.gone, inherited)
        return Usage(processes, memory, ticks / self.tick)

    def exact_memory(self) -> int:
        """Memory with shared pages counted once; slower. A process that hides counts in full."""
        memory = 0
        for pid in self._pids():
            with suppress(FileNotFoundError, ProcessLookupError):
                try:
                    text = self._file(pid, "smaps_rollup")
                except PermissionError:
                    text = self._file(pid, "status")
                memory += _kilobytes(text, "Pss_Anon:", "Pss_Shmem:", "RssAnon:", "RssShmem:") * 1024
        return memory

    def _pids(self) -> list[str]:
        return [name for name in os.listdir(self.proc) if name.isdigit()]

    def _file(self, pid: str, name: str) -> str:
        descriptor = os.open(f"{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.proc)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            return file.read()

    def close(self) -> None:
        os.close(self.proc)


def _kilobytes(text: str, *names: str) -> int:
    """The sum of the lines of these names, as in "RssAnon:  1024 kB"."""
    return sum(int(line.split()[1]) for line in text.split("\n") if line.startswith(names))


class Watch(threading.Thread):
    """Ends a sandbox that uses more than it may.

    Args:
        meter: of the sandbox; closed when the watch ends.
        limits: what it may use.
        end: called once with what it did, as the part of a sentence.
        also: tells what else it does that ends it, or "".
    """

    def __init__(
        self, meter: Meter, limits: Limits, end: Callable[[str], None], also: Callable[[], str]
    ):
        super().__init__(name="watch-sandbox", daemon=True)
        self.meter, self.limits, self.end, self.also = meter, limits, end, also
        self.over = threading.Event()

    def run(self) -> None:
        started = time.monotonic()
        try:
            while not self.over.wait(INTERVAL):
                try:
                    found = self.excess(time.monotonic() - started)
                except OSError:
                    return  # its /proc is gone, and so is everything in it
                if found:
                    self.end(found)
                    return
        finally:
            self.meter.close()

    def excess(self, seconds: float) -> str:
        """What is exceeded now, or ""."""
        limits, usage = self.limits, self.meter.read()
        if usage.processes - OURS > limits.processes:
            return f"started more than {limits.processes} processes"
        if usage.memory > limits.memory and self.meter.exact_memory() > limits.memory:
            return f"used more than {size_in_words(limits.memory)} of memory"
        if usage.cpu > limits.cpu:
            return f"used more than {limits.cpu:g} seconds of processor time"
        if seconds > limits.wall:
            return f"ran for more than {limits.wall:g} seconds"
        return self.also()

    def stop(self) -> None:
        """Stop looking, and wait until the last look is over."""
        self.over.set()
        if self is not threading.current_thread() and self.ident is not None:
            self.join()
