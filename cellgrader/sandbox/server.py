"""The warm process: imports modules, then forks a kernel for every request. ``warm`` starts it.

    python -m cellgrader.sandbox.server      (its standard input is a socket)

It must have one thread: a fork would copy the locks of other threads, and nobody would release them.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.sandbox import calls, child
from cellgrader.sandbox.holder import Holder
from cellgrader.sandbox.limits import Limits
from cellgrader.sandbox.warm import LARGEST_REQUEST

# Modules that a kernel imports, also those imported only when it starts or runs its first cell.
KERNEL_MODULES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "faulthandler",
    "tornado.platform.asyncio",
    "tornado.queues",
)


def preload(modules: list[str], matplotlib_folder: str | None) -> None:
    """Import the modules, and trigger PyTorch's lazy initialisation."""
    if matplotlib_folder is not None:
        inside, os.environ["MPLCONFIGDIR"] = os.environ["MPLCONFIGDIR"], matplotlib_folder
    for name in KERNEL_MODULES:
        with suppress(ImportError):  # other Jupyter versions may lack this module
            importlib.import_module(name)
    for name in modules:
        importlib.import_module(name)
    if "matplotlib" in sys.modules:
        importlib.import_module("matplotlib_inline.backend_inline")
    if matplotlib_folder is not None:
        os.environ["MPLCONFIGDIR"] = inside
    if "torch" in modules:
        _warm_torch()
    calls.library()
    # Exclude all objects from garbage collection: it writes to objects, which would copy shared pages.
    gc.collect()
    gc.freeze()


def _warm_torch() -> None:
    """Take one optimiser step: the first one imports modules for more than a second."""
    torch = sys.modules["torch"]
    torch.set_num_threads(1)  # further threads would not survive the fork
    layer = torch.nn.Linear(2, 2)
    optimiser = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    optimiser.step()


def threads() -> int:
    """The number of threads of this process."""
    return len(os.listdir("/proc/self/task"))


class Server:
    """Serves requests from the socket until its other end is closed or the grader has ended.

    Checks both, because a process forked by the grader may keep its end of the socket open. Behind the
    door, other clients of the same grader come and go.
    """

    def __init__(self, requests: socket.socket, grader: int, door: socket.socket | None = None):
        self.requests = requests
        self.door = door
        self.grader = os.pidfd_open(grader)
        self.me = os.pidfd_open(os.getpid())
        self.holders: dict[int, Holder] = {}  # by the process id of bubblewrap
        self.reports: dict[int, socket.socket] = {}  # by the process id of a guard

    def serve(self) -> None:
        wake, woken = socket.socketpair()
        for end in (wake, woken):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self.requests, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            selector.register(self.grader, selectors.EVENT_READ)
            if self.door is not None:
                selector.register(self.door, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj == self.grader:
                        return
                    if key.fileobj is wake:
                        wake.recv(4096)
                        self.reap()
                    elif key.fileobj is self.door:
                        client, _ = self.door.accept()
                        with suppress(OSError):  # it is gone already; answer() will see that
                            client.send(b"ready")
                        selector.register(client, selectors.EVENT_READ)
                    elif not self.answer(key.fileobj):
                        if key.fileobj is self.requests:
                            return
                        selector.unregister(key.fileobj)
                        key.fileobj.close()

    def reap(self) -> None:
        """Reap ended child processes, close their holders, and report guards that were killed."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            holder = self.holders.pop(pid, None)
            if holder is not None:
                holder.process.returncode = os.waitstatus_to_exitcode(status)
                holder.close()
            report = self.reports.pop(pid, None)
            if report is not None:
                child.tell(report, ended=os.waitstatus_to_exitcode(status))
                report.close()

    def answer(self, client: socket.socket) -> bool:
        """Serve one request; return False if no more can arrive."""
        try:
            asked, descriptors, _, _ = socket.recv_fds(client, LARGEST_REQUEST, 1)
        except ConnectionResetError:
            return False
        if not asked:
            return False
        report = socket.socket(fileno=descriptors[0])
        try:
            self.reports[self.start(json.loads(asked), report)] = report
        except Exception as error:  # one kernel that does not start ends no other
            with report:
                child.tell(report, failed=str(error) or type(error).__name__)
        return True

    def start(self, asked: dict, report: socket.socket) -> int:
        """Create a sandbox and fork a kernel into it; return the process id of its guard."""
        limits = Limits(**asked["limits"])
        holder = Holder(limits, [Path(folder) for folder in asked["more"]])
        self.holders[holder.process.pid] = holder
        try:
            for group in asked["groups"]:
                Path(group, "cgroup.procs").write_text(str(holder.pid))
            child.tell(report, holder=holder.pid)
            if threads() != 1:
                raise CourseError(
                    f"The process that is forked should have one thread, but has {threads()}: a module "
                    f"that it imported starts some. Leave that module out of preload."
                )
            pid = os.fork()
            if pid == 0:
                child.become_kernel(holder.pid, limits, asked, report, self.me)  # never returns
            return pid
        except BaseException:
            self.holders.pop(holder.process.pid, None)
            holder.close()
            raise


def main() -> None:
    """Import the modules named in the first message, report "ready", and serve requests."""
    requests = socket.socket(fileno=os.dup(0))
    settings = json.loads(requests.recv(LARGEST_REQUEST))
    # Who comes before everything is imported waits at the door.
    door = socket.socket(fileno=settings["door"]) if settings["door"] else None
    preload([settings["course"], *settings["preload"]], settings["matplotlib"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        server = Server(requests, settings["grader"], door)
        requests.send(b"ready")
    except OSError:
        return  # the grader is gone
    os.dup2(nowhere, 2)  # nobody reads stderr from now on
    os.close(nowhere)
    server.serve()


if __name__ == "__main__":
    sys.exit(main())
