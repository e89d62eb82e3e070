"""What a forked child does: it enters a sandbox and forks again; the second process becomes the kernel.

A process can change the PID namespace only of its children, so two processes are needed: the *guard*,
which runs no student code, waits and reports how the kernel ended; and the kernel.
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

from cellgrader.sandbox import enter
from cellgrader.sandbox.bubblewrap import SOCKETS
from cellgrader.sandbox.calls import refuse_calls
from cellgrader.sandbox.limits import Limits

CONNECTION_FILE = f"{SOCKETS}/kernel.json"
# Makes Linux kill this process first when memory runs out.
FIRST_TO_GO = b"1000"
INLINE = "module://matplotlib_inline.backend_inline"


def tell(report: socket.socket, **what: object) -> None:
    """Send a message to the grader; ignored if it is gone."""
    with suppress(OSError):
        report.send(json.dumps(what).encode())


def become_kernel(
    holder: int, limits: Limits, asked: dict, report: socket.socket, parent: int
) -> NoReturn:
    """Enter the holder's sandbox permanently and become a kernel. Never returns.

    Args:
        holder: process id of the sandbox's first process.
        limits: the kernel's limits.
        asked: the request, with "groups" (control groups to join) and "connection" (the sockets).
        report: socket for progress messages.
        parent: pidfd of the warm process.
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
    """Return when the kernel has ended; kill its sandbox if the grader or the warm process ends first.

    Student code could disable the kernel's parent-death signal, but it cannot reach this process.

    Args:
        pid: process id of the kernel.
        others: descriptors that become readable when the grader or the warm process is gone.
        held: pidfd of the sandbox's first process, with which all others die.
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
    """Let the OOM killer choose this process rather than the guard.

    Args:
        processes: descriptor of the host's /proc, because the sandbox's is read-only.
    """
    with suppress(OSError):
        file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=processes)
        os.write(file, FIRST_TO_GO)
        os.close(file)


def write_connection_file(connection: dict) -> None:
    """Write Jupyter's connection file: the kernel's sockets and the key that signs messages."""
    Path(CONNECTION_FILE).write_text(json.dumps(connection))


def run_kernel(report: socket.socket) -> None:
    """Run a Jupyter kernel until it is shut down."""
    from ipykernel.kernelapp import IPKernelApp

    _reseed()
    app = IPKernelApp.instance()
    options = ["-f", CONNECTION_FILE, "--quiet", "--HistoryManager.enabled=False"]
    app.initialize(options)
    if "matplotlib_inline.backend_inline" in sys.modules:
        _show_figures(app.shell)
    tell(report, listening=True)
    report.close()
    app.start()


def _reseed() -> None:
    """Reseed NumPy and PyTorch, whose state a fork copies. Python reseeds ``random`` itself."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def _show_figures(shell: object) -> None:
    """Configure the inline backend. Its import would do this if the kernel were already running."""
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline.backend_inline import configure_inline_support

    activate_matplotlib(INLINE)
    configure_inline_support(shell, INLINE)
