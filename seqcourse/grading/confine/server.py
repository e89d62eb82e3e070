"""The warm process: imports, then forks a kernel for every request. ``warm`` starts it.

    python -m seqcourse.grading.confine.server      (its standard input is a socket)

It has one thread, or a fork would copy locks that nobody opens again.
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

from seqcourse.errors import CourseError
from seqcourse.grading.confine import calls, child
from seqcourse.grading.confine.holder import Holder
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.warm import LARGEST_REQUEST

# What a kernel imports, and what it would import only when it starts or runs its first cell.
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
    """Import these and have PyTorch do once what it prepares at the first use."""
    if matplotlib_folder is not None:
        inside, os.environ["MPLCONFIGDIR"] = os.environ["MPLCONFIGDIR"], matplotlib_folder
    for name in KERNEL_MODULES:
        with suppress(ImportError):  # another version of Jupyter may have moved it
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
    # The collector would write to every object it looks at, and so copy its page in every child.
    gc.collect()
    gc.freeze()


def _warm_torch() -> None:
    """One step of an optimiser: the first one imports more than a second's worth of modules."""
    torch = sys.modules["torch"]
    torch.set_num_threads(1)  # the threads of a second one would not live through the fork
    layer = torch.nn.Linear(2, 2)
    optimiser = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    optimiser.step()


def threads() -> int:
    """How many threads this process has."""
    return len(os.listdir("/proc/self/task"))


class Server:
    """Serves requests from the socket until its other end is closed, or the grader is gone.

    Both are looked for: a process that the grader forked may keep its end of the socket open.
    """

    def __init__(self, requests: socket.socket, grader: int):
        self.requests = requests
        self.grader = os.pidfd_open(grader)
        self.me = os.pidfd_open(os.getpid())
        self.holders: dict[int, Holder] = {}  # by the process id of bubblewrap

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
            while True:
                for key, _ in selector.select():
                    if key.fileobj == self.grader:
                        return
                    if key.fileobj is wake:
                        wake.recv(4096)
                        self.reap()
                    elif not self.answer():
                        return

    def reap(self) -> None:
        """Take note of children that ended, so that nothing is left of them."""
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

    def answer(self) -> bool:
        """Serve one request; False if there will be no more."""
        try:
            asked, descriptors, _, _ = socket.recv_fds(self.requests, LARGEST_REQUEST, 1)
        except ConnectionResetError:
            return False
        if not asked:
            return False
        with socket.socket(fileno=descriptors[0]) as report:
            try:
                self.start(json.loads(asked), report)
            except (CourseError, OSError) as error:
                child.tell(report, failed=str(error))
        return True

    def start(self, asked: dict, report: socket.socket) -> None:
        """Make a sandbox and fork a kernel into it."""
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
            if os.fork() == 0:
                child.become_kernel(holder.pid, limits, asked, report, self.me)  # never returns
        except BaseException:
            self.holders.pop(holder.process.pid, None)
            holder.close()
            raise


def main() -> None:
    """Import what the first message names, say so, and serve."""
    requests = socket.socket(fileno=os.dup(0))
    told = json.loads(requests.recv(LARGEST_REQUEST))
    preload(told["preload"], told["matplotlib"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        server = Server(requests, told["grader"])
        requests.send(b"ready")
    except OSError:
        return  # the grader is gone
    os.dup2(nowhere, 2)  # what is said from now on, nobody reads
    os.close(nowhere)
    server.serve()


if __name__ == "__main__":
    sys.exit(main())
