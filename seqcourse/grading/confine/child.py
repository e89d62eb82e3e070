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
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.sandbox import SOCKETS

CONNECTION_FILE = f"{SOCKETS}/kernel.json"
# Chosen first when the machine runs out of memory.
FIRST_TO_GO = "1000"
INLINE = "module://matplotlib_inline.backend_inline"


def tell(report: socket.socket, **what: object) -> None:
    """Send a message to whoever asked; nobody may be there any more."""
    with suppress(OSError):
        report.send(json.dumps(what).encode())


def become_kernel(holder: int, limits: Limits, asked: dict, report: socket.socket) -> NoReturn:
    """Go into the sandbox of this holder for good. Never returns, whatever happens."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for group in asked["groups"]:
            Path(group, "cgroup.procs").write_text("0")
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)
        held = os.pidfd_open(holder)
        enter.keep_only({report.fileno(), held})
        enter.enter_namespaces(holder)
        enter.drop_privileges()
        enter.die_with_parent()
        enter.settle(limits)
        write_connection_file(asked["connection"])
        pid = os.fork()
        if pid == 0:
            os.close(held)
            enter.die_with_parent()
            os.setsid()
            enter.be_readable()
            run_kernel(report)
            os._exit(0)
        tell(report, pid=pid)
        guard(pid, held, report)
    except BaseException as error:
        tell(report, failed=f"{type(error).__name__}: {error}")
    os._exit(1)


def guard(pid: int, held: int, report: socket.socket) -> None:
    """Wait for the kernel's end and report it; end the sandbox if nobody listens any more."""
    kernel = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(kernel, select.POLLIN)
    poll.register(report, select.POLLIN)
    while kernel not in dict(poll.poll()):
        # Nothing is ever sent to us: there is something to read only when the other end is closed.
        with suppress(OSError):
            signal.pidfd_send_signal(held, signal.SIGKILL)
        poll.unregister(report)
    status = os.waitpid(pid, 0)[1]
    tell(report, ended=os.waitstatus_to_exitcode(status))
    os._exit(0)


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
    """NumPy's generator is copied by a fork; Python's own and PyTorch's see to it themselves."""
    if "numpy" in sys.modules:
        import numpy

        numpy.random.seed()


def _show_figures(shell: object) -> None:
    """What the inline backend does when it is imported in a kernel; here it was before."""
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline.backend_inline import configure_inline_support

    activate_matplotlib(INLINE)
    configure_inline_support(shell, INLINE)
