"""Run a student's notebook in sandboxed kernels, then run each hidden check's probe there.

Kernel messages are untrusted: outputs are counted and filtered, and a kernel that dies, hangs or sends
invalid messages is replaced. The new kernel skips the cell that ended the old one, so one bad cell does
not cost the points of the others.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import groupby
from queue import Empty
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output

from cellgrader import bounds
from cellgrader.errors import CourseError
from cellgrader.notebook.cells import whole
from cellgrader.notebook.shown_outputs import FRAME, LEFT_OUT, NOT_RUN, SAFE
from cellgrader.probe_files import ENDING, PATIENCE, REQUEST, RESULT
from cellgrader.profile import the_course

# The most kernels started for one notebook, and the most attempts to start each.
MOST_KERNELS = 4
MOST_STARTS = 3
# Seconds that are not taken from a cell because another one was stopped.
SHORTEST = 30
# A cell that has less than this share of a processor is not kept waiting by the machine: it sleeps.
SLEEPS = 0.05
TIMEOUT_ERROR = "CellTimeoutError"
GONE_ERROR = "KernelGone"
# The probe is read from its file again: a cell may have put something else in its place.
PROBE = (
    "__import__('sys').modules.pop({0!r}, None); "
    "__import__({0!r}, fromlist=['run']).run({1!r}, get_ipython().user_ns)"
)
# IPython's ``exit()`` ends the kernel after a delay, when another cell may be running. sys.exit does
# not.
EXIT = "get_ipython().user_ns.update(dict.fromkeys(('exit', 'quit'), __import__('sys').exit))"
STAND_IN = "__import__('cellgrader.sandbox.stand_in', fromlist=['install']).install(get_ipython())"


class KernelGone(Exception):
    """A kernel ended, hangs or violates the protocol. The message is the end of a sentence."""


@dataclass
class ProbeResult:
    """The result of one probe: its packed arrays, or how it ended without a result."""

    data: bytes | None
    ending: str = ""
    seconds: float = 0.0


@dataclass
class Ran:
    """The result of running a notebook.

    stopped: indices of cells that ran too long.
    gone: index -> reason, for cells that ended their kernel.
    answers: grade cell -> result of its probe.
    unfinished: why the remaining cells could not run, or "".
    """

    stopped: list[int] = field(default_factory=list)
    gone: dict[int, str] = field(default_factory=dict)
    answers: dict[str, ProbeResult] = field(default_factory=dict)
    unfinished: str = ""


class _Client(NotebookClient):
    """nbclient with a limit on a cell's output and processor time, and filtered output types."""

    def __init__(self, notebook: NotebookNode, **options: Any) -> None:
        super().__init__(
            notebook,
            allow_errors=True,
            interrupt_on_timeout=True,
            raise_on_iopub_timeout=True,
            store_widget_state=False,
            error_on_timeout={"ename": TIMEOUT_ERROR, "evalue": "", "traceback": []},
            **options,
        )
        self.sent = 0
        self.late = False
        self.began = self.used = 0.0  # the clock and the kernel's processor time before the cell
        self.until = 0.0

    async def _async_handle_timeout(self, timeout: int, cell: NotebookNode | None = None) -> Any:
        """Stop a cell, unless a busy machine kept it from its ``timeout`` seconds of processor time."""
        while self._was_kept_waiting(timeout):
            if await self.kc.shell_channel.msg_ready():
                return None  # the caller reads it
            await self._async_check_alive()
            await asyncio.sleep(0.2)
        self.late = True
        return await super()._async_handle_timeout(timeout, cell)

    def _was_kept_waiting(self, timeout: int) -> bool:
        now = time.monotonic()
        used, seconds = self.km.used() - self.used, now - self.began
        return SLEEPS * seconds < used < timeout and seconds < PATIENCE * timeout and now < self.until

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        kind = msg["msg_type"]
        if kind.startswith("comm"):
            return None
        if kind in ("stream", "error", "display_data", "execute_result", "update_display_data"):
            self.sent += _length(msg["content"])
            if self.sent > bounds.SENT:
                raise KernelGone("sent too much output")
            if self.sent > bounds.OUTPUT:
                return None
            msg["content"] = whole(msg["content"])
            if "data" in msg["content"]:
                data = msg["content"]["data"]
                msg["content"]["data"] = {key: data[key] for key in SAFE if key in data}
        return super().process_message(msg, cell, cell_index)

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, **options: Any) -> Any:
        self.sent, self.late = 0, False
        self.began, self.used = time.monotonic(), self.km.used()
        done = await super().async_execute_cell(cell, cell_index, **options)
        if self.late:
            words = f"Stopped after {self.timeout} s."
            stopped = new_output("error", ename=TIMEOUT_ERROR, evalue=words, traceback=[words])
            cell.outputs.append(stopped)
        if self.sent > bounds.OUTPUT:
            cell.outputs.append(new_output("stream", name="stdout", text=LEFT_OUT))
        return done


def _length(content: Mapping[str, Any]) -> int:
    """The number of characters that a message would add to the notebook."""
    data = content.get("data") or {}
    parts = [content.get("text", ""), content.get("evalue", ""), *content.get("traceback", ())]
    return sum(len(str(part)) for part in (*parts, *data.values())) + FRAME


def merged(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Merge consecutive stream outputs into one output per stream, stdout first.

    A kernel sends stream text in arbitrary pieces, and the order of the two streams is not fixed.
    """
    made = []
    for is_text, some in groupby(outputs, lambda output: output.output_type == "stream"):
        if not is_text:
            made += some
            continue
        texts: dict[bool, list[str]] = {False: [], True: []}
        for output in some:
            texts[output.name == "stderr"].append(str(output.text))
        for is_error, parts in texts.items():
            if parts:
                name = "stderr" if is_error else "stdout"
                made.append(new_output("stream", name=name, text=_as_seen("".join(parts))))
    return made


def _as_seen(text: str) -> str:
    """Drop text overwritten by carriage returns, such as earlier states of a progress bar."""
    lines = text.split("\n")
    return "\n".join(line[line.rstrip("\r").rfind("\r") + 1 :] for line in lines)


class Runner:
    """Runs one notebook in place.

    Args:
        notebook: the mended notebook; the run writes outputs into its code cells.
        new_kernel: returns the manager of a new kernel, such as a ConfinedKernelManager.
        timeout: seconds of processor time, or of sleep, that one cell may take.
        wall: seconds that the whole notebook may take.
        everything: also run cells that only display something.
    """

    def __init__(
        self,
        notebook: NotebookNode,
        new_kernel: Callable[[], Any],
        *,
        timeout: int,
        wall: float,
        everything: bool = False,
    ) -> None:
        self.notebook = notebook
        self.new_kernel = new_kernel
        self.timeout = timeout
        self.until = time.monotonic() + wall
        self._begun: set[int] = set()
        self.cells = [
            index
            for index, cell in enumerate(notebook.cells)
            if cell.cell_type == "code"
            and not cell.metadata.get("nbgrader", {}).get("grade")
            and (everything or not NOT_RUN & set(cell.metadata.get("tags", ())))
        ]

    def run(self, requests: Mapping[str, Mapping[str, Any]]) -> Ran:
        """Run the cells, then the probes.

        Args:
            requests: grade cell -> request for its probe.
        """
        # Use a new thread: the caller may already run an event loop, for example in a notebook.
        with ThreadPoolExecutor(1) as pool:
            ran = pool.submit(asyncio.run, self._run(requests)).result()
        # Merge at the end: a later cell may update an earlier output by its index.
        for index in self.cells:
            self.notebook.cells[index].outputs = merged(self.notebook.cells[index].outputs)
        return ran

    async def _run(self, requests: Mapping[str, Mapping[str, Any]]) -> Ran:
        ran = Ran()
        first: dict[int, list] = {}  # cell -> what its first run put out
        for left in reversed(range(MOST_KERNELS)):
            try:
                async with self._kernel() as client:
                    try:
                        await self._run_cells(client, ran, last=left == 0)
                    finally:
                        self._keep_first(first)
                    await self._run_probes(client, requests, ran)
                    return ran
            except KernelGone as gone:
                ran.unfinished = str(gone)
            if time.monotonic() > self.until:
                ran.unfinished = "exceeded the time limit for a whole notebook"
                break
        for cell in requests:
            ran.answers.setdefault(cell, ProbeResult(None, "not reached"))
        return ran

    def _keep_first(self, first: dict[int, list]) -> None:
        """Let each cell have the outputs of its first run: a later kernel may know what probes asked."""
        for index in self._begun:
            cell = self.notebook.cells[index]
            cell.outputs = deepcopy(first.setdefault(index, deepcopy(cell.outputs)))

    @asynccontextmanager
    async def _kernel(self) -> AsyncIterator[_Client]:
        """A client of a new kernel, which ends with the block."""
        client = await self._start()
        try:
            yield client
        finally:
            await self._end(client)

    async def _start(self) -> _Client:
        """Start a kernel and return its client. A start can be retried: no student code has run yet."""
        for left in reversed(range(MOST_STARTS)):
            manager = self.new_kernel()
            client = _Client(self.notebook, km=manager, timeout=self.timeout, startup_timeout=60)
            try:
                await client.async_start_new_kernel()
                await client.async_start_new_kernel_client()
                first = f"{EXIT}\n{STAND_IN}"
                request_id = client.kc.execute(first, silent=True, store_history=False)
                await self._reply(client, request_id, 60.0)
                return client
            except (RuntimeError, CourseError) as error:
                await self._end(client)
                if not left and isinstance(error, CourseError):
                    raise
                if not left:
                    raise KernelGone(f"did not start ({error})") from error
                await asyncio.sleep(1.0)  # the machine may be short of resources for a moment
        raise AssertionError("unreachable")

    @staticmethod
    async def _end(client: _Client) -> None:
        """Shut down a kernel, even one that is only partly started."""
        with suppress(Exception):
            client.kc.stop_channels()
        with suppress(Exception):
            await client.km.shutdown_kernel(now=True)

    async def _run_cells(self, client: _Client, ran: Ran, last: bool) -> None:
        """Run the cells in order; raise KernelGone if one ends the kernel.

        ``last``: no further kernel is available, so skip the cells after the last one that ended a
        kernel.
        """
        end = max(ran.gone, default=len(self.notebook.cells)) if last else len(self.notebook.cells)
        for index in self.cells:
            if index in ran.gone or index > end:
                continue
            cell = self.notebook.cells[index]
            self._begun.add(index)
            client.timeout, client.until = self.seconds_for_a_cell(ran), self.until
            try:
                await client.async_execute_cell(cell, index)
                if client.late and index not in ran.stopped:
                    ran.stopped.append(index)
                if client.late and not await self._responds(client):
                    raise KernelGone("ran too long and could not be interrupted")
            except Exception as error:
                why = await self._why(client, error)
                if isinstance(error, CellTimeoutError) and index not in ran.stopped:
                    ran.stopped.append(index)
                ran.gone[index] = why
                cell.outputs = [
                    *[output for output in cell.outputs if output.output_type == "stream"],
                    new_output("error", ename=GONE_ERROR, evalue=f"This cell {why}.", traceback=[]),
                ]
                raise KernelGone(why) from error

    def seconds_for_a_cell(self, ran: Ran) -> int:
        """What the next cell may take: half the usual time once one was stopped, as more may hang."""
        timeout = min(self.timeout, max(self.timeout // 2, SHORTEST)) if ran.stopped else self.timeout
        return max(1, min(timeout, int(self.until - time.monotonic())))

    async def _run_probes(self, client: _Client, requests: Mapping[str, Mapping], ran: Ran) -> None:
        """Run the probes that have no answer yet."""
        for cell, request in requests.items():
            if cell in ran.answers:
                continue
            ran.answers[cell] = ProbeResult(None, "not reached")
            try:
                ran.answers[cell] = await self._run_probe(client, request)
            except Exception as error:
                ran.answers[cell] = ProbeResult(None, "gone")
                raise KernelGone(await self._why(client, error)) from error

    async def _run_probe(self, client: _Client, request: Mapping[str, Any]) -> ProbeResult:
        manager = client.km
        # A probe has at most the time of a cell.
        request = {**request, "seconds": min(request["seconds"], self.timeout)}
        manager.put(REQUEST, pickle.dumps(request))
        code = PROBE.format(f"{the_course().checks}.grade.probe", str(manager.exchange))
        began = time.monotonic()
        request_id = client.kc.execute(code, silent=True, store_history=False)
        patience = min(PATIENCE * request["seconds"] + 10, max(1.0, self.until - time.monotonic()))
        if not await self._reply(client, request_id, patience):
            raise KernelGone("took too long")
        ending = manager.take(ENDING, most=100)
        if ending:
            return ProbeResult(None, ending.decode("ascii", "replace"))
        return ProbeResult(manager.take(RESULT, most=1 << 26), seconds=time.monotonic() - began)

    async def _responds(self, client: _Client) -> bool:
        """Whether the kernel still answers after a cell was interrupted."""
        return await self._reply(client, client.kc.execute("", silent=True), 5.0)

    @staticmethod
    async def _reply(client: _Client, request_id: str, patience: float) -> bool:
        """Wait for the reply to a message; False after a timeout."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            try:
                message = await client.kc.get_shell_msg(timeout=min(1.0, until - time.monotonic()))
            except Empty:
                if not await client.km.is_alive():
                    raise DeadKernelError("Kernel died") from None
                continue
            if message["parent_header"].get("msg_id") == request_id:
                return True
        return False

    async def _why(self, client: _Client, error: Exception) -> str:
        """Why a kernel is gone, as the end of a sentence such as "This cell ..."."""
        if isinstance(error, KernelGone):
            return str(error)
        if isinstance(error, CellTimeoutError):
            return "ran too long and could not be interrupted"
        with suppress(Exception):
            for _ in range(20):
                if client.km.why_dead():
                    return client.km.why_dead()
                await asyncio.sleep(0.05)
        if isinstance(error, DeadKernelError):
            return "ended the kernel"
        return "sent invalid messages"
