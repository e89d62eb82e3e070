"""The assignments as students get them: every cell runs, or stops at NotImplementedError."""

from __future__ import annotations

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

from cellgrader.sockets import private_sockets
from tests.sizes import nightly_but

from .finding import ROOT, notebooks, text

ASSIGNMENTS = notebooks("assignments")
ALWAYS = [f"assignments/{name}/{name}.ipynb" for name in ("ps5",)]
CELL_SECONDS = 120


def test_there_are_assignments():
    assert ASSIGNMENTS, "assignments/ should hold what `seqcourse release` generates"


@pytest.mark.parametrize("name", nightly_but(ALWAYS, ASSIGNMENTS))
def test_only_missing_answers_stop_it(name):
    path = ROOT / name
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", **private_sockets()),
        timeout=CELL_SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(cleanup_kc=True)
    stops = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                told = f"{cell.id}: {output.ename}: {output.evalue}"
                assert output.ename == "NotImplementedError", told
                stops += 1
            stderr = output.output_type == "stream" and output.name == "stderr"
            assert not stderr, f"{cell.id} wrote to standard error: {output.text}"
    places = sum("raise NotImplementedError" in text(cell) for cell in notebook.cells)
    assert places > 0 and stops > 0, "a student should find places to fill in"
