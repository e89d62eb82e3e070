"""``seqcourse progress``: how far a student is with each assignment, and what is asked again today."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from seqcourse import progress
from seqcourse.cli.root import find_work, shown, tell
from seqcourse.errors import CourseError

DEPTHS = ("", "*/", "assignments/*/")  # below a folder; a whole disk is not searched


def show_progress(folder: Path | None) -> None:
    """Print a line for every assignment in a folder, and what comes next.

    Raises:
        CourseError: there is none.
    """
    folder = folder or _assignments()
    table = Table("assignment", "exercises", "points", "minutes", "next", box=None, pad_edge=False)
    found = (path for depth in DEPTHS for path in folder.glob(f"{depth}ps*.ipynb"))
    notebooks = [folder] if folder.suffix == ".ipynb" else sorted(found)
    notebooks = [path for path in notebooks if not any(part.startswith(".") for part in path.parts)]
    if not notebooks:
        raise CourseError(f"There is no assignment (ps1.ipynb, ...) in {folder}.")
    again = []
    for path in notebooks:
        if names := progress.due(path):
            again.append(f"Asked again: {', '.join(names)}. seqcourse practice {shown(path)}")
        try:
            found = progress.read(path)
        except CourseError as error:
            table.add_row(escape(path.stem), "", "", "", escape(str(error)))
            continue
        earned, whole = found.points
        task = found.next
        table.add_row(
            escape(path.stem),
            f"{found.done} of {len(found.tasks)}",
            f"{earned:g} of {whole:g}",
            f"{found.spent.total_seconds() / 60:.0f}",
            escape(f"{task.number} · {task.title} (about {task.minutes} min)") if task else "done",
        )
    Console().print(table)
    print("Points by your self-checks; the hidden checks see more, and a person reads written answers.")
    for line in again:
        tell(line)


def _assignments() -> Path:
    """The folder with the assignments of the course that we are in, or this folder."""
    try:
        return find_work() / "assignments"
    except CourseError:
        return Path.cwd()
