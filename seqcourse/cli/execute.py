"""Runs the book's notebooks, a few side by side, and keeps their outputs in a cache."""

from __future__ import annotations

import copy
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.notebook.document import write_text
from cellgrader.sockets import private_sockets
from seqcourse.errors import CourseError
from seqcourse.settings import STATIC_VARIABLE

if TYPE_CHECKING:
    import nbformat

Report = Callable[[str], None]

KERNEL = "python3"
SIDE_BY_SIDE = 2
# Errors only: a kernel otherwise warns of its own plumbing in the middle of the progress.
QUIET_KERNEL = ["--IPKernelApp.log_level=40"]
RECORD = "executed.json"
# What a page's outputs do not depend on.
NOT_IN_FINGERPRINT = ("cli/", "check/", "pages/", "live/runtime/", "progress.py", "profile.py")
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookFailed(CourseError):
    """A notebook of the book stopped: which one, at which cell, with what error."""


def run_notebooks(
    root: Path, notebooks: list[Path], cache_path: Path, report: Report, timeout: int
) -> int:
    """Execute those `notebooks` whose outputs are not in the cache; returns how many ran.

    A notebook runs again when one of its code cells, the package or a library that draws or
    computes has changed. `timeout` is the longest that one cell may take, in seconds.
    Raises NotebookFailed with every failure, after all notebooks have been tried.
    """
    from jupyter_cache import get_cache

    cache_path.mkdir(parents=True, exist_ok=True)
    cache = get_cache(str(cache_path))
    record_file = cache_path / RECORD
    record = json.loads(record_file.read_text()) if record_file.is_file() else {}
    package = package_fingerprint(root)
    marks = {path: f"{package}-{code_fingerprint(path)}" for path in notebooks}
    known = {path for path in notebooks if record.get(_name(path, root)) == marks[path]}
    due = [path for path in notebooks if path not in known or not _is_cached(cache, path, root)]
    if kept := len(notebooks) - len(due):
        report(f"{kept} of {len(notebooks)} notebooks are up to date")
    if not due:
        return 0

    lock, failures, done = threading.RLock(), list[str](), 0

    def tell(line: str) -> None:
        with lock:
            report(line)

    def run_one(path: Path, kernels: Path) -> None:
        nonlocal done
        name = _name(path, root)
        tell(f"{name}: running")
        started = time.perf_counter()
        try:
            notebook = execute(path, root, kernels, timeout)
        except NotebookFailed as error:
            with lock:
                failures.append(str(error))
                record.pop(name, None)
            tell(f"{name}: FAILED after {time.perf_counter() - started:.0f} s")
            return
        seconds = time.perf_counter() - started
        with lock:
            _store(cache, path, root, notebook, seconds)
            record[name] = marks[path]
            write_text(record_file, json.dumps(record, indent=1, sort_keys=True))
            done += 1
            tell(f"{name}: {seconds:.0f} s ({done} of {len(due)})")
        for line in standard_error_lines(notebook):
            tell(f"{name}: {line}")

    with kernel_specification() as kernels, ThreadPoolExecutor(_workers()) as pool:
        for future in [pool.submit(run_one, path, kernels) for path in due]:
            future.result()
    if failures:
        raise NotebookFailed("\n\n".join(failures))
    return len(due)


def keep(
    path: Path, root: Path, cache_path: Path, notebook: nbformat.NotebookNode, seconds: float
) -> None:
    """Put the outputs of a notebook that ran elsewhere into the cache: it is not due until it changes.

    `notebook` is the one in `path` with outputs, as a kernel gave them in which `is_static()` holds.
    """
    from jupyter_cache import get_cache

    cache_path.mkdir(parents=True, exist_ok=True)
    record_file = cache_path / RECORD
    record = json.loads(record_file.read_text()) if record_file.is_file() else {}
    record[_name(path, root)] = f"{package_fingerprint(root)}-{code_fingerprint(path)}"
    _store(get_cache(str(cache_path)), path, root, notebook, seconds)
    write_text(record_file, json.dumps(record, indent=1, sort_keys=True))


def execute(path: Path, root: Path, kernels: Path, timeout: int) -> nbformat.NotebookNode:
    """Run one notebook in a kernel of this very Python; returns it with its outputs."""
    import nbformat
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    # The run replaces it, and the cache finds a notebook by it too.
    named_kernel = copy.deepcopy(notebook.metadata.get("kernelspec", {}))
    current = {"index": 0}

    def remember(cell: nbformat.NotebookNode, cell_index: int) -> None:
        current["index"] = cell_index

    manager = AsyncKernelManager(
        kernel_name=KERNEL,
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernels)]),
        **private_sockets(),
    )
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=timeout,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=remember,
        extra_arguments=QUIET_KERNEL,
        record_timing=False,  # the cache finds a notebook by its cells and their metadata
    )
    try:
        client.execute(env=kernel_environment(root), cleanup_kc=True)
    except CellExecutionError as error:
        raise NotebookFailed(
            _failure(path, root, notebook, current["index"], f"{error.ename}: {error.evalue}")
        ) from error
    except CellTimeoutError as error:
        reason = f"it took longer than the {timeout} seconds that a cell may take"
        raise NotebookFailed(_failure(path, root, notebook, current["index"], reason)) from error
    except DeadKernelError as error:
        reason = "the kernel died (out of memory?)"
        raise NotebookFailed(_failure(path, root, notebook, current["index"], reason)) from error
    except RuntimeError as error:
        raise NotebookFailed(f"{_name(path, root)}: its kernel did not start: {error}") from error
    notebook.metadata["kernelspec"] = named_kernel
    return notebook


def kernel_environment(root: Path) -> dict[str, str]:
    """The environment of a kernel that runs for the pages: static, one thread, this checkout."""
    environment = dict(os.environ)
    environment[STATIC_VARIABLE] = "1"
    environment.setdefault("OMP_NUM_THREADS", "1")
    paths = [str(root), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(part for part in paths if part)
    return environment


@contextmanager
def kernel_specification() -> Iterator[Path]:
    """A folder with one kernel, `python3`, that is this interpreter and no other."""
    from ipykernel.kernelspec import get_kernel_dict

    with tempfile.TemporaryDirectory(prefix="seqcourse-kernel-") as folder:
        place = Path(folder) / KERNEL
        place.mkdir()
        (place / "kernel.json").write_text(json.dumps(get_kernel_dict()))
        yield Path(folder)


def package_fingerprint(root: Path) -> str:
    """One number for all that a page's outputs depend on besides its own cells."""
    digest = hashlib.sha256(sys.version.encode())
    for library in ("torch", "numpy", "matplotlib"):
        digest.update(f"{library}={importlib.metadata.version(library)}".encode())
    for name in ("SEQCOURSE_BUDGET", "SEQCOURSE_DEVICE"):
        digest.update(f"{name}={os.environ.get(name, '')}".encode())
    package = root / "seqcourse"
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package).as_posix()
        if name.startswith(NOT_IN_FINGERPRINT) or "__pycache__" in name or not path.is_file():
            continue
        digest.update(name.encode())
        if path.suffix == ".py":
            digest.update(path.read_bytes())
        else:
            digest.update(str(path.stat().st_size).encode())
    return digest.hexdigest()[:16]


def code_fingerprint(path: Path) -> str:
    """One number for the code cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def standard_error_lines(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """What cells wrote to standard error: a page does not show it, so say it once."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr" and output.text.strip():
                first = ANSI.sub("", output.text).strip().splitlines()[0]
                yield f"cell {number} wrote to standard error: {first[:120]}"


def _failure(path: Path, root: Path, notebook: nbformat.NotebookNode, index: int, why: str) -> str:
    cell = notebook.cells[index]
    source = "\n".join(f"    {line}" for line in cell.source.splitlines()[:12])
    where = f"{_name(path, root)} stopped at cell {index + 1} of {len(notebook.cells)}"
    return f"{where} (id {cell.get('id', '?')}): {ANSI.sub('', why)}\n{source}"


def for_the_cache(notebook: nbformat.NotebookNode, root: Path) -> nbformat.NotebookNode:
    """The code cells as Jupyter Book looks for them in the cache: a caption is metadata of its cell."""
    import nbformat

    from seqcourse.pages.plain import as_the_site_reads

    read = as_the_site_reads(notebook, root)
    code = [cell for cell in read["cells"] if cell["cell_type"] == "code"]
    return nbformat.from_dict(read | {"cells": code})


def _is_cached(cache: object, path: Path, root: Path) -> bool:
    import nbformat

    try:
        cache.match_cache_notebook(for_the_cache(nbformat.read(path, as_version=4), root))
    except KeyError:
        return False
    return True


def _store(
    cache: object, path: Path, root: Path, notebook: nbformat.NotebookNode, seconds: float
) -> None:
    from jupyter_cache.base import CacheBundleIn

    notebook = for_the_cache(notebook, root)
    bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _workers() -> int:
    return max(1, min(SIDE_BY_SIDE, os.cpu_count() or 1))


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
