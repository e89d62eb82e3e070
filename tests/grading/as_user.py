"""Run the confinement's tests as a user without any rights; started by root.

    python -m tests.grading.as_user FOLDER TEST_FILE ...

Exits with 77 where root may not do that. FOLDER belongs to the user. Python may lie where only root can
walk to (/root); in a mount namespace of our own, that folder then shows nothing but Python.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from pathlib import Path

import seqcourse  # noqa: F401  (makes the course known to the grader)
from cellgrader.sandbox import unprivileged

USER = 64321
CANNOT = 77


def everybody_can_enter(place: Path) -> bool:
    """Whether every folder above a place lets everybody through."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in place.resolve().parents)


def open_up(prefix: Path) -> None:
    """Cover the first folder that stands in the way, and show only the one with Python in it."""
    closed = next(p for p in reversed(prefix.parents) if not p.stat().st_mode & stat.S_IXOTH)
    held = os.open(prefix, os.O_PATH)
    unprivileged._mount("tmpfs", str(closed), "tmpfs", 0, "mode=755")
    prefix.mkdir(parents=True, exist_ok=True)
    unprivileged._mount(
        f"/proc/self/fd/{held}", str(prefix), None, unprivileged.MS_BIND | unprivileged.MS_REC
    )


def main(folder: str, *tests: str) -> None:
    """Become the user and run pytest on these files."""
    if not unprivileged.can_step_down():
        print("Root may not make a mount namespace here, or others cannot read Python.")
        sys.exit(CANNOT)
    os.umask(0o022)
    unprivileged._check(ctypes.CDLL(None).unshare(unprivileged.CLONE_NEWNS))
    unprivileged._mount(None, "/", None, unprivileged.MS_REC | unprivileged.MS_PRIVATE)
    prefix = Path(sys.base_prefix).resolve()
    if not everybody_can_enter(prefix):
        open_up(prefix)
    if not everybody_can_enter(Path(sys.prefix) / "bin") or not everybody_can_enter(Path(tests[0])):
        print("This checkout lies where only root can walk to.")
        sys.exit(CANNOT)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "TMPDIR": folder,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": os.environ.get("CI", ""),
    }
    options = ["-q", "-x", "-p", "no:cacheprovider", f"--basetemp={folder}/tests", "--no-cov"]
    os.execve(sys.executable, [sys.executable, "-m", "pytest", *options, *tests], environment)


if __name__ == "__main__":
    main(*sys.argv[1:])
