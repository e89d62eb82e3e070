"""A cluster that is there already: a real `dask scheduler` and real `dask worker` processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

from .toy import ROOT


@contextmanager
def dask_processes(folder: Path, workers: int = 2) -> Iterator[str]:
    """Start them, with their files in ``folder``; yields the scheduler's address."""
    told = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    dask = [sys.executable, "-m", "dask"]
    here = ["--scheduler-file", str(told), "--host", "127.0.0.1", "--no-dashboard"]
    worker = [*dask, "worker", *here, "--nthreads", "1", "--death-timeout", "60"]
    worker += ["--local-directory", str(folder)]
    processes = []

    def start(command: list[str]) -> None:
        with (folder / "log").open("ab") as log:
            processes.append(
                subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
            )

    try:
        start([*dask, "scheduler", *here, "--port", "0"])
        for _ in range(workers):
            start(worker)
        until = time.monotonic() + 120
        while not _whole(told) and time.monotonic() < until:
            time.sleep(0.1)
        assert _whole(told), (folder / "log").read_text()
        address = json.loads(told.read_text())["address"]
        with Client(address, timeout=60) as client:  # a worker takes seconds until it is known
            client.wait_for_workers(workers, timeout=120)
        yield address
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)


def _whole(told: Path) -> bool:
    """Whether the scheduler's file is there, to its last bracket."""
    return told.exists() and told.read_text().rstrip().endswith("}")
