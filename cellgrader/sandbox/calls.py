"""Refuse system calls that a notebook does not need, if libseccomp is installed.

This is a second line of defence. It covers what namespaces and limits leave open: memory that belongs to
no process, sockets outside the network namespace, and parts of Linux with a record of vulnerabilities.
"""

from __future__ import annotations

import ctypes
import errno
import functools

LIBRARY = "libseccomp.so.2"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
EQUAL, GREATER = 4, 6
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. The last three are confined to the sandbox's empty network
# namespace. Other domains, such as AF_VSOCK, reach outside.
SOCKET_DOMAINS = {1, 2, 10, 16}

REFUSED = (
    # Memory that does not count towards a process's size.
    "memfd_create memfd_secret shmget shmat shmctl msgget msgsnd semget mq_open",
    # Access to other processes: the holder runs as the same user.
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd",
    # Namespaces and mounts.
    "unshare setns mount umount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount fspick "
    "mount_setattr chroot",
    # The system itself.
    "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key "
    "request_key syslog acct swapon swapoff reboot kexec_load kexec_file_load init_module "
    "finit_module delete_module quotactl quotactl_fd name_to_handle_at open_by_handle_at lookup_dcookie "
    "nfsservctl vhangup modify_ldt settimeofday clock_settime clock_adjtime adjtimex fanotify_init",
)


class _Comparison(ctypes.Structure):
    _fields_ = [
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    ]


@functools.cache
def library() -> ctypes.CDLL | None:
    """libseccomp, or None. Call this before the fork: the sandbox may not contain the library."""
    try:
        found = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    found.seccomp_init.argtypes, found.seccomp_init.restype = [ctypes.c_uint32], ctypes.c_void_p
    found.seccomp_load.argtypes = found.seccomp_release.argtypes = [ctypes.c_void_p]
    found.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    found.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Comparison),
    ]
    return found


def refuse_calls() -> bool:
    """Install the filter for this process and its children. Returns False without libseccomp.

    Raises:
        OSError: the filter could not be installed.
    """
    found = library()
    if found is None:
        return False
    rules = found.seccomp_init(ALLOW)
    if not rules:
        raise OSError(errno.ENOMEM, "seccomp_init")
    for name in " ".join(REFUSED).split():
        _refuse(found, rules, name)
    _refuse(found, rules, "socket", _Comparison(0, GREATER, max(SOCKET_DOMAINS), 0))
    for domain in set(range(max(SOCKET_DOMAINS))) - SOCKET_DOMAINS:
        _refuse(found, rules, "socket", _Comparison(0, EQUAL, domain, 0))
    failed = found.seccomp_load(rules)
    found.seccomp_release(rules)
    if failed:
        raise OSError(-failed, "seccomp_load")
    return True


def _refuse(found: ctypes.CDLL, rules: int, name: str, *only: _Comparison) -> None:
    number = found.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        return  # the processor does not have this call, or the library does not know it
    failed = found.seccomp_rule_add_array(
        rules, REFUSE, number, len(only), (_Comparison * len(only))(*only)
    )
    if failed:
        raise OSError(-failed, f"seccomp_rule_add for {name}")
