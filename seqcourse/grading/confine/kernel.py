"""A kernel manager whose kernels are confined: nbclient runs whole notebooks in it.

with Warm() as warm:
    km = ConfinedKernelManager(limits=Limits(), warm=warm)
    NotebookClient(nb, km=km).execute()
    print(km.why_dead())
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from seqcourse.errors import CourseError
from seqcourse.grading.confine import exchange, sandbox
from seqcourse.grading.confine.available import refusal
from seqcourse.grading.confine.cgroup import Group
from seqcourse.grading.confine.client import ConfinedKernelClient
from seqcourse.grading.confine.limits import Limits, size_in_words
from seqcourse.grading.confine.warm import Warm
from seqcourse.grading.confine.watch import Meter, Watch

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
LONGEST_START = 60
LARGEST_REPORT = 1 << 16


class ConfinedKernelManager(AsyncKernelManager):
    """Starts one kernel in one sandbox and looks after it.

    Args:
        limits: what it may use.
        warm: the process that forks it; without one, a bare one is started for this kernel.
        more: folders that it can read besides those of ``sandbox.visible``.
    """

    exchange = sandbox.EXCHANGE

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        warm: Warm | None = None,
        more: Iterable[Path] = (),
        **options: Any,
    ):
        super().__init__(**options)
        self.limits = limits or Limits()
        self.more = tuple(more)
        self._own_warm = warm is None
        self.warm = warm or Warm(preload=())
        self.client_factory = ConfinedKernelClient
        self._kernel_spec = KernelSpec(argv=[], language="python", interrupt_mode="signal")
        self._clear()
        self._reason = ""  # why we ended it
        self._ended: int | None = None  # how it ended, by itself or not
        self._received = 0

    def _clear(self) -> None:
        self._report: socket.socket | None = None
        self._group: Group | None = None
        self._watch: Watch | None = None
        self._descriptors: dict[str, int] = {}
        self._clients: list[ConfinedKernelClient] = []
        self._interrupted: float | None = None
        self._closing = threading.Lock()

    # -- start -------------------------------------------------------------------------------------

    @property
    def has_kernel(self) -> bool:
        return self._report is not None

    async def start_kernel(self, **options: Any) -> None:
        """Start the kernel; returns when it listens. Where and how it runs is not for options to say.

        Raises:
            CourseError: no sandbox could be made, or the kernel did not come up in it.
        """
        if self.has_kernel:
            raise CourseError("This kernel manager should start one kernel, but has one already.")
        self._reason, self._ended, self._received = "", None, 0
        if self.context.closed:  # by an earlier kernel's end
            self.context = self._context_default()
        why_not = refusal()
        if why_not:
            raise CourseError(why_not)
        self._group = Group(self.limits)
        self.session.key = secrets.token_hex(32).encode()
        connection = {
            "transport": "ipc",
            "ip": f"{sandbox.SOCKETS}/kernel",
            "key": self.session.key.decode(),
            "signature_scheme": self.session.signature_scheme,
            **PORTS,
        }
        try:
            self._report = await asyncio.to_thread(
                self.warm.request, self.limits, connection, self._group.folders, self.more
            )
            self._report.setblocking(False)
            holder = (await self._told("holder"))["holder"]
            self._open(holder)
            kernel = (await self._told("pid"))["pid"]
            self._descriptors["kernel"] = os.pidfd_open(kernel)
            await self._told("listening")
        except BaseException:
            await self.cleanup_resources()
            raise
        # Through our own file descriptor: no name that somebody else could take in the meantime.
        self.transport, self.ip = "ipc", f"/proc/self/fd/{self._descriptors['sockets']}/kernel"
        for name, port in PORTS.items():
            setattr(self, name, port)
        self._watch = Watch(Meter(self._take_proc()), self.limits, self.end, self._overdue)
        self._watch.start()

    async def _told(self, what: str) -> dict:
        """The next message about the start, which should say this."""
        assert self._report is not None
        loop = asyncio.get_running_loop()
        try:
            said = await asyncio.wait_for(
                loop.sock_recv(self._report, LARGEST_REPORT), timeout=LONGEST_START
            )
        except (TimeoutError, OSError) as error:
            raise CourseError(
                f"A confined kernel did not start: {error or 'it took too long'}."
            ) from None
        message = json.loads(said) if said else {}
        if what not in message:
            why = message.get("failed") or f"it ended ({message.get('ended', 'without a word')})"
            raise CourseError(f"A confined kernel did not start: {why}.")
        return message

    def _open(self, holder: int) -> None:
        """Hold on to the sandbox's folders before any of the student's code runs."""
        self._descriptors["holder"] = os.pidfd_open(holder)
        for name, place in (
            ("exchange", sandbox.EXCHANGE),
            ("sockets", sandbox.SOCKETS),
            ("proc", "/proc"),
        ):
            path = f"/proc/{holder}/root{place}"
            self._descriptors[name] = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _take_proc(self) -> int:
        return self._descriptors.pop("proc")

    def client(self, **options: Any) -> ConfinedKernelClient:
        """A client for this kernel; it is closed with it."""
        client = super().client(**{"context": self.context, **options})
        self._clients.append(client)
        return client

    # -- life --------------------------------------------------------------------------------------

    def received(self, size: int) -> None:
        """The client got a message of this many bytes."""
        self._received += size
        if self._received > self.limits.output:
            self.end(f"sent more than {size_in_words(self.limits.output)} of output")

    def replied(self) -> None:
        """The client got a reply: what was interrupted has ended."""
        self._interrupted = None

    def _overdue(self) -> str:
        since = self._interrupted
        late = since is not None and time.monotonic() - since > self.limits.grace
        return "went on after it was interrupted" if late else ""

    async def lost(self) -> None:
        """The client noticed that a channel was closed: the kernel ended, or is not to be talked to.

        Its end is reported a moment after its channels were closed.
        """
        for _ in range(40):
            if not await self.is_alive():
                return
            await asyncio.sleep(0.05)
        self.end(f"hung up, or sent a message of more than {size_in_words(self.limits.message)}")

    def end(self, reason: str) -> None:
        """Kill the kernel and everything in its sandbox. Any thread may call it."""
        self._reason = self._reason or reason
        with self._closing:
            holder = self._descriptors.get("holder")
            if holder is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(holder, signal.SIGKILL)

    async def is_alive(self) -> bool:
        """Whether the kernel's own process runs."""
        self._listen()
        return self._report is not None and self._ended is None and not self._reason

    def _listen(self) -> None:
        """Hear whether it has ended."""
        while self._report is not None and self._ended is None:
            try:
                said = self._report.recv(LARGEST_REPORT)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                said = b""
            self._ended = json.loads(said).get("ended", -signal.SIGKILL) if said else -signal.SIGKILL

    def why_dead(self) -> str:
        """Why the kernel is dead, as the part of a sentence after "The notebook"; "" if it is not.

        "" also after an ordinary shutdown.
        """
        self._listen()
        if self._reason or self._ended is None:
            return self._reason
        if self._group is not None and self._group.ran_out_of_memory():
            return f"used more than {size_in_words(self.limits.memory)} of memory"
        if self._ended >= 0:
            return f"ended itself (exit code {self._ended})"
        if -self._ended in (signal.SIGXCPU,):
            return f"used more than {self.limits.cpu:g} seconds of processor time"
        return f"was ended by a signal ({signal.Signals(-self._ended).name})"

    async def interrupt_kernel(self) -> None:
        """Interrupt the running cell; if it goes on all the same, the kernel is killed."""
        await self.signal_kernel(signal.SIGINT)
        self._interrupted = self._interrupted or time.monotonic()

    async def signal_kernel(self, signum: int) -> None:
        """Send a signal to the kernel's own process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptors["kernel"], signum)

    # -- end ---------------------------------------------------------------------------------------

    async def shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:
        """End the kernel at once: it has nothing to save, and might not do as it is told."""
        await self.cleanup_resources(restart=restart)

    async def cleanup_resources(self, restart: bool = False) -> None:
        """End what still runs and give everything back. Nothing happens the second time."""
        reason = self.why_dead()
        if self._watch is not None:
            self._watch.stop()
        elif "proc" in self._descriptors:
            os.close(self._take_proc())
        for client in self._clients:
            client.stop_channels()
        if self._report is not None:
            self.end(reason)
            await self._gone()
            self._report.close()
        with self._closing:
            for descriptor in self._descriptors.values():
                os.close(descriptor)
            self._descriptors = {}
        if self._group is not None:
            self._group.close()
        if self._own_warm:
            self.warm.close()
        if self._created_context:
            self._created_context = False
            self.context.destroy(linger=0)
        self._clear()
        self._reason, self._ended = reason, None

    async def _gone(self) -> None:
        """Wait until the kernel is gone; the guard outside the sandbox tells."""
        loop = asyncio.get_running_loop()
        while self._ended is None:
            try:
                assert self._report is not None
                said = await asyncio.wait_for(loop.sock_recv(self._report, LARGEST_REPORT), timeout=5)
            except (TimeoutError, OSError):
                return
            if not said or "ended" in json.loads(said):
                return

    # -- exchange ----------------------------------------------------------------------------------

    def put(self, name: str, data: bytes) -> None:
        """Write a file into the sandbox's exchange folder, in place of one of that name."""
        exchange.put(self._folder(), name, data)

    def take(self, name: str, most: int) -> bytes | None:
        """The file of this name in the exchange folder, or None; see ``exchange.take``."""
        return exchange.take(self._folder(), name, most)

    def _folder(self) -> int:
        if "exchange" not in self._descriptors:
            raise CourseError("Files should be exchanged with a kernel that runs, but none does.")
        return self._descriptors["exchange"]


def kernel_manager(
    *,
    confined: bool = True,
    limits: Limits | None = None,
    warm: Warm | None = None,
    more: Iterable[Path] = (),
):
    """A confined kernel manager, or with ``confined=False`` one with the same interface that is not."""
    if confined:
        return ConfinedKernelManager(limits=limits, warm=warm, more=more)
    from seqcourse.grading.confine.plain import PlainKernelManager

    return PlainKernelManager(limits=limits)
