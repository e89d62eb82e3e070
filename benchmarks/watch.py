"""How long does a student wait for feedback while a class is watched?

    seqcourse bench watch                (or: python benchmarks/watch.py burst 15, for one part alone)

A class of made-up students hands in assignment 3 while `seqcourse watch ps3` runs on two cores: one
alone, 20 in 10 minutes, and 60 at once. A third of them solved all of it, a third half, a third made
typical mistakes. A student's wait begins when the folder is in the inbox and ends when the feedback page
is there, both seen from outside. Writes benchmarks/results/watch.json. Exit code 1 when the median for
20 in 10 minutes is 60 seconds or more.

About 20 minutes on two idle cores.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from grading import CORES, make_class  # noqa: E402 - the same made-up class

from cellgrader.course.folders import Course  # noqa: E402

RESULT = Path(__file__).resolve().parent / "results" / "watch.json"
NAME = "ps3"
BAR = 60.0  # seconds
# What is measured: how many hand in, within how many seconds.
PARTS = {"alone": (1, 0.0), "spread": (20, 600.0), "burst": (60, 0.0)}
WORDS = {"alone": "one alone", "spread": "in 10 minutes", "burst": "at once"}


@contextmanager
def watched(course: Course) -> Iterator[subprocess.Popen]:
    """`seqcourse watch`, from the moment at which it is ready."""
    command = [sys.executable, "-m", "seqcourse.cli", "watch", NAME, "--workers", str(CORES)]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    said = course.root / "watch.txt"
    with said.open("w") as file:
        process = subprocess.Popen(command, cwd=course.root, env=environment, stdout=file, stderr=file)
    try:
        while "Watching" not in said.read_text():
            if process.poll() is not None:
                raise SystemExit(f"The watcher ended:\n{said.read_text()}")
            time.sleep(0.2)
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def waits(folder: Path, count: int, within: float) -> list[float]:
    """Seconds that each student waits, when ``count`` hand in evenly within so many seconds."""
    course = make_class(folder, count, NAME)
    aside = course.folder / "at-home"
    course.submitted.rename(aside)
    course.submitted.mkdir()
    students = sorted(path.name for path in aside.iterdir())
    arrived: dict[str, float] = {}
    found: dict[str, float] = {}
    with watched(course) as process:
        started = time.monotonic()
        while len(found) < count:
            now = time.monotonic()
            for number, student in enumerate(students):
                page = course.feedback / student / NAME / f"{NAME}.html"
                if student not in arrived and now - started >= within * number / count:
                    (aside / student).rename(course.submitted / student)
                    arrived[student] = now
                elif student in arrived and student not in found and page.exists():
                    found[student] = now - arrived[student]
            if process.poll() is not None:
                raise SystemExit(f"The watcher ended:\n{(course.root / 'watch.txt').read_text()}")
            time.sleep(0.1)
    return sorted(found.values())


def row(part: str, count: int, within: float, found: list[float]) -> dict[str, str | int | float]:
    """One line of the result, printed on the way."""
    line = {
        "what": WORDS[part],
        "submissions": count,
        "within_seconds": within,
        "median": round(statistics.median(found), 1),
        "longest": round(found[-1], 1),
        # Of the last minute; about 2 to 3 is our own, more than that somebody else's.
        "load": round(os.getloadavg()[0], 1),
    }
    print(
        f"{count:4} {WORDS[part]:<14} median {line['median']:6.1f} s  longest {line['longest']:6.1f} s  "
        f"load {line['load']}",
        flush=True,
    )
    return line


def main() -> int:
    """Measure, print, and write the result."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    chosen = dict(PARTS)
    if len(sys.argv) > 1:
        part = sys.argv[1]
        count = int(sys.argv[2]) if len(sys.argv) > 2 else PARTS[part][0]
        chosen = {part: (count, PARTS[part][1] * count / PARTS[part][0])}
    rows = []
    for part, (count, within) in chosen.items():
        folder = Path(tempfile.mkdtemp())
        try:
            rows.append(row(part, count, within, waits(folder / "course", count, within)))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
    }
    if chosen == PARTS:
        RESULT.parent.mkdir(exist_ok=True)
        content = {"machine": machine, "assignment": NAME, "bar_seconds": BAR, "rows": rows}
        RESULT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    missed = [line for line in rows if line["what"] == WORDS["spread"] and line["median"] >= BAR]
    for line in missed:
        print(f"The median should be under {BAR:.0f} s, but is {line['median']} s.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
