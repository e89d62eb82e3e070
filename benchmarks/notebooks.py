"""How long does every notebook take, and how much memory does its kernel need?

    seqcourse bench notebooks

One after the other, each in a fresh kernel with one thread, as the tests and the book run them.
Writes benchmarks/results/notebooks.json with the machine that it ran on.

About 11 minutes on two idle cores.
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path

import nbformat
import torch
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

from cellgrader.sockets import private_sockets

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "notebooks.json"
CELL_SECONDS = 300
# Run in the kernel at the end: its highest memory so far, in MiB (Linux counts in KiB, macOS in bytes).
PEAK = """
import resource, sys
unit = 2**20 if sys.platform == "darwin" else 2**10
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
"""


def measure(path: Path) -> dict[str, str | float]:
    """Execute one notebook; seconds and MiB."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PEAK, id="peak"))
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", **private_sockets()),
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
    )
    started = time.perf_counter()
    client.execute()
    seconds = time.perf_counter() - started
    peak = float(notebook.cells[-1].outputs[0].text.split()[1])
    name = path.relative_to(ROOT).as_posix()
    return {"notebook": name, "seconds": round(seconds, 1), "peak_mib": round(peak)}


def main() -> None:
    """Measure, print, and write the result."""
    os.environ["OMP_NUM_THREADS"] = "1"
    machine = {"cores": os.cpu_count(), "processor": platform.machine(), "torch": torch.__version__}
    rows = []
    for path in sorted([*ROOT.glob("book/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb")]):
        row = measure(path)
        rows.append(row)
        print(f"{row['seconds']:7.1f} s  {row['peak_mib']:6.0f} MiB  {row['notebook']}", flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    beside = RESULT.with_suffix(".new")
    beside.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    beside.replace(RESULT)


if __name__ == "__main__":
    main()
