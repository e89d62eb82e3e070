"""Resource limits of one submission."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30
# Open files of one process; enough for a kernel and its sockets.
OPEN_FILES = 512
# Since Linux 5.14, RLIMIT_NPROC counts only processes in the sandbox's user namespace. Before that it
# counts all processes of the user, so a busy desktop could exceed it at once.
COUNTS_PER_NAMESPACE = (5, 14)
# Linux refuses new processes at limit + ROOM. This leaves the watch time to report the excess first.
ROOM = 16
# Seconds between SIGXCPU, which a process may catch, and SIGKILL.
CPU_GRACE = 2


@dataclass(frozen=True)
class Limits:
    """Limits of a submission; sizes in bytes, times in seconds.

    The defaults suffice for a notebook that trains a small model with one thread.

    Args:
        memory: memory of all processes together. A single process gets a MemoryError at this limit.
        cpu: processor time of all processes together.
        processes: number of simultaneous processes and threads.
        file_size: size of a single file.
        scratch: size of all files in the scratch folder.
        exchange: size of all files in the exchange folder.
        output: size of all messages sent: text, figures, widgets.
        message: size of a single message.
        files: number of files and folders; empty ones take memory, too.
        sockets: number of open sockets, whose buffers count towards no process.
        wall: wall-clock time from start to end.
        grace: time that an interrupted cell may keep running before its kernel is killed.
    """

    memory: int = 3 * GIB
    cpu: float = 300
    processes: int = 64
    file_size: int = 64 * MIB
    scratch: int = 256 * MIB
    exchange: int = 128 * MIB
    output: int = 64 * MIB
    message: int = 16 * MIB
    files: int = 20_000
    sockets: int = 512
    wall: float = 600
    grace: float = 5


def size_in_words(size: float) -> str:
    """3 GiB, 1.5 GiB, 256 MiB, 100 kB."""
    if size >= GIB:
        return f"{size / GIB:.3g} GiB"
    return f"{size / MIB:.3g} MiB" if size >= MIB else f"{size / 1000:.3g} kB"


def kernel_version() -> tuple[int, ...]:
    """The Linux version as (major, minor), for example (6, 1)."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def apply_limits(limits: Limits) -> None:
    """Set this process's resource limits, which its children inherit.

    They apply to each process separately; ``watch`` and ``cgroup`` limit the total.
    """
    import resource

    wanted = {
        # Writable private memory. RLIMIT_AS would also count gigabytes that libraries merely reserve.
        resource.RLIMIT_DATA: (limits.memory, limits.memory),
        resource.RLIMIT_CPU: (int(limits.cpu) + 1, int(limits.cpu) + 1 + CPU_GRACE),
        resource.RLIMIT_FSIZE: (limits.file_size, limits.file_size),
        resource.RLIMIT_NOFILE: (OPEN_FILES, OPEN_FILES),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
    }
    if kernel_version() >= COUNTS_PER_NAMESPACE:
        wanted[resource.RLIMIT_NPROC] = (limits.processes + ROOM, limits.processes + ROOM)
    for what, (soft, hard) in wanted.items():
        highest = resource.getrlimit(what)[1]
        if highest != resource.RLIM_INFINITY:
            soft, hard = min(soft, highest), min(hard, highest)
        resource.setrlimit(what, (soft, hard))
