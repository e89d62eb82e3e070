"""A pytest plugin for nbval runs (``-p tests.notebooks.times``): seconds per notebook at the end, and
kernels that talk through socket files, because ports can be taken while several kernels start."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from cellgrader.sockets import private_sockets


def pytest_configure(config) -> None:
    """One folder of sockets for each worker, which starts one kernel at a time."""
    import nbval.kernel
    from jupyter_client.manager import KernelManager

    nbval.kernel.KernelManager = partial(KernelManager, **private_sockets())


def seconds_per_notebook(reports) -> dict[str, float]:
    """Sum the durations of all cells, set-up included, by notebook."""
    seconds: dict[str, float] = defaultdict(float)
    for report in reports:
        name = report.nodeid.split("::")[0]
        if name.endswith(".ipynb"):
            seconds[name] += report.duration
    return dict(seconds)


def pytest_terminal_summary(terminalreporter) -> None:
    """Print the table."""
    stats = terminalreporter.stats
    reports = [
        report
        for kind in ("", "passed", "failed", "error", "xfailed", "xpassed")
        for report in stats.get(kind, ())
        if hasattr(report, "duration")
    ]
    seconds = seconds_per_notebook(reports)
    if seconds:
        terminalreporter.section("seconds per notebook")
    for name, total in sorted(seconds.items()):
        terminalreporter.write_line(f"{total:7.1f} s  {name}")
