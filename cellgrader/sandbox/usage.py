"""Monitor a sandbox from outside: add up the usage of its processes, and kill it above a limit.

Per-process limits do not limit the total, and control groups are often unavailable. The sandbox's own
/proc lists exactly its processes, so usage is read there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from cellgrader.sandbox.bubblewrap import WRITABLE
from cellgrader.sandbox.limits import Limits, size_in_words

INTERVAL = 0.1
OURS = 2  # the holder's processes
# Indices of fields in /proc/PID/stat after the program's name: user and system time of the process,
# the same of its ended children, number of threads, start time.
UTIME, STIME, CUTIME, CSTIME, THREADS, STARTED = 11, 12, 13, 14, 17, 19


@dataclass(frozen=True)
class Usage:
    """The current usage of a sandbox's processes.

    processes: processes and threads. memory: bytes, an upper bound. cpu: seconds.
    """

    processes: int
    memory: int
    cpu: float


class Meter:
    """Reads the usage of a sandbox.

    Args:
        proc: a file descriptor of the sandbox's /proc, closed by ``close``.
    """

    def __init__(self, proc: int):
        self.proc = proc
        self.tick = os.sysconf("SC_CLK_TCK")
        self.first = min(self._pids(), key=int)  # the holder lives as long as the sandbox
        self.writable = [self._folder(place) for place in WRITABLE]
        self.seen: dict[tuple[str, str], int] = {}  # (pid, start time) -> processor time in ticks
        self.gone = 0  # ticks of processes that have ended

    def read(self) -> Usage:
        """Add up the current usage of all processes."""
        processes = memory = inherited = 0
        now = {}
        for pid in self._pids():
            try:
                stat = self._file(pid, "stat").rpartition(")")[2].split()
                # Without file mappings. An overestimate: pages shared after a fork count twice.
                memory += _kilobytes(self._file(pid, "status"), "RssAnon:", "RssShmem:") * 1024
            except OSError:
                continue  # the process has ended
            processes += int(stat[THREADS])
            now[pid, stat[STARTED]] = int(stat[UTIME]) + int(stat[STIME])
            inherited += int(stat[CUTIME]) + int(stat[CSTIME])
        # Two lower bounds for ended processes: their time when last seen, and the time that their
        # parents inherited. Use the larger one.
        self.gone += sum(used for who, used in self.seen.items() if who not in now)
        self.seen = now
        ticks = sum(now.values()) + max(self.gone, inherited)
        return Usage(processes, memory, ticks / self.tick)

    def exact_memory(self) -> int:
        """Memory in bytes with shared pages counted once; slower than ``read``.

        A process whose smaps are unreadable counts in full.
        """
        memory = 0
        for pid in self._pids():
            with suppress(FileNotFoundError, ProcessLookupError):
                try:
                    text = self._file(pid, "smaps_rollup")
                except PermissionError:
                    text = self._file(pid, "status")
                memory += _kilobytes(text, "Pss_Anon:", "Pss_Shmem:", "RssAnon:", "RssShmem:") * 1024
        return memory

    def files(self) -> int:
        """The number of files and folders in the sandbox's writable folders, deleted open ones too."""
        return sum(found.f_files - found.f_ffree for found in map(os.fstatvfs, self.writable))

    def sockets(self) -> int:
        """The number of sockets in the sandbox's network namespace."""
        words = self._file(self.first, "net/sockstat").split()  # "sockets: used 12 ..."
        return int(words[2])

    def _pids(self) -> list[str]:
        return [name for name in os.listdir(self.proc) if name.isdigit()]

    def _folder(self, place: str) -> int:
        path = f"{self.first}/root{place}"
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.proc)

    def _file(self, pid: str, name: str) -> str:
        descriptor = os.open(f"{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.proc)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            return file.read()

    def close(self) -> None:
        for descriptor in (self.proc, *self.writable):
            os.close(descriptor)


def _kilobytes(text: str, *names: str) -> int:
    """The sum of the lines that begin with these names, such as "RssAnon:  1024 kB"."""
    return sum(int(line.split()[1]) for line in text.split("\n") if line.startswith(names))


class LimitWatch(threading.Thread):
    """A thread that kills a sandbox when it exceeds a limit.

    Args:
        meter: the sandbox's meter; closed when the watch ends.
        limits: the sandbox's limits.
        end: called once with the reason, as the end of a sentence.
        also: returns another reason to end the sandbox, or "".
    """

    def __init__(
        self, meter: Meter, limits: Limits, end: Callable[[str], None], also: Callable[[], str]
    ):
        super().__init__(name="watch-sandbox", daemon=True)
        self.meter, self.limits, self.end, self.also = meter, limits, end, also
        self.over = threading.Event()
        self.used = 0.0  # seconds of processor time

    def run(self) -> None:
        started = time.monotonic()
        try:
            while not self.over.wait(INTERVAL):
                try:
                    found = self.excess(time.monotonic() - started)
                except OSError:
                    return  # the sandbox has ended
                if found:
                    self.end(found)
                    return
        finally:
            self.meter.close()

    def excess(self, seconds: float) -> str:
        """The exceeded limit as the end of a sentence, or ""."""
        limits, usage = self.limits, self.meter.read()
        self.used = usage.cpu
        if usage.processes - OURS > limits.processes:
            return f"started more than {limits.processes} processes"
        if usage.memory > limits.memory and self.meter.exact_memory() > limits.memory:
            return f"used more than {size_in_words(limits.memory)} of memory"
        if usage.cpu > limits.cpu:
            return f"used more than {limits.cpu:g} seconds of processor time"
        if self.meter.files() > limits.files:
            return f"made more than {limits.files:,} files"
        if self.meter.sockets() > limits.sockets:
            return f"opened more than {limits.sockets:,} sockets"
        if seconds > limits.wall:
            return f"ran for more than {limits.wall:g} seconds"
        return self.also()

    def stop(self) -> None:
        """Stop monitoring, and wait until the thread has ended."""
        self.over.set()
        if self is not threading.current_thread() and self.ident is not None:
            self.join()
