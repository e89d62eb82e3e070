"""How fast is a class graded, against stock nbgrader, and as the class grows?

    seqcourse bench grading              (or: python benchmarks/grading.py 15 60, for these sizes)
    python benchmarks/grading.py --beside FOLDER    another version too: its checkout, with a .venv

A class of made-up students hands in assignment 2: a third solved all of it, a third half, a third
made typical mistakes. On two cores, one after the other in the same run: stock `nbgrader autograde`
(nbgrader's own settings; six of the class) and `seqcourse grade` (sandbox, gradebook and start
included). Both commands are timed from outside. Writes benchmarks/results/grading.json.

Stock nbgrader runs every cell. `seqcourse grade` leaves out the cells that only show something; the
row "everything" says what it takes when it runs them, too.

About 10 minutes on two idle cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nbgrader.api import Gradebook

import seqcourse  # noqa: F401  (makes the course known to the grader)
from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.release import sample
from cellgrader.release.generate import release

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "grading.json"
NAME = "ps2"
KINDS = ("perfect", "half", "wrong")
SIZES = (15, 30, 60, 120, 240)
COMPARED = 60
OF_STOCK = 6
CORES = 2
# What an instructor writes who only moves nbgrader's folders, and has patience with slow cells.
STOCK_SETTINGS = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "assignments"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.db_url = "sqlite:///grading/gradebook.db"
c.Execute.timeout = 600
"""


def make_class(folder: Path, size: int, name: str = NAME) -> Course:
    """A course whose students have handed in; no two of them the same file."""
    folder.mkdir()
    for part in ("solutions", "assignments"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "book").mkdir()  # by which the command knows a checkout
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    course = Course(folder)
    sample.make_submissions(course, name, KINDS)
    made = {kind: notebooks.read(course.submitted / kind / name / f"{name}.ipynb") for kind in KINDS}
    shutil.rmtree(course.submitted)
    for number in range(size):
        kind = KINDS[number % len(KINDS)]
        book = json.loads(json.dumps(made[kind]))
        answer = next(cell for cell in book["cells"] if notebooks.mark(cell).get("solution"))
        answer["source"] = f"# student {number}\n{notebooks.text(answer)}"
        student = f"{kind}-{number:03}"
        notebooks.write(book, course.submitted / student / name / f"{name}.ipynb")
    return course


def timed(command: list[str], folder: Path) -> float:
    """Seconds that a command takes on two cores."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return seconds


def scores(course: Course) -> dict[str, float]:
    """What everybody has in the gradebook."""
    with Gradebook(course.gradebook_url) as gradebook:
        submissions = gradebook.assignment_submissions(NAME)
        return {submission.student.id: round(submission.score, 2) for submission in submissions}


def grade_stock(folder: Path) -> tuple[float, dict[str, float]]:
    """Seconds and scores of stock nbgrader."""
    course = make_class(folder, OF_STOCK)
    release(course, [NAME])
    (folder / "nbgrader_config.py").write_text(STOCK_SETTINGS, encoding="utf-8")
    seconds = timed([sys.executable, "-m", "nbgrader", "autograde", NAME], folder)
    return seconds, scores(Course(folder, db_url=f"sqlite:///{folder}/grading/gradebook.db"))


def grade_ours(folder: Path, size: int, *options: str) -> tuple[float, dict[str, float]]:
    """Seconds and scores of `seqcourse grade`."""
    course = make_class(folder, size)
    command = [sys.executable, "-m", "seqcourse.cli", "grade", NAME, "--workers", str(CORES)]
    seconds = timed([*command, *options], folder)
    return seconds, scores(course)


def grade_other(folder: Path, size: int, other: Path) -> float:
    """Seconds of the `seqcourse grade` of another checkout, with its assignment 2."""
    code = "import sys, grading, pathlib; print(grading.grade_ours(pathlib.Path(sys.argv[1]), {})[0])"
    command = [other / ".venv/bin/python", "-c", code.format(size), folder]
    its_own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=other / "benchmarks", env=its_own, stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def graded_cells(root: Path) -> int:
    """How many cells of assignment 2 give points."""
    cells = notebooks.read(root / f"solutions/{NAME}/{NAME}.ipynb")["cells"]
    return sum(bool(notebooks.mark(cell).get("grade")) for cell in cells)


def row(what: str, size: int, seconds: float) -> dict[str, str | int | float]:
    """One line of the result, printed on the way."""
    line = {
        "what": what,
        "submissions": size,
        "seconds": round(seconds, 1),
        "per_minute": round(60 * size / seconds, 1),
        # Of the last minute; about 2 to 3 is our own, more than that somebody else's.
        "load": round(os.getloadavg()[0], 1),
    }
    print(
        f"{what:<22} {size:4} submissions {seconds:8.1f} s {line['per_minute']:8.1f} a minute  "
        f"load {line['load']}",
        flush=True,
    )
    return line


def compare(stock: dict[str, float], ours: dict[str, float]) -> dict[str, int | list]:
    """Student by student; wrong answers may get a part of the points, which stock nbgrader cannot."""
    honest = [student for student in stock if not student.startswith("wrong")]
    different = [[who, stock[who], ours[who]] for who in honest if stock[who] != ours[who]]
    partial = [[who, stock[who], ours[who]] for who in stock if who not in honest]
    print(f"same scores: {len(honest) - len(different)} of {len(honest)}; with mistakes: {partial}")
    if different:
        raise SystemExit(f"Solved work should get the same points twice, but: {different}")
    return {"compared": len(honest), "different": len(different), "with_mistakes": partial}


def measure(folder: Path, sizes: tuple[int, ...], other: Path | None = None) -> dict:
    """All measurements, in one run."""
    seconds, stock = grade_stock(folder / "stock")
    rows = [row("stock nbgrader", OF_STOCK, seconds)]
    stock_pace = OF_STOCK / seconds
    result: dict = {"graded_cells": graded_cells(ROOT), "rows": rows}
    for size in sizes:
        seconds, ours = grade_ours(folder / f"ours-{size}", size)
        rows.append(row("seqcourse grade", size, seconds))
        if other is not None and size == COMPARED:
            rows.append(row(other.name, size, grade_other(folder / "other", size, other)))
            result["graded_cells_of_the_other"] = graded_cells(other)
        if size == COMPARED or len(sizes) == 1:
            result["ratio"] = round(size / seconds / stock_pace, 1)
            print(f"{result['ratio']:g} times as many a minute as stock nbgrader")
            result["scores"] = compare(stock, ours)
    seconds, _ = grade_ours(folder / "everything", OF_STOCK, "--everything")
    rows.append(row("with --everything", OF_STOCK, seconds))
    return result


def main() -> None:
    """Measure, print, and write the result."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--beside", type=Path)
    asked = parser.parse_args()
    chosen = tuple(asked.sizes) or SIZES
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), chosen, asked.beside and asked.beside.resolve())
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
    }
    if chosen == SIZES:
        RESULT.parent.mkdir(exist_ok=True)
        beside = RESULT.with_suffix(".new")
        beside.write_text(json.dumps({"machine": machine, **result}, indent=1) + "\n", encoding="utf-8")
        beside.replace(RESULT)


if __name__ == "__main__":
    main()
