"""What a kernel sees: the arguments of bubblewrap, in one readable place.

Everything is listed that is there; what is not listed does not exist inside. There is no network,
the loopback interface neither, and no process but the sandbox's own.
"""

from __future__ import annotations

import shutil
import site
import sys
from collections.abc import Iterable
from pathlib import Path

import seqcourse
from seqcourse.grading.confine.limits import Limits

# Folders inside. The first two are the only ones that can be written, with SHARED_MEMORY.
SCRATCH = "/tmp"
EXCHANGE = "/exchange"
SOCKETS = "/run"
SHARED_MEMORY = "/dev/shm"
# Who the student's code is inside; outside it is whoever grades, without any privilege.
USER = 1000

# Programs and libraries of the system. Not /usr/local/etc or /usr/local/share, where Jupyter looks
# for settings, which can hold the address of a gradebook.
SYSTEM = (
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/local/lib",
)
# At the root of the file system these are links on most systems, and folders on some.
LINKS = tuple(Path(name) for name in ("/bin", "/lib", "/lib32", "/lib64"))
# Where libraries are, which of several versions is used, and which fonts there are.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")
# Of Python's folders; not etc/, for the same reason as above.
PARTS_OF_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg")
ACCOUNTS = {
    "/etc/passwd": f"student:x:{USER}:{USER}:student:{SCRATCH}:/bin/sh\n",
    "/etc/group": f"student:x:{USER}:\n",
}
ENVIRONMENT = {
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "USER": "student",
    "LOGNAME": "student",
    "LANG": "C.UTF-8",
    "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": f"{SCRATCH}/.config/matplotlib",
    "IPYTHONDIR": f"{SCRATCH}/.ipython",
    "SEQCOURSE_DEVICE": "cpu",
}
# The holder says that all is in place, then waits until the other end of its input is closed.
HOLDER = ("/bin/sh", "-c", "echo ready; exec cat >/dev/null")
SOCKETS_SIZE = 1 << 20
LONGEST_START = 20


def visible(more: Iterable[Path] = ()) -> list[Path]:
    """The files and folders that can be read inside, at the same place as outside.

    Args:
        more: further ones, say a folder with data.
    """
    found = [Path(place) for place in (*SYSTEM, *SETTINGS)]
    found += [link for link in LINKS if not link.is_symlink()]
    for prefix in (sys.base_prefix, sys.prefix):
        # A virtual environment's Python is a link into its base, perhaps by way of other links.
        found += [Path(prefix) / part for part in PARTS_OF_PYTHON]
        found += [Path(prefix).resolve() / part for part in PARTS_OF_PYTHON]
    found.append(Path(seqcourse.__file__).resolve().parent)
    found += _installed_elsewhere()
    found += [Path(place).resolve() for place in more]
    chosen: list[Path] = []
    for place in found:
        if place.exists() and not any(place.is_relative_to(other) for other in chosen):
            chosen.append(place)
    return chosen


def hidden() -> list[Path]:
    """Folders that are empty inside: the exercises with the right answers in them.

    What a probe needs of an assignment is in ``seqcourse.check.inside``.
    """
    return sorted(Path(seqcourse.__file__).resolve().parent.glob("check/ps[0-9]*/"))


def _installed_elsewhere() -> list[Path]:
    """Folders of installed packages outside Python's own: those of the user, of a Linux distribution."""
    names = ("site-packages", "dist-packages")
    folders = [Path(entry) for entry in sys.path if Path(entry).name in names]
    return [*folders, Path(site.getusersitepackages())]


def command(
    limits: Limits,
    *,
    places: Iterable[tuple[str, Path]],
    info: int,
    accounts: dict[str, int],
) -> list[str]:
    """The command line that makes a sandbox around a holder.

    Args:
        places: what is visible: where it is now, and where it will be inside.
        info: the file descriptor to which bubblewrap writes the holder's process id.
        accounts: file descriptors from which the files of ``ACCOUNTS`` are read.
    """
    told = [bubblewrap()]
    # Namespaces: its own users, messages, processes, network, host name and control groups; no
    # further user namespaces, in which it would be somebody with privileges.
    told += ["--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    told += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    told += ["--uid", str(USER), "--gid", str(USER)]
    # No way to the terminal, no life after its parent, nothing from the environment.
    told += ["--new-session", "--die-with-parent", "--clearenv"]
    told += ["--proc", "/proc", "--dev", "/dev"]
    # First the folders that can be written: a course may lie in /tmp, and is seen through them.
    for place, size in (
        (SCRATCH, limits.scratch),
        (EXCHANGE, limits.exchange),
        (SOCKETS, SOCKETS_SIZE),
        (SHARED_MEMORY, limits.scratch),
    ):
        told += ["--size", str(size), "--tmpfs", place]
    # After the folders that can be written: a course can lie in one of that name, say in /tmp.
    for source, place in places:
        told += ["--ro-bind", source, str(place)]
    for link in LINKS:
        if link.is_symlink():
            told += ["--symlink", str(link.readlink()), str(link)]
    for name, descriptor in accounts.items():
        told += ["--ro-bind-data", str(descriptor), name]
    for folder in hidden():
        told += ["--size", "4096", "--tmpfs", str(folder)]
    # /proc, too: settings of the whole system are files there, which root's user id may write.
    for place in (*map(str, hidden()), "/proc", "/dev", "/"):
        told += ["--remount-ro", place]
    return [*told, "--chdir", SCRATCH, "--info-fd", str(info), "--", *HOLDER]


def bubblewrap() -> str:
    """The program."""
    return shutil.which("bwrap") or "bwrap"
