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

from cellgrader.course.due import set_due_dates
from cellgrader.course.folders import Course
from cellgrader.course.gradebook import open_gradebook
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.processes.interrupt import deferred
from cellgrader.profile import the_course
from cellgrader.release import assistants, worked
from cellgrader.release.adapt import adapt, check_settings, other_points, to_look_at
from cellgrader.release.reshape import reshape

# The last line of a traceback: "package.SomeError: a sentence".
CAUSE = re.compile(r"^\s*((?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?)$", re.M)
# What running the instructor's notebook leaves beside it.
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints", "*-run", "*.safetensors")


@dataclass(frozen=True)
class Released:
    """A generated assignment, its files that were added, changed or removed, and what to look at."""

    name: str
    folder: Path
    changed: tuple[str, ...]
    warnings: tuple[str, ...] = ()


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
        CourseError: an assignment is unknown, a graded cell has no check, or nbgrader could not
            generate the assignment.
    """
    wanted = [course.require(name) for name in names] or course.names()
    if not wanted:
        raise CourseError(
            f"solutions/ in {course.root} should hold folders ps1, ps2, ... with a notebook each, "
            f"but holds none."
        )
    check_settings(course)
    target = target or course.assignments
    open_gradebook(course)
    done = []
    for name in wanted:
        released = _generate(course, name, target / name)
        tell(released)
        done.append(released)
    return done


def left_behind(course: Course) -> list[str]:
    """Sentences about folders in assignments/ of assignments that the class leaves out."""
    return [
        f"assignments/{name} is there from before, but course.toml leaves {name} out: "
        f"delete the folder, or students find it."
        for name in course.all_names()
        if name not in course.names() and (course.assignments / name).is_dir()
    ]


def _generate(course: Course, name: str, final: Path) -> Released:
    """Generate one assignment in a temporary folder; replace the old one if it differs."""
    whole = notebooks.read(course.solution(name))
    book = adapt(whole, course, name)
    _refuse_unchecked(course, name, book)
    warnings = [
        *course.passed_over(name),
        *reshape(course, name, book),
        *other_points(book),
        *to_look_at(whole, book),
    ]
    with tempfile.TemporaryDirectory(dir=course.folder, prefix="release-") as staging:
        api = course.api(CourseDirectory__release_directory=staging)
        with deferred():  # nbgrader would say that the assignment is at fault
            outcome = api.generate_assignment(name, force=True, create=True)
        if not outcome["success"]:
            said = last_line(outcome)
            at_fault = (
                "the disk and the gradebook" if "OperationalError" in said else f"solutions/{name}/"
            )
            raise CourseError(
                f"nbgrader should have generated {name}, but said: {said}. Look at {at_fault}."
            )
        made = Path(staging) / name
        for pattern in LEFT_OUT:
            for path in list(made.rglob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        warnings += _keep_back(name, made)
        _write_rules(course, name, made)
        if sealed := worked.sealed(course, name, book):
            (made / worked.FILE).write_bytes(sealed)
        changed = _differences(made, final)
        if changed:
            _replace(made, final)
    warnings += set_due_dates(course, name)
    return Released(name, final, tuple(changed), tuple(warnings))


def _keep_back(name: str, folder: Path) -> list[str]:
    """Remove files that students are not meant to have; a sentence names them.

    The notebook goes out, what its text names (data, a figure, a module that it imports), and a class's
    own rules for assistants. What else is in the folder (a rubric, an export, an editor's copy) stays.
    """
    notebook = f"{name}.ipynb"
    text = "\n".join(map(notebooks.text, notebooks.read(folder / notebook)["cells"]))
    known = {notebook, assistants.RULES, assistants.EDITOR, *assistants.POINTERS}
    back = [path for path in _files(folder) if path not in known and not _names(text, path)]
    for path in back:
        (folder / path).unlink()
    listed = ", ".join(back)
    return [f"Not handed out, because {notebook} does not name it: {listed}."] if back else []


def _names(text: str, path: str) -> bool:
    """Whether a notebook's text names a file, or imports it."""
    file = Path(path)
    if file.name.startswith("."):
        return False
    named = rf"(?<![\w.-]){re.escape(file.name)}(?![\w-]|\.\w)"
    imported = rf"^\s*(?:from|import)\s+{re.escape(file.stem)}\b"
    pattern = f"{named}|{imported}" if file.suffix == ".py" else named
    return re.search(pattern, text, re.M) is not None


def _write_rules(course: Course, name: str, folder: Path) -> None:
    """Put what assistants and editors read beside a generated notebook; a class's own files stay."""
    rules = assistants.files(
        str(course.settings["assistants"]), name, assistants.exercises(course.root, name)
    )
    for path, content in rules.items():
        if not (folder / path).exists():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)


def _refuse_unchecked(course: Course, name: str, book: dict) -> None:
    """Raise CourseError for a graded code cell that has no hidden check and no grade by hand."""
    marks = [notebooks.mark(cell) for cell in book["cells"] if cell["cell_type"] == "code"]
    cells = [mark["grade_id"] for mark in marks if mark.get("grade") and not mark.get("solution")]
    if not cells:
        return
    known = [check.cell for check in the_course().load_checks(course.root, name).CHECKS]
    unchecked = [cell for cell in cells if cell not in known]
    if unchecked:
        raise CourseError(
            f"Every graded cell of {name} should have a hidden check or be graded by hand, but "
            f"{', '.join(unchecked)} has neither. Write its check into the exercise's card in "
            f"solutions/checks/{name}, or make the cell a solution cell with points."
        )


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
