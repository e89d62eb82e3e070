"""When root grades, student code must not have root's user id on the host.

Even without capabilities, user id 0 has rights on Linux: RLIMIT_NPROC does not apply to it, and it owns
system files under /proc. So bubblewrap runs under an unused user id. That user may lack access to the
folders that must be visible (Python may be in /root). So root first bind-mounts them below a
world-readable folder, in a mount namespace that only bubblewrap sees.
"""

from __future__ import annotations

import ctypes
import functools
import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path

from cellgrader.profile import the_course

NOBODY = 65533  # 65534 is taken: it represents all users that are unmapped in a namespace
STAGE = "/tmp"
CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
CAP_SETUID, CAP_SYS_ADMIN = 7, 21


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def can_step_down() -> bool:
    """Whether we are root with the needed capabilities, and Python and the package are readable."""
    if os.geteuid() != 0:
        return False
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    if not all(effective >> capability & 1 for capability in (CAP_SETUID, CAP_SYS_ADMIN)):
        return False
    packages = (the_course().folder, Path(__file__).parents[1])
    samples = [Path(sys.executable), Path(ctypes.__file__), *(each / "__init__.py" for each in packages)]
    folders = [sample.resolve().parent for sample in samples]
    return all(all_can_read(place) for place in (*samples, *folders))


def all_can_read(place: Path) -> bool:
    """Whether a file or folder is world-readable."""
    return bool(place.stat().st_mode & stat.S_IROTH)


def staged(index: int) -> str:
    """The path at which bubblewrap finds the place with this index."""
    return f"{STAGE}/{index}"


def step_down(places: list[Path]) -> None:
    """Mount these places for bubblewrap and switch to user NOBODY. Called between fork and exec."""
    _check(_libc().unshare(CLONE_NEWNS))
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    # Open the places first: some may be below STAGE, which the tmpfs hides.
    opened = [os.open(place, os.O_PATH) for place in places]
    _mount("tmpfs", STAGE, "tmpfs", 0, "mode=755")
    for index, descriptor in enumerate(opened):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.mkdir(staged(index), 0o755)
        else:
            os.close(os.open(staged(index), os.O_CREAT | os.O_WRONLY, 0o644))
        _mount(f"/proc/self/fd/{descriptor}", staged(index), None, MS_BIND | MS_REC)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    coded = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _check(_libc().mount(coded[0], coded[1], coded[2], ctypes.c_ulong(flags), coded[3]))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def files_belong_to(user: int, group: int):
    """Inside the block, files created by this thread belong to this user and group."""
    changes = os.geteuid() == 0 and user != 0
    if changes:
        _libc().setfsgid(group)
        _libc().setfsuid(user)
    try:
        yield
    finally:
        if changes:
            _libc().setfsuid(0)
            _libc().setfsgid(os.getegid())
