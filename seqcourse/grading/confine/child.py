"""What a forked child does: it enters a sandbox, forks once more, and the second becomes a kernel.

A process cannot change its own process namespace, only that of its children, so there are two: the
*guard*, which runs none of the student's code, waits and reports how it ended; and the kernel.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from seqcourse.grading.confine import enter
from seqcourse.grading.confine.calls import refuse_calls
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.sandbox import SOCKETS

CONNECTION_FILE = f"{SOCKETS}/kernel.json"
# Chosen first when the machine runs out of memory.
FIRST_TO_GO = b"1000"
INLINE = "module://matplotlib_inline.backend_inline"


def tell(report: socket.socket, **what: object) -> None:
    """Send a message to whoever asked; nobody may be there any more."""
    with suppress(OSError):
        report.send(json.dumps(what).encode())


def become_kernel(
    holder: int, limits: Limits, asked: dict, report: socket.socket, parent: int
) -> NoReturn:
    """Go into the sandbox of this holder for good. Never returns, whatever happens.

    Args:
        holder: process id of the sandbox's first process.
        limits: what the kernel may use.
        asked: the request: control groups to join, where the kernel's sockets will be.
        report: where to say how it goes.
        parent: a file descriptor of the warm process.
    """
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for group in asked["groups"]:
            Path(group, "cgroup.procs").write_text("0")
        held = os.pidfd_open(holder)
        processes = os.open("/proc", os.O_PATH)
        enter.keep_only({report.fileno(), held, processes, parent})
        enter.enter_namespaces(holder)
        enter.drop_privileges()
        enter.settle(limits)
        write_connection_file(asked["connection"])
        pid = os.fork()
        if pid == 0:
            enter.die_with_parent()
            os.setsid()
            enter.be_readable()
            _go_first(processes)
            refuse_calls()
            enter.keep_only({report.fileno()})
            run_kernel(report)
            os._exit(0)
        os.close(processes)
        tell(report, pid=pid)
        guard(pid, {report.fileno(), parent}, held)
        tell(report, ended=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    except BaseException as error:
        tell(report, failed=f"{type(error).__name__}: {error}")
    os._exit(1)


def guard(pid: int, others: set[int], held: int) -> None:
    """Return when the kernel has ended; kill its sandbox when nobody needs it any more.

    Code in the sandbox could switch off that it dies with its parent; this process it cannot reach.

    Args:
        pid: of the kernel.
        others: become readable when the grader has let go, or the warm process is gone.
        held: the sandbox's first process, with which all others die.
    """
    kernel = os.pidfd_open(pid)
    poll = select.poll()
    for descriptor in (kernel, *others):
        poll.register(descriptor, select.POLLIN)
    while kernel not in dict(poll.poll()):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(held, signal.SIGKILL)
        for descriptor in others:
            with suppress(KeyError):
                poll.unregister(descriptor)


def _go_first(processes: int) -> None:
    """When the machine runs out of memory, this process is to be chosen, not the guard.

    Args:
        processes: the /proc of outside; inside nobody may write to it.
    """
    with suppress(OSError):
        file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=processes)
        os.write(file, FIRST_TO_GO)
        os.close(file)


def write_connection_file(connection: dict) -> None:
    """Where the kernel's sockets are and with which key messages are signed."""
    Path(CONNECTION_FILE).write_text(json.dumps(connection))


def run_kernel(report: socket.socket) -> None:
    """Be a Jupyter kernel until it is told to end."""
    from ipykernel.kernelapp import IPKernelApp

    _fresh_chance()
    app = IPKernelApp.instance()
    options = ["-f", CONNECTION_FILE, "--quiet", "--HistoryManager.enabled=False"]
    app.initialize(options)
    if "matplotlib_inline.backend_inline" in sys.modules:
        _show_figures(app.shell)
    tell(report, listening=True)
    report.close()
    app.start()


def _fresh_chance() -> None:
    """Seed what a fork copies, as a fresh process would. Python's own generator sees to it itself."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def _show_figures(shell: object) -> None:
    """What the inline backend does when it is imported in a kernel; here it was before."""
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline.backend_inline import configure_inline_support

    activate_matplotlib(INLINE)
    configure_inline_support(shell, INLINE)
