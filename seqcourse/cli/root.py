"""Where the course's folder is."""

from __future__ import annotations

from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.printable import printable

# A folder with these is a checkout of the course.
SIGNS = ("nbgrader_config.py", "solutions", "book")


def is_course(folder: Path) -> bool:
    """Whether a folder is a checkout of the course."""
    return all((folder / sign).exists() for sign in SIGNS)


def find_root(start: Path | None = None) -> Path:
    """The course's folder: this one, one above it, or the one the package was installed from.

    Raises:
        CourseError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    installed_from = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, installed_from):
        if is_course(folder):
            return folder
    raise CourseError(
        f"This command should run in a checkout of the course (a folder with {', '.join(SIGNS)}), "
        f"but {here} is none and lies in none. Change to it, or clone the course first."
    )


def tell(line: str) -> None:
    """Print a line in which a student's text may stand."""
    print(printable(line))


def shown(path: Path) -> str:
    """A path as a person in the current folder would write it."""
    try:
        path = path.resolve().relative_to(Path.cwd().resolve())
    except ValueError:
        pass
    return printable(path.as_posix())
