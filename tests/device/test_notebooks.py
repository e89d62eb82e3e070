"""Every notebook of the book and of the solutions runs on a device that is not the CPU.

Nightly: in every run test_models has each model there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ipykernel.kernelspec import get_kernel_dict

from seqcourse.audit.second import NAME
from seqcourse.cli.execute import KERNEL, execute
from seqcourse.settings import DEVICE_VARIABLE
from tests.notebooks.finding import ROOT, notebooks

INSTALL = "from seqcourse.audit import second; second.install()"
pytestmark = pytest.mark.nightly
SECONDS = 1800  # for one cell: an operation takes some 15 microseconds longer than on the CPU


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kernel that knows the second device before its first cell."""
    folder = tmp_path_factory.mktemp("kernels")
    specification = get_kernel_dict([f"--IPKernelApp.exec_lines={INSTALL}"])
    (folder / KERNEL).mkdir()
    (folder / KERNEL / "kernel.json").write_text(json.dumps(specification))
    return folder


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("name", notebooks("book", "solutions"))
def test_a_notebook_runs_there(name, kernels, monkeypatch):
    monkeypatch.setenv(DEVICE_VARIABLE, NAME)
    done = execute(ROOT / name, ROOT, kernels, SECONDS)
    assert all(cell.execution_count for cell in done.cells if cell.cell_type == "code" and cell.source)
