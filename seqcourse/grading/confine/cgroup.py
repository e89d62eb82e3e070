"""Control groups: limits that the Linux kernel keeps for a group of processes, where we may set them.

Root may, on most machines; an ordinary user may where systemd has delegated a part of the tree.
Where it cannot be done the watch has to do. Both generations of control groups are known.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from pathlib import Path

from seqcourse.grading.confine.limits import ROOM, Limits

ROOT = Path("/sys/fs/cgroup")
PREFIX = "seqcourse-"
_count = itertools.count()


def _own() -> dict[str, str]:
    """The groups of this process: controller -> path; the second generation is ""."""
    groups = {}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for name in controllers.split(","):
                groups[name] = path.lstrip("/")
    return groups


def _parents() -> dict[str, Path]:
    """Where a group with these controllers can be made: controller -> folder."""
    own = _own()
    found: dict[str, Path] = {}
    for name in ("memory", "pids"):
        first = ROOT / name / own.get(name, "")
        if name in own and (first / "cgroup.procs").exists() and os.access(first, os.W_OK):
            found[name] = first
    for root in (ROOT, ROOT / "unified"):
        # A group that holds processes passes no controllers on, so ours lies beside, not below.
        beside = (root / own.get("", "")).parent if own.get("") else root
        if not os.access(beside, os.W_OK) or not os.access(beside / "cgroup.procs", os.W_OK):
            continue
        with suppress(OSError):
            for name in (beside / "cgroup.subtree_control").read_text().split():
                if name in ("memory", "pids"):
                    found.setdefault(name, beside)
    return found


class Group:
    """Control groups for one sandbox; without effect where none can be made.

    Attributes:
        folders: which its processes join.
        controls: what they limit: "memory", "pids".
    """

    def __init__(self, limits: Limits):
        self.folders: list[Path] = []
        self.controls: list[str] = []
        name = f"{PREFIX}{os.getpid()}-{next(_count)}"
        self._memory: Path | None = None
        for controller, parent in _parents().items():
            _sweep(parent)
            folder = parent / name
            try:
                folder.mkdir(exist_ok=True)
                self._limit(controller, folder, limits)
            except OSError:
                with suppress(OSError):
                    folder.rmdir()
                continue
            if folder not in self.folders:
                self.folders.append(folder)
            self.controls.append(controller)

    def _limit(self, controller: str, folder: Path, limits: Limits) -> None:
        second = (folder / "cgroup.controllers").exists()
        if controller == "pids":
            (folder / "pids.max").write_text(str(limits.processes + ROOM))
            return
        # What lies in the folders of the sandbox is memory, too.
        most = limits.memory + 2 * limits.scratch + limits.exchange
        names = ("memory.max",) if second else ("memory.limit_in_bytes",)
        for name in names:
            (folder / name).write_text(str(most))
        swap = folder / ("memory.swap.max" if second else "memory.memsw.limit_in_bytes")
        if swap.exists():
            with suppress(OSError):
                swap.write_text("0" if second else str(most))
        self._memory = folder / ("memory.events" if second else "memory.oom_control")

    def ran_out_of_memory(self) -> bool:
        """Whether the Linux kernel killed one of its processes for memory."""
        with suppress(OSError, AttributeError):
            for line in self._memory.read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def close(self) -> None:
        """Remove the groups; their processes have ended, though the system may not be done."""
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
        self.folders = []


def _sweep(parent: Path) -> None:
    """Remove groups of graders that were killed; one with processes cannot be removed."""
    for folder in parent.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(OSError):
                folder.rmdir()


def controllers() -> list[str]:
    """Which limits control groups can keep here: a real group is made and removed."""
    group = Group(Limits())
    group.close()
    return sorted(group.controls)
