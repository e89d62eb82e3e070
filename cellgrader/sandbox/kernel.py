"""A Jupyter kernel manager whose kernels run in a sandbox, for use with nbclient.

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

from cellgrader.errors import CourseError
from cellgrader.sandbox import bubblewrap, handover
from cellgrader.sandbox.available import refusal
from cellgrader.sandbox.cgroup import Group
from cellgrader.sandbox.client import ConfinedKernelClient
from cellgrader.sandbox.limits import Limits, size_in_words
from cellgrader.sandbox.usage import LimitWatch, Meter
from cellgrader.sandbox.warm import Warm

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
LONGEST_START = 60
LARGEST_REPORT = 1 << 16


class ConfinedKernelManager(AsyncKernelManager):
    """Starts one kernel in one sandbox and monitors it.

    Args:
        limits: the kernel's limits.
        warm: the process that forks the kernel; None starts one without preloaded modules.
        more: further folders to make readable, see ``sandbox.visible``.
    """

    exchange = bubblewrap.EXCHANGE

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
        self._reset()
        self._reason = ""  # why we killed the kernel
        self._ended: int | None = None  # exit code, or minus the signal
        self._received = 0

    def _reset(self) -> None:
        self._report: socket.socket | None = None
        self._said: dict[str, Any] = {}  # by the messages that came while it started
        self._group: Group | None = None
        self._watch: LimitWatch | None = None
        self._descriptors: dict[str, int] = {}
        self._clients: list[ConfinedKernelClient] = []
        self._interrupted: float | None = None
        self._closing = threading.Lock()

    # -- start -------------------------------------------------------------------------------------

    @property
    def has_kernel(self) -> bool:
        return self._report is not None

    async def start_kernel(self, **options: Any) -> None:
        """Start the kernel and wait until it listens. ``options`` are ignored.

        Raises:
            CourseError: no sandbox could be created, or the kernel did not start in it.
        """
        if self.has_kernel:
            raise CourseError("This kernel manager should start one kernel, but has one already.")
        self._reason, self._ended, self._received = "", None, 0
        if self.context.closed:  # an earlier kernel's cleanup closed it
            self.context = self._context_default()
        why_not = refusal()
        if why_not:
            raise CourseError(why_not)
        self._group = Group(self.limits)
        self.session.key = secrets.token_hex(32).encode()
        connection = {
            "transport": "ipc",
            "ip": f"{bubblewrap.SOCKETS}/kernel",
            "key": self.session.key.decode(),
            "signature_scheme": self.session.signature_scheme,
            **PORTS,
        }
        try:
            self._report = await asyncio.to_thread(
                self.warm.request, self.limits, connection, self._group.folders, self.more
            )
            self._report.setblocking(False)
            self._open(await self._expect("holder"))
            self._descriptors["kernel"] = os.pidfd_open(await self._expect("pid"))
            await self._expect("listening")
        except BaseException:
            await self.cleanup_resources()
            raise
        # Address the sockets through our own descriptor, so that nobody can replace the path.
        self.transport, self.ip = "ipc", f"/proc/self/fd/{self._descriptors['sockets']}/kernel"
        for name, port in PORTS.items():
            setattr(self, name, port)
        self._watch = LimitWatch(Meter(self._take_proc()), self.limits, self.end, self._overdue)
        self._watch.start()

    async def _expect(self, what: str) -> Any:
        """Receive startup messages until one has the key ``what``; return its value.

        The kernel and its guard are two processes: their messages arrive in any order.
        """
        assert self._report is not None
        loop = asyncio.get_running_loop()
        while what not in self._said:
            try:
                said = await asyncio.wait_for(
                    loop.sock_recv(self._report, LARGEST_REPORT), timeout=LONGEST_START
                )
            except (TimeoutError, OSError) as error:
                raise CourseError(
                    f"A confined kernel did not start: {error or 'it took too long'}."
                ) from None
            message = json.loads(said) if said else {"ended": "without a word"}
            if message.keys() & {"failed", "ended"}:
                why = message.get("failed") or f"it ended ({message['ended']})"
                raise CourseError(f"A confined kernel did not start: {why}.")
            self._said |= message
        return self._said[what]

    def _open(self, holder: int) -> None:
        """Open descriptors of the sandbox's folders before any student code runs."""
        self._descriptors["holder"] = os.pidfd_open(holder)
        for name, place in (
            ("exchange", bubblewrap.EXCHANGE),
            ("sockets", bubblewrap.SOCKETS),
            ("proc", "/proc"),
        ):
            path = f"/proc/{holder}/root{place}"
            self._descriptors[name] = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _take_proc(self) -> int:
        return self._descriptors.pop("proc")

    def client(self, **options: Any) -> ConfinedKernelClient:
        """A client for this kernel, closed together with it."""
        client = super().client(**{"context": self.context, **options})
        self._clients.append(client)
        return client

    # -- life --------------------------------------------------------------------------------------

    def received(self, size: int) -> None:
        """Count the bytes of a received message, and kill the kernel above the limit."""
        self._received += size
        if self._received > self.limits.output:
            self.end(f"sent more than {size_in_words(self.limits.output)} of output")

    def replied(self) -> None:
        """A reply arrived, so an interrupted cell has ended."""
        self._interrupted = None

    def _overdue(self) -> str:
        since = self._interrupted
        late = since is not None and time.monotonic() - since > self.limits.grace
        return "kept running after it was interrupted" if late else ""

    async def lost(self) -> None:
        """A channel was closed. Kill the kernel unless it has ended.

        The report of a kernel's end arrives a moment after its channels close, so wait for it first.
        """
        for _ in range(40):
            if not await self.is_alive():
                return
            await asyncio.sleep(0.05)
        self.end(f"hung up, or sent a message of more than {size_in_words(self.limits.message)}")

    def end(self, reason: str) -> None:
        """Kill the kernel and everything in its sandbox. Thread-safe."""
        self._reason = self._reason or reason
        with self._closing:
            holder = self._descriptors.get("holder")
            if holder is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(holder, signal.SIGKILL)

    async def is_alive(self) -> bool:
        """Whether the kernel's process is running."""
        self._read_report()
        return self._report is not None and self._ended is None and not self._reason

    def _read_report(self) -> None:
        """Read, without blocking, whether the kernel has ended."""
        while self._report is not None and self._ended is None:
            try:
                said = self._report.recv(LARGEST_REPORT)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                said = b""
            self._ended = json.loads(said).get("ended", -signal.SIGKILL) if said else -signal.SIGKILL

    def used(self) -> float:
        """Seconds of processor time of all processes in the sandbox."""
        return self._watch.used if self._watch is not None else 0.0

    def why_dead(self) -> str:
        """Why the kernel is dead, as the end of a sentence that begins with "The notebook".

        "" if it is alive, or was shut down normally.
        """
        self._read_report()
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
        """Interrupt the running cell. If it keeps running, the watch kills the kernel."""
        await self.signal_kernel(signal.SIGINT)
        self._interrupted = self._interrupted or time.monotonic()

    async def signal_kernel(self, signum: int) -> None:
        """Send a signal to the kernel's process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptors["kernel"], signum)

    # -- end ---------------------------------------------------------------------------------------

    async def shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:
        """Kill the kernel: it has nothing to save, and could ignore a request to shut down."""
        await self.cleanup_resources(restart=restart)

    async def cleanup_resources(self, restart: bool = False) -> None:
        """Kill what is still running and release all resources. Safe to call twice."""
        reason = self.why_dead()
        if self._watch is not None:
            self._watch.stop()
        elif "proc" in self._descriptors:
            os.close(self._take_proc())
        for client in self._clients:
            client.stop_channels()
        if self._report is not None:
            self.end(reason)
            await self._wait_until_ended()
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
        self._reset()
        self._reason, self._ended = reason, None

    async def _wait_until_ended(self) -> None:
        """Wait until the guard reports that the kernel has ended."""
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
        """Write a file into the sandbox's exchange folder, replacing one of the same name."""
        handover.put(self._folder(), name, data)

    def take(self, name: str, most: int) -> bytes | None:
        """Read a file from the exchange folder, or return None; see ``handover.take``."""
        return handover.take(self._folder(), name, most)

    def _folder(self) -> int:
        if "exchange" not in self._descriptors:
            raise CourseError("Files should be exchanged with a kernel that runs, but none does.")
        return self._descriptors["exchange"]


def kernel_manager(*, confined: bool = True, limits: Limits | None = None, warm: Warm | None = None):
    """A sandboxed kernel manager, or with ``confined=False`` a plain one with the same interface."""
    if confined:
        return ConfinedKernelManager(limits=limits, warm=warm)
    from cellgrader.sandbox.unconfined import PlainKernelManager

    return PlainKernelManager(limits=limits)
