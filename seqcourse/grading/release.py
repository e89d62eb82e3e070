"""solutions/ -> assignments/: what students get, byte-identical when generated again.

nbgrader generates into a folder beside the final one; only a complete result takes its place.
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

# The last line of a traceback, wherever it stands: "package.SomeError: a sentence".
CAUSE = re.compile(r"^\s*((?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?)$", re.M)
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


@dataclass(frozen=True)
class Released:
    """One generated assignment and the files of it that are new, changed or gone."""

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
    """Generate the assignments ``names`` (all of them without names) into ``target``.

    Args:
        course: where the solutions lie and which gradebook learns the cells and their points.
        target: the folder to write to; the course's assignments/ without it.
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
    """Generate one assignment beside its folder, compare, and exchange the two."""
    with tempfile.TemporaryDirectory(dir=course.folder, prefix="release-") as staging:
        api = course.api(CourseDirectory__release_directory=staging)
        outcome = api.generate_assignment(name, force=True, create=True)
        if not outcome["success"]:
            raise CourseError(
                f"nbgrader should have generated {name}, but said: {last_line(outcome)}. "
                f"Look at solutions/{name}/."
            )
        made = Path(staging) / name
        for rubbish in LEFT_OUT:
            for folder in list(made.rglob(rubbish)):
                shutil.rmtree(folder)
        changed = _differences(made, final)
        if changed:
            _exchange(made, final)
    return Released(name, final, tuple(changed))


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _differences(made: Path, final: Path) -> list[str]:
    """Names of the files that are new, different or gone."""
    new, old = _files(made), _files(final) if final.is_dir() else {}
    return sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))


def _exchange(made: Path, final: Path) -> None:
    """Put ``made`` in the place of ``final``."""
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
    """The sentence in which nbgrader's log or traceback ends.

    nbgrader logs the traceback of what went wrong, and then raises an exception of its own that
    says only that something did; the last exception in the log is the cause.
    """
    log, traceback = outcome.get("log", ""), outcome.get("error", "")
    causes = CAUSE.findall(log) or CAUSE.findall(traceback)
    lines = [line for line in f"{log}\n{traceback}".splitlines() if line.strip()]
    return (causes[-1] if causes else lines[-1] if lines else "nothing").strip().rstrip(".")
