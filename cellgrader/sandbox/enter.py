"""How a process enters a sandbox permanently.

Called in a forked child that will run student code. Any failure raises and the caller ends the process,
so student code never runs in a partly confined process.
"""

from __future__ import annotations

import ctypes
import os
import signal

from cellgrader.sandbox.bubblewrap import SCRATCH, USER, environment
from cellgrader.sandbox.limits import Limits, apply_limits

NAMESPACES = ("ipc", "uts", "net", "cgroup", "pid", "mnt")  # mnt last, because it replaces /proc
NS_GET_USERNS = 0xB701
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION_3 = 0x20080522
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    """Call a C library function; raise OSError if it returns -1."""
    result = getattr(_libc, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def die_with_parent() -> None:
    """Make Linux kill this process when its parent ends."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter_namespaces(holder: int) -> None:
    """Enter the namespaces of a holder's sandbox. The PID namespace applies to children only.

    The namespaces belong to an outer user namespace, in which we have the right to enter them. Student
    code runs in bubblewrap's inner user namespace, which cannot create further ones.
    """
    import fcntl

    opened = {name: os.open(f"/proc/{holder}/ns/{name}", os.O_RDONLY) for name in ("user", *NAMESPACES)}
    owner = fcntl.ioctl(opened["mnt"], NS_GET_USERNS)
    if os.geteuid() == 0:
        os.setgroups([])
    _call("setns", owner, 0)
    for name in NAMESPACES:
        _call("setns", opened[name], 0)
    if os.fstat(owner).st_ino != os.fstat(opened["user"]).st_ino:
        _call("setns", opened["user"], 0)
    for descriptor in (owner, *opened.values()):
        os.close(descriptor)
    # The sandbox's only user. On the host this is the grading user, or ``unprivileged.NOBODY`` for root.
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def drop_privileges() -> None:
    """Drop all capabilities irrevocably."""
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    # Replace the grading user's session keyring; some systems have none.
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def be_readable() -> None:
    """Let the watch, which runs as the same user, read this process's memory usage.

    Changing privileges disabled this. The process's memory holds no secrets.
    """
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def keep_only(descriptors: set[int]) -> None:
    """Close all file descriptors except these, and redirect 0, 1 and 2 to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    kept = sorted({descriptor for descriptor in descriptors if descriptor > 2})
    low = 3
    for descriptor in kept:
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def settle(limits: Limits) -> None:
    """Apply the limits and set umask, environment, working directory and signal handlers."""
    apply_limits(limits)
    os.umask(0o077)
    os.environ.clear()
    os.environ.update(environment())
    os.chdir(SCRATCH)
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP) and signal.getsignal(number) is not None:
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue  # the C library reserves two signals
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that is too large is an OSError
