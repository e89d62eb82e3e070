"""Run a student's notebook in confined kernels, then ask each hidden check's probe there.

Everything a kernel says is taken for what a student's code may have made of it: outputs are counted
and filtered, a kernel that is gone, hangs or talks nonsense is replaced, and what ended it is left
out the second time, so that one bad cell does not take the points of the others.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from queue import Empty
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output

from seqcourse.errors import CourseError
from seqcourse.exchange import ENDING, REQUEST, RESULT
from seqcourse.grading.cells import whole
from seqcourse.grading.own import FRAME, LEFT_OUT, MOST_KEPT, NOT_RUN, SAFE

# Characters of output at which a cell's kernel is stopped.
MOST_SENT = 50_000_000
# How many kernels one notebook may use up.
MOST_KERNELS = 4
# How often a start is tried.
MOST_STARTS = 3
TIMEOUT_ERROR = "CellTimeoutError"
GONE_ERROR = "KernelGone"
PROBE = "__import__('seqcourse.check.probe', fromlist=['run']).run({!r}, get_ipython().user_ns)"
# IPython's own ``exit()`` ends the kernel some time after its cell, and another cell would be blamed.
EXIT = "get_ipython().user_ns.update(dict.fromkeys(('exit', 'quit'), __import__('sys').exit))"


class KernelGone(Exception):
    """A kernel ended, hangs, or no longer speaks the protocol; says why in part of a sentence."""


@dataclass
class Answer:
    """What one probe handed over: the bytes of its arrays, or how it ended without."""

    data: bytes | None
    ending: str = ""


@dataclass
class Ran:
    """What became of a notebook."""

    stopped: list[int] = field(default_factory=list)  # cells that ran too long
    gone: dict[int, str] = field(default_factory=dict)  # cells that ended their kernel, and how
    answers: dict[str, Answer] = field(default_factory=dict)  # by grade cell
    unfinished: str = ""  # why the rest could not be run


class _Client(NotebookClient):
    """nbclient, with a limit on what a cell may send and an eye on what it sends."""

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

    async def _async_handle_timeout(self, timeout: int, cell: NotebookNode | None = None) -> Any:
        self.late = True
        return await super()._async_handle_timeout(timeout, cell)

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        kind = msg["msg_type"]
        if kind.startswith("comm"):
            return None
        if kind in ("stream", "error", "display_data", "execute_result", "update_display_data"):
            self.sent += _length(msg["content"])
            if self.sent > MOST_SENT:
                raise KernelGone("sent more output than a notebook may")
            if self.sent > MOST_KEPT:
                return None
            msg["content"] = whole(msg["content"])
            if "data" in msg["content"]:
                data = msg["content"]["data"]
                msg["content"]["data"] = {key: data[key] for key in SAFE if key in data}
        return super().process_message(msg, cell, cell_index)

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, **options: Any) -> Any:
        self.sent, self.late = 0, False
        done = await super().async_execute_cell(cell, cell_index, **options)
        if self.late:
            words = f"Stopped after {self.timeout} s."
            stopped = new_output("error", ename=TIMEOUT_ERROR, evalue=words, traceback=[words])
            cell.outputs.append(stopped)
        if self.sent > MOST_KEPT:
            cell.outputs.append(new_output("stream", name="stdout", text=LEFT_OUT))
        return done


def _length(content: Mapping[str, Any]) -> int:
    """Characters that a message would add to the notebook."""
    data = content.get("data") or {}
    parts = [content.get("text", ""), content.get("evalue", ""), *content.get("traceback", ())]
    return sum(len(str(part)) for part in (*parts, *data.values())) + FRAME


def merged(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Outputs with the text between two others in one piece per stream, stdout first.

    The two streams come in no certain order, and in as many pieces as the kernel sent.
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
    """Text without what carriage returns have overwritten, such as the earlier states of a bar."""
    lines = text.split("\n")
    return "\n".join(line[line.rstrip("\r").rfind("\r") + 1 :] for line in lines)


class Runner:
    """Runs one notebook, in place.

    Args:
        notebook: the mended notebook; its code cells get the outputs of the run.
        new_kernel: makes the manager of a fresh kernel (a ConfinedKernelManager).
        timeout: seconds that one cell may take.
        wall: seconds for all of it.
        everything: run the cells too that only show something.
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
            requests: what each grade cell's probe is asked.
        """
        # In a thread of its own: whoever calls may be inside an event loop, as in a notebook.
        with ThreadPoolExecutor(1) as pool:
            ran = pool.submit(asyncio.run, self._run(requests)).result()
        # Not before the end: an output that a later cell changes is found by its place.
        for index in self.cells:
            self.notebook.cells[index].outputs = merged(self.notebook.cells[index].outputs)
        return ran

    async def _run(self, requests: Mapping[str, Mapping[str, Any]]) -> Ran:
        ran = Ran()
        for left in reversed(range(MOST_KERNELS)):
            try:
                async with self._kernel() as client:
                    await self._run_cells(client, ran, last=left == 0)
                    await self._ask(client, requests, ran)
                    return ran
            except KernelGone as gone:
                ran.unfinished = str(gone)
            if time.monotonic() > self.until:
                ran.unfinished = "took longer than all of a notebook may"
                break
        for cell in requests:
            ran.answers.setdefault(cell, Answer(None, "not reached"))
        return ran

    @asynccontextmanager
    async def _kernel(self) -> AsyncIterator[_Client]:
        """A fresh kernel and nbclient's side of it."""
        client = await self._started()
        try:
            yield client
        finally:
            await self._end(client)

    async def _started(self) -> _Client:
        """A kernel that answers. None of the student's code has run yet, so a start may be repeated."""
        for left in reversed(range(MOST_STARTS)):
            manager = self.new_kernel()
            client = _Client(self.notebook, km=manager, timeout=self.timeout, startup_timeout=60)
            try:
                await client.async_start_new_kernel()
                await client.async_start_new_kernel_client()
                question = client.kc.execute(EXIT, silent=True, store_history=False)
                await self._reply(client, question, 60.0)
                return client
            except (RuntimeError, CourseError) as error:
                await self._end(client)
                if not left and isinstance(error, CourseError):
                    raise
                if not left:
                    raise KernelGone(f"did not start ({error})") from error
                await asyncio.sleep(1.0)  # the machine may be out of something for a moment
        raise AssertionError("unreachable")

    @staticmethod
    async def _end(client: _Client) -> None:
        """Let go of a kernel, however far it came."""
        with suppress(Exception):
            client.kc.stop_channels()
        with suppress(Exception):
            await client.km.shutdown_kernel(now=True)

    async def _run_cells(self, client: _Client, ran: Ran, last: bool) -> None:
        """Run the cells one after the other; raise KernelGone where one takes the kernel with it.

        With `last`, the cells behind the last bad one are left out: no kernel is left to lose.
        """
        end = max(ran.gone, default=len(self.notebook.cells)) if last else len(self.notebook.cells)
        for index in self.cells:
            if index in ran.gone or index > end:
                continue
            cell = self.notebook.cells[index]
            client.timeout = max(1, min(self.timeout, int(self.until - time.monotonic())))
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

    async def _ask(self, client: _Client, requests: Mapping[str, Mapping], ran: Ran) -> None:
        """Ask the probes that have no answer yet."""
        for cell, request in requests.items():
            if cell in ran.answers:
                continue
            ran.answers[cell] = Answer(None, "not reached")
            try:
                ran.answers[cell] = await self._ask_one(client, request)
            except Exception as error:
                ran.answers[cell] = Answer(None, "gone")
                raise KernelGone(await self._why(client, error)) from error

    async def _ask_one(self, client: _Client, request: Mapping[str, Any]) -> Answer:
        manager = client.km
        # A probe stands for its grade cell: it has no more time than any cell.
        request = {**request, "seconds": min(request["seconds"], self.timeout)}
        manager.put(REQUEST, pickle.dumps(request))
        code = PROBE.format(str(manager.exchange))
        question = client.kc.execute(code, silent=True, store_history=False)
        patience = min(request["seconds"] + 10, max(1.0, self.until - time.monotonic()))
        if not await self._reply(client, question, patience):
            raise KernelGone("took too long")
        ending = manager.take(ENDING, most=100)
        if ending:
            return Answer(None, ending.decode("ascii", "replace"))
        return Answer(manager.take(RESULT, most=1 << 26))

    async def _responds(self, client: _Client) -> bool:
        """Whether the kernel answers again after an interrupted cell."""
        return await self._reply(client, client.kc.execute("", silent=True), 5.0)

    @staticmethod
    async def _reply(client: _Client, question: str, patience: float) -> bool:
        """Wait for the reply to one message; False when none came in time."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            try:
                message = await client.kc.get_shell_msg(timeout=min(1.0, until - time.monotonic()))
            except Empty:
                if not await client.km.is_alive():
                    raise DeadKernelError("Kernel died") from None
                continue
            if message["parent_header"].get("msg_id") == question:
                return True
        return False

    async def _why(self, client: _Client, error: Exception) -> str:
        """Why a kernel is gone, as the end of a sentence that begins with what it ran."""
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
        return "sent messages that no kernel sends"
