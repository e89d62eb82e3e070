"""Generate assignments/ from solutions/, reproducible byte for byte.

nbgrader writes to a temporary folder. Only a complete result replaces the released folder.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading.course import Course
from seqcourse.grading.gradebook import open_gradebook

# The last line of a traceback: "package.SomeError: a sentence".
CAUSE = re.compile(r"^\s*((?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?)$", re.M)
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


@dataclass(frozen=True)
class Released:
    """A generated assignment, and its files that were added, changed or removed."""

    name: str
    folder: Path
    changed: tuple[str, ...]


def release(
    course: Course,
    names: Iterable[str] = (),
    *,
    target: Path | None = None,
    tell: Callable[[Released], None] = lambda released: None,
) -> list[Released]:
    """Generate the assignments ``names`` (default: all) into ``target``.

    Args:
        course: holds the solutions; its gradebook stores the cells and their points.
        target: the folder to write to (default: the course's assignments/).
        tell: called after each assignment.
    Raises:
        CourseError: an assignment is unknown, or nbgrader could not generate it.
    """
    wanted = [course.require(name) for name in names] or course.names()
    if not wanted:
        raise CourseError(
            f"solutions/ in {course.root} should hold folders ps1, ps2, ... with a notebook each, "
            f"but holds none."
        )
    target = target or course.assignments
    open_gradebook(course)
    done = []
    for name in wanted:
        released = _generate(course, name, target / name)
        tell(released)
        done.append(released)
    return done


def _generate(course: Course, name: str, final: Path) -> Released:
    """Generate one assignment in a temporary folder; replace the old one if it differs."""
    with tempfile.TemporaryDirectory(dir=course.folder, prefix="release-") as staging:
        api = course.api(CourseDirectory__release_directory=staging)
        outcome = api.generate_assignment(name, force=True, create=True)
        if not outcome["success"]:
            raise CourseError(
                f"nbgrader should have generated {name}, but said: {last_line(outcome)}. "
                f"Look at solutions/{name}/."
            )
        made = Path(staging) / name
        for pattern in LEFT_OUT:
            for folder in list(made.rglob(pattern)):
                shutil.rmtree(folder)
        changed = _differences(made, final)
        if changed:
            _replace(made, final)
    return Released(name, final, tuple(changed))


def _files(folder: Path) -> dict[str, bytes]:
    """Map the relative path of every file below a folder to its content."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _differences(made: Path, final: Path) -> list[str]:
    """The relative paths of files that were added, changed or removed."""
    new, old = _files(made), _files(final) if final.is_dir() else {}
    return sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))


def _replace(made: Path, final: Path) -> None:
    """Replace ``final`` with a copy of ``made``."""
    final.parent.mkdir(parents=True, exist_ok=True)
    beside = final.parent / f".{final.name}.new"
    old = final.parent / f".{final.name}.old"
    for leftover in (beside, old):
        if leftover.exists():
            shutil.rmtree(leftover)
    shutil.copytree(made, beside)
    if final.exists():
        final.rename(old)
    beside.rename(final)
    if old.exists():
        shutil.rmtree(old)


def last_line(outcome: dict) -> str:
    """The message of the exception that made nbgrader fail.

    nbgrader logs the original traceback, then raises an uninformative exception of its own. So the last
    exception in the log is the cause.
    """
    log, traceback = outcome.get("log", ""), outcome.get("error", "")
    causes = CAUSE.findall(log) or CAUSE.findall(traceback)
    lines = [line for line in f"{log}\n{traceback}".splitlines() if line.strip()]
    return (causes[-1] if causes else lines[-1] if lines else "nothing").strip().rstrip(".")
