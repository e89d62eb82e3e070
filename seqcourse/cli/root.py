"""Where the course's folder is."""

from __future__ import annotations

from pathlib import Path

from cellgrader.printable import printable
from seqcourse.errors import CourseError

# A folder with these is a checkout of the course.
SIGNS = ("nbgrader_config.py", "solutions", "book")
# A folder with this is a student's, made by `seqcourse start`.
STARTED = Path(".seqcourse/manifest.json")
# The student's folder inside a checkout.
MINE = "my-course"


def is_course(folder: Path) -> bool:
    """Whether a folder is a checkout of the course."""
    return all((folder / sign).exists() for sign in SIGNS)


def _handed_in(folder: Path) -> bool:
    """Whether a folder lies below a course's submitted/: its settings are a student's, and would run."""
    return any(
        is_course(above) and "submitted" in folder.relative_to(above).parts for above in folder.parents
    )


def is_started(folder: Path) -> bool:
    """Whether a folder was made by `seqcourse start`."""
    return (folder / STARTED).is_file()


def find_work(start: Path | None = None) -> Path:
    """The folder with the notebooks: this one, one above it, or the one the package was installed from.
    It is a student's folder or a checkout; in a checkout with a student's folder, that one.

    Raises:
        CourseError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if _handed_in(folder):
            continue
        if is_started(folder):
            return folder
        if is_course(folder):
            return _mine(folder)
    try:
        return _mine(find_root(here))
    except CourseError:
        raise CourseError(
            f"{here} should be a folder of the course or lie in one, but does not. "
            f"Make one with the chapters and the assignments: seqcourse start my-course"
        ) from None


def find_notebook(name: str) -> Path:
    """A student's notebook of an assignment, from here.

    Raises:
        CourseError: there is none.
    """
    here = Path.cwd()
    folders = [here, here / name, here / "assignments" / name]
    try:
        folders.append(find_work() / "assignments" / name)
    except CourseError:
        pass
    plain = name.removeprefix("ps").isdigit()
    for folder in folders if plain else ():
        if (folder / f"{name}.ipynb").is_file():
            return folder / f"{name}.ipynb"
    raise CourseError(
        f"{name!r} should be an assignment such as ps3, with its notebook in this folder or in the one "
        f"that `seqcourse start` made, but there is none. Change to the folder with your notebooks."
    )


def _mine(checkout: Path) -> Path:
    return checkout / MINE if is_started(checkout / MINE) else checkout


def find_root(start: Path | None = None) -> Path:
    """The course's checkout: this one, one above it, or the one the package was installed from.

    Raises:
        CourseError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    installed_from = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, installed_from):
        if is_course(folder) and not _handed_in(folder):
            return folder
    raise CourseError(
        f"This command should run in a checkout of the course (a folder with {', '.join(SIGNS)}), "
        f"but {here} is none and lies in none. Change to it, or clone the course first. "
        f"(What students do works in a folder that `seqcourse start` makes.)"
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


def typed(path: Path) -> str:
    """A path as a person would type it in a command: in quotes if it has a space."""
    place = shown(path)
    return f'"{place}"' if " " in place else place
