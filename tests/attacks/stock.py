"""What stock nbgrader makes of the corpus: measured in a copy of the course as it was before.

At BEFORE the hidden tests still stood in the notebooks, as nbgrader means it. Each attack is graded
together with one honest student, by `nbgrader autograde` with a configuration that holds folders
only, inside namespaces of its own so that this machine stays whole; so "stopped" and "changed" below
are about the class, never about the machine.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from tests.attacks.classroom import canary, hand_in_honest, loot, outside, place
from tests.attacks.hostile import NAME, Attack, hand_in

BEFORE = "f758945b9edfd55c7dd4e92fccbdcaff56790c3e"
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
MEMORY = 6 << 30
# A name that comes after all others: graded last, or not at all when the class is stopped.
LAST = "zoe"

CONFIG = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "assignments"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}
"""


def make_course(folder: Path) -> Course:
    """The course as it was, with secrets in its hidden tests and two graded students."""
    folder.mkdir(parents=True)
    archive = folder.with_suffix(".tar")
    with archive.open("wb") as file:
        subprocess.run(["git", "archive", BEFORE], cwd=ROOT, stdout=file, check=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    archive.unlink()
    for other in ("book", "tests", "benchmarks", "solutions/ps1", "solutions/ps3", "assignments"):
        shutil.rmtree(folder / other)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    course = Course(folder, ".")
    path = course.solution(NAME)
    solution = notebooks.read(path)
    # Experiments between the exercises take time and carry no points.
    solution["cells"] = [
        cell
        for cell in solution["cells"]
        if not notebooks.mark(cell).get("grade_id", "").endswith("-given")
    ]
    for cell in solution["cells"]:
        lines = notebooks.text(cell)
        marker = "### BEGIN HIDDEN TESTS\n"
        cell["source"] = lines.replace(marker, f"{marker}secret = '{canary('check')}'\n")
    notebooks.write(solution, path)
    with (folder / "solutions" / "checks" / f"{NAME}.py").open("a") as file:
        file.write(f"# {canary('solution')}\n")
    nbgrader(course, "generate_assignment", NAME).check_returncode()
    hand_in_honest(course, ["half"], canary("other"))
    nbgrader(course, "autograde", NAME).check_returncode()
    shutil.copytree(course.submitted / "half", course.submitted / LAST)
    hand_in_honest(course, ["perfect"], canary("other"))
    return course


def nbgrader(course: Course, *arguments: str) -> subprocess.CompletedProcess:
    """Run nbgrader on this course, with the course's own package, in namespaces of its own."""
    box = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
    box += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]
    box += ["--bind", str(course.root.parent), str(course.root.parent), "--chdir", str(course.root)]
    command = [*box, sys.executable, "-P", "-m", "nbgrader", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(course.root), "OMP_NUM_THREADS": "1"}
    programs = str(Path(sys.executable).parent)  # nbgrader calls alembic by its name
    environment["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
    environment |= {
        "JUPYTER_RUNTIME_DIR": "/tmp",
        "IPYTHONDIR": "/tmp",
        "COURSE_SECRET": canary("secret"),
    }
    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_FSIZE: 256 << 20, resource.RLIMIT_CORE: 0}

    def limit() -> None:
        for number, most in limits.items():
            resource.setrlimit(number, (most, most))

    try:
        return subprocess.run(
            command, env=environment, preexec_fn=limit, timeout=SECONDS, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"stopped after {SECONDS} s")


def points(course: Course) -> dict[str, float]:
    """Every student's points for the assignment, as the gradebook holds them."""
    base = sqlite3.connect(course.root / "gradebook.db")
    rows = base.execute(
        "select student_id, coalesce(g.manual_score, g.auto_score, 0) from grade g "
        "join submitted_notebook n on n.id = g.notebook_id "
        "join submitted_assignment a on a.id = n.assignment_id"
    ).fetchall()
    base.close()
    total: dict[str, float] = {}
    for student, value in rows:
        total[student] = total.get(student, 0.0) + float(value)
    return total


def measure(attack: Attack, course: Course, folder: Path) -> dict[str, object]:
    """Grade one attack in a fresh copy of the class; what it got and what it did."""
    if attack.stock != "run":
        return {"not run": attack.stock}
    shutil.rmtree(folder, ignore_errors=True)
    fresh = Course(folder / "course", ".")
    shutil.copytree(course.root, fresh.root, symlinks=True)
    database = fresh.root / "gradebook.db"
    before = points(fresh)
    with outside(folder) as around:
        solution = notebooks.read(fresh.solution(NAME))
        released = notebooks.read(fresh.assignments / NAME / f"{NAME}.ipynb")
        hand_in(attack, released, solution, place(fresh, database, around))
        shutil.rmtree(fresh.submitted / "half")  # graded before; a grade that must not change
        if attack.kind in ("points", "leak"):
            shutil.rmtree(fresh.submitted / LAST)
        if "SUBMITTED" not in attack.build + str(attack.cells):
            shutil.rmtree(fresh.submitted / "perfect")  # takes a while, and nobody looks at it
        started = time.monotonic()
        done = nbgrader(fresh, "autograde", NAME, "--create")
        seconds = time.monotonic() - started
        touched = around.touched()
    found: dict[str, object] = {"seconds": round(seconds, 1), "exit code": done.returncode}
    try:
        after = points(fresh)
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return found | {"score": None, "others": True, "leak": False, "stop": True}
    outputs = "\n".join(_outputs(fresh.autograded / attack.name / NAME))
    found["score"] = after.get(attack.name)
    found["others"] = any(after.get(who) != value for who, value in before.items()) or bool(touched)
    found["leak"] = bool(loot(outputs))
    waits = (fresh.submitted / LAST).exists()
    found["stop"] = done.returncode == -1 or (waits and after.get(LAST) is None)
    if waits and not found["stop"] and after[LAST] != before["half"]:
        found["others"] = True
    return found


def _outputs(folder: Path) -> Iterable[str]:
    """What the graded notebook shows, and whatever else came along into the folder."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            try:
                text = path.read_text(encoding="utf-8", errors="replace")[: 1 << 26]
                if path.suffix == ".ipynb":
                    cells = json.loads(text)["cells"]
                    text = json.dumps([cell.get("outputs") for cell in cells])
            except (ValueError, OSError, MemoryError):
                continue
            yield text


def measure_all(
    attacks: Iterable[Attack], folder: Path, tell: Callable[[str, dict], None], known: dict | None = None
) -> None:
    """Measure what is not known yet, one attack after the other."""
    course = make_course(folder / "before" / "course")
    for attack in attacks:
        if attack.name not in (known or {}):
            tell(attack.name, measure(attack, course, folder / "now"))
