"""The arguments of bubblewrap: what a sandboxed kernel sees.

Only files and folders listed here exist inside. There is no network, not even a loopback interface, and
only the sandbox's own processes are visible.
"""

from __future__ import annotations

import shutil
import site
import sys
from collections.abc import Iterable
from pathlib import Path

import cellgrader
from cellgrader.profile import the_course
from cellgrader.sandbox.limits import Limits

# Folders inside the sandbox, each a tmpfs with a size limit.
SCRATCH = "/tmp"
EXCHANGE = "/exchange"
SOCKETS = "/run"
SHARED_MEMORY = "/dev/shm"
WRITABLE = (SCRATCH, EXCHANGE, SOCKETS, SHARED_MEMORY)
# The user id of student code inside; on the host this is the grading user without privileges.
USER = 1000

# System programs and libraries. /usr/local/etc and /usr/local/share are excluded: Jupyter settings there
# may contain a gradebook's address.
SYSTEM = (
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/local/lib",
)
# These are links on most systems, and folders on some.
LINKS = tuple(Path(name) for name in ("/bin", "/lib", "/lib32", "/lib64"))
# Settings for the dynamic linker, Debian's alternatives and fonts.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")
# The visible parts of Python's prefix; etc/ is excluded for the same reason as above.
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
    # Without a network, an installer would ask again and again before it gives up.
    "PIP_NO_INDEX": "1",
    "PIP_NO_INPUT": "1",
    "PIP_RETRIES": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "UV_OFFLINE": "1",
}
# The holder reports that it is ready, then waits until its stdin is closed.
HOLDER = ("/bin/sh", "-c", "echo ready; exec cat >/dev/null")
SOCKETS_SIZE = 1 << 20
LONGEST_START = 20


def environment() -> dict[str, str]:
    """The variables that a kernel gets."""
    return {**ENVIRONMENT, **the_course().environment}


def visible(more: Iterable[Path] = ()) -> list[Path]:
    """The files and folders that are readable inside, at the same paths as outside.

    Args:
        more: further folders, for example with data.
    """
    found = [Path(place) for place in (*SYSTEM, *SETTINGS)]
    found += [link for link in LINKS if not link.is_symlink()]
    for prefix in (sys.base_prefix, sys.prefix):
        # A virtual environment's Python links to its base installation, possibly through other links.
        found += [Path(prefix) / part for part in PARTS_OF_PYTHON]
        found += [Path(prefix).resolve() / part for part in PARTS_OF_PYTHON]
    found += [Path(cellgrader.__file__).resolve().parent, the_course().folder]
    found += _installed_elsewhere()
    found += [Path(place).resolve() for place in more]
    chosen: list[Path] = []
    for place in found:
        if place.exists() and not any(place.is_relative_to(other) for other in chosen):
            chosen.append(place)
    return chosen


def hidden() -> list[Path]:
    """Folders that appear empty inside, because they hold right answers.

    What a probe needs of an assignment is elsewhere.
    """
    return sorted(the_course().folder.glob(the_course().hidden))


def _installed_elsewhere() -> list[Path]:
    """Package folders outside Python's prefix: the user's and the Linux distribution's."""
    names = ("site-packages", "dist-packages")
    folders = [Path(entry) for entry in sys.path if Path(entry).name in names]
    return [*folders, Path(site.getusersitepackages())]


def command(
    limits: Limits, *, places: Iterable[tuple[str, Path]], info: int, accounts: dict[str, int]
) -> list[str]:
    """The bubblewrap command line that starts a holder in a sandbox.

    Args:
        places: pairs (path outside, path inside) of what is visible.
        info: the file descriptor to which bubblewrap writes the holder's process id.
        accounts: file name -> descriptor to read it from, for the files of ``ACCOUNTS``.
    """
    argv = [bubblewrap()]
    # Own namespaces. No nested user namespaces, because they would grant capabilities.
    argv += ["--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    argv += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    argv += ["--uid", str(USER), "--gid", str(USER)]
    # No access to the terminal, no inherited environment; die with the parent.
    argv += ["--new-session", "--die-with-parent", "--clearenv"]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    # Writable folders first: they would hide a course that is in /tmp if they were mounted after it.
    for place, size in (
        (SCRATCH, limits.scratch),
        (EXCHANGE, limits.exchange),
        (SOCKETS, SOCKETS_SIZE),
        (SHARED_MEMORY, limits.scratch),
    ):
        argv += ["--size", str(size), "--tmpfs", place]
    for source, place in places:
        argv += ["--ro-bind", source, str(place)]
    for link in LINKS:
        if link.is_symlink():
            argv += ["--symlink", str(link.readlink()), str(link)]
    for name, descriptor in accounts.items():
        argv += ["--ro-bind-data", str(descriptor), name]
    for folder in hidden():
        argv += ["--size", "4096", "--tmpfs", str(folder)]
    # /proc, too: root's user id could write system settings there.
    for place in (*map(str, hidden()), "/proc", "/dev", "/"):
        argv += ["--remount-ro", place]
    return [*argv, "--chdir", SCRATCH, "--info-fd", str(info), "--", *HOLDER]


def bubblewrap() -> str:
    """The path of the bubblewrap program."""
    return shutil.which("bwrap") or "bwrap"
