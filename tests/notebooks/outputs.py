"""A pytest plugin for nbval runs (``-p tests.notebooks.outputs``): keeps what chapters print.

The builder of the book finds it in its cache and renders the pages from it, so that a notebook is not
executed a second time for them. The run has to be static (SEQCOURSE_STATIC=1), as a page is.
"""

from __future__ import annotations

import time

import pytest
from filelock import FileLock

from seqcourse import is_static
from seqcourse.cli.execute import keep

from .finding import ROOT

BUILD = ROOT / "_build"
# When the first cell of a notebook that is running began, by notebook.
began: dict[pytest.Collector, float] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a run whose outputs no page could show."""
    if not is_static():
        raise pytest.UsageError("Outputs are kept for pages: SEQCOURSE_STATIC should be 1.")


def pytest_runtest_setup(item: pytest.Item) -> None:
    began.setdefault(item.parent, time.perf_counter())


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last cell of a notebook of the book: keep it, if every cell ran without an error."""
    file = item.parent
    ends = nextitem is None or nextitem.parent is not file
    if ends and file.path.parent == ROOT / "book" and with_outputs(file):
        BUILD.mkdir(exist_ok=True)
        with FileLock(BUILD / ".book.lock"):
            keep(file.path, ROOT, BUILD / ".jupyter_cache", file.nb, time.perf_counter() - began[file])


def with_outputs(file: pytest.Collector) -> bool:
    """Put what its cells printed into a notebook; False where one of them did not run or failed."""
    cells = [item for item in file.session.items if item.parent is file]
    if len(cells) != sum(cell.cell_type == "code" for cell in file.nb.cells):
        return False
    for number, item in enumerate(cells, 1):
        outputs = item.test_outputs
        if outputs is None or any(output.output_type == "error" for output in outputs):
            return False
        item.cell.outputs, item.cell.execution_count = outputs, number
    return True
