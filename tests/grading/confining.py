"""Helpers of the confinement's tests: run cells in a real sandbox and look at what came out."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import nbformat.v4 as v4
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from cellgrader.sandbox import ConfinedKernelManager, refusal
from tests.browser import required

CELL_SECONDS = 120


def need_sandbox() -> None:
    """Skip where no sandbox can be had; fail where CI=true."""
    why_not = refusal()
    if why_not and required():
        pytest.fail(why_not)
    if why_not:
        pytest.skip(why_not)


async def run(km, *sources: str, seconds: int = CELL_SECONDS) -> NotebookNode:
    """Run these cells as nbclient does it for nbgrader; a dead kernel ends the run quietly."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook, km=km, timeout=seconds, interrupt_on_timeout=True, allow_errors=True
    )
    client.log.disabled = True
    try:
        await client.async_execute()
    except DeadKernelError:
        pass
    return notebook


def told(notebook: NotebookNode) -> str:
    """What the cells printed, and the names and sentences of their errors."""
    lines = []
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.output_type == "stream":
                lines.append(output.text)
            elif output.output_type == "error":
                lines.append(f"{output.ename}: {output.evalue}\n")
            else:
                lines.append(output.data.get("text/plain", "") + "\n")
    return "".join(lines)


def in_sandbox(warm, *sources: str, seconds: int = CELL_SECONDS, **options) -> tuple[str, str]:
    """Run cells in a sandbox of their own: what they told, and why the kernel died, if it did."""

    async def all_of_it() -> tuple[str, str]:
        km = ConfinedKernelManager(warm=warm, **options)
        try:
            notebook = await run(km, *sources, seconds=seconds)
            return told(notebook), km.why_dead()
        finally:
            await km.shutdown_kernel()

    return asyncio.run(all_of_it())


def processes_below(pid: int) -> set[int]:
    """The process ids of everything that this process started, and of what that started."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        try:
            tasks = list(Path(f"/proc/{waiting.pop()}/task").iterdir())
            children = " ".join((task / "children").read_text() for task in tasks)
        except OSError:
            continue
        new = {int(child) for child in children.split()} - found
        found |= new
        waiting += new
    return found


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def soon(happens: Callable[[], object], seconds: float = 120) -> bool:
    """Whether this becomes true before a time-out."""
    until = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))
