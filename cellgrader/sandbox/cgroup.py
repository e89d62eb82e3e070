"""Control groups (v1 and v2): limits that Linux enforces for a group of processes.

Root can create them on most machines, other users only where systemd has delegated a subtree. Where they
cannot be created, ``watch`` alone enforces the limits.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from pathlib import Path

from cellgrader.sandbox.limits import ROOM, Limits

ROOT = Path("/sys/fs/cgroup")
PREFIX = "cellgrader-"
_count = itertools.count()


def _own_groups() -> dict[str, str]:
    """The control groups of this process: controller -> path. The key of cgroup v2 is ""."""
    groups = {}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for name in controllers.split(","):
                groups[name] = path.lstrip("/")
    return groups


def _parents() -> dict[str, Path]:
    """Where a group can be created: controller -> parent folder."""
    own = _own_groups()
    found: dict[str, Path] = {}
    for name in ("memory", "pids"):
        v1 = ROOT / name / own.get(name, "")
        if name in own and (v1 / "cgroup.procs").exists() and os.access(v1, os.W_OK):
            found[name] = v1
    for root in (ROOT, ROOT / "unified"):
        # A v2 group with processes cannot have children with controllers, so create a sibling.
        parent = (root / own.get("", "")).parent if own.get("") else root
        if not os.access(parent, os.W_OK) or not os.access(parent / "cgroup.procs", os.W_OK):
            continue
        with suppress(OSError):
            for name in (parent / "cgroup.subtree_control").read_text().split():
                if name in ("memory", "pids"):
                    found.setdefault(name, parent)
    return found


class Group:
    """Control groups for one sandbox. Has no effect where none can be created.

    Attributes:
        folders: the groups' folders, which the sandbox's processes join.
        controls: the controllers in use: "memory", "pids".
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
        is_v2 = (folder / "cgroup.controllers").exists()
        if controller == "pids":
            (folder / "pids.max").write_text(str(limits.processes + ROOM))
            return
        # The sandbox's tmpfs folders count as memory.
        most = limits.memory + 2 * limits.scratch + limits.exchange
        names = ("memory.max",) if is_v2 else ("memory.limit_in_bytes",)
        for name in names:
            (folder / name).write_text(str(most))
        swap = folder / ("memory.swap.max" if is_v2 else "memory.memsw.limit_in_bytes")
        if swap.exists():
            with suppress(OSError):
                swap.write_text("0" if is_v2 else str(most))
        self._memory = folder / ("memory.events" if is_v2 else "memory.oom_control")

    def ran_out_of_memory(self) -> bool:
        """Whether Linux killed one of the group's processes for exceeding the memory limit."""
        with suppress(OSError, AttributeError):
            for line in self._memory.read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def close(self) -> None:
        """Remove the groups. Retries, because Linux may need a moment after their processes end."""
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
    """Remove groups left by killed graders. Linux refuses to remove a group that has processes."""
    for folder in parent.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(OSError):
                folder.rmdir()


def controllers() -> list[str]:
    """The controllers available here, found by creating and removing a group."""
    group = Group(Limits())
    group.close()
    return sorted(group.controls)
