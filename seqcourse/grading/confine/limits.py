"""How much of the machine one submission may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30
# Open files of one process: enough for a kernel and its sockets.
OPEN_FILES = 512
# Since Linux 5.14 the limit on processes counts those of the sandbox's own user namespace only.
# Before, it counts all that the user has, so that a busy desktop would stop the first kernel.
COUNTS_PER_NAMESPACE = (5, 14)
# The system refuses more processes than this above the limit: by then the watch has seen too many.
ROOM = 16
# After SIGXCPU, which a process may catch, it is killed this many seconds later.
CPU_GRACE = 2


@dataclass(frozen=True)
class Limits:
    """What a submission may use; sizes in bytes, times in seconds.

    The defaults leave room for a notebook that trains a small model with one thread.

    Args:
        memory: of all its processes together; one process alone gets a MemoryError there.
        cpu: processor time of all its processes together.
        processes: how many it may have at once, threads included.
        file_size: of any one file that it writes.
        scratch: of all files in its scratch folder together.
        exchange: of all files in the folder through which the grader talks to it.
        output: of all messages that it sends: what it prints, figures, widgets.
        message: of a single message.
        wall: time on the clock from its start to its end, whatever it does.
        grace: how long it may go on after it was interrupted, before it is killed.
    """

    memory: int = 3 * GIB
    cpu: float = 300
    processes: int = 64
    file_size: int = 64 * MIB
    scratch: int = 256 * MIB
    exchange: int = 128 * MIB
    output: int = 64 * MIB
    message: int = 16 * MIB
    wall: float = 600
    grace: float = 5


def size_in_words(size: float) -> str:
    """3 GiB, 1.5 GiB, 256 MiB, 100 kB."""
    if size >= GIB:
        return f"{size / GIB:.3g} GiB"
    return f"{size / MIB:.3g} MiB" if size >= MIB else f"{size / 1000:.3g} kB"


def kernel_version() -> tuple[int, ...]:
    """The version of this Linux, as far as it is numbers: (6, 1)."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def apply_limits(limits: Limits) -> None:
    """Set the limits that a process can set for itself and that its children inherit.

    They hold for each process alone; ``watch`` and ``cgroup`` add up.
    """
    import resource

    wanted = {
        # Private memory that can be written: unlike the address space it leaves out the gigabytes
        # that libraries only reserve.
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
