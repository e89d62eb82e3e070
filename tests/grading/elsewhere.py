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
        while not told.exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert told.exists(), (folder / "log").read_text()
        yield json.loads(told.read_text())["address"]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)
