"""START.md of a student's folder: what there is, how long it takes, how far one is, what is next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from seqcourse import progress
from seqcourse.cli.reading import chapters
from seqcourse.errors import CourseError

NAME = "START.md"
_ABOUT = """# Your course

{next}

Read a chapter and run it, then solve the assignment that belongs to it: each answer has a self-check
below it. Everything here is yours to change; `seqcourse update` never overwrites what you wrote. This
page is made anew each time you give `seqcourse lab`.

- [On your own](book/appendix_on_your_own.md) says where the answers are.
- The [syllabus](book/appendix_syllabus.md) has plans for 15 weeks, 8 weeks and a weekend.
- [Environment](book/appendix_environment.md) helps when something does not run.

## Chapters

| chapter | minutes to read | with the code |
|---|---|---|
{chapters}

## Assignments

| assignment | minutes | how far you are, by your self-checks |
|---|---|---|
{assignments}
"""


def write_front(folder: Path) -> None:
    """Write the first page of a student's folder; a folder that cannot be written goes on without it."""
    try:
        (folder / NAME).write_text(front(folder), encoding="utf-8")
    except OSError:
        return


def front(folder: Path) -> str:
    """The page, from the notebooks in a folder and from what their self-checks noted."""
    known = dict(_assignments(folder))
    return _ABOUT.format(
        next=_next(known),
        chapters="\n".join(_chapters(folder / "book")),
        assignments="\n".join(
            f"| [{_title(folder / name)}]({name}) | {_minutes(found)} | {found} |"
            for name, found in known.items()
        ),
    )


def _chapters(book: Path) -> Iterator[str]:
    try:
        minutes = chapters(book)
    except (ValueError, KeyError, TypeError, OSError):  # a chapter that somebody broke
        minutes = {}
    for path in sorted(book.glob("[0-9][0-9]*_*.ipynb")):
        read, with_code = minutes.get(path.name[:2], ("", "")) if path.name[2] == "_" else ("", "")
        number = path.stem.partition("_")[0].lstrip("0")
        yield f"| [{number} · {_title(path)}](book/{path.name}) | {read} | {with_code} |"


def _assignments(folder: Path) -> Iterator[tuple[str, progress.Progress]]:
    for path in sorted(folder.glob("assignments/ps*/ps*.ipynb")):
        if path.stem == path.parent.name:
            try:
                yield path.relative_to(folder).as_posix(), progress.read(path)
            except CourseError:
                continue


def _next(known: dict[str, progress.Progress]) -> str:
    """Where to go on: in the assignment that was begun last of those that are not done."""
    begun = [(name, found) for name, found in known.items() if found.done and found.next]
    if not begun:
        return "**Next**: chapter 1, and then assignment 1."
    name, found = begun[-1]
    task = found.next
    where = f"[{Path(name).stem}, exercise {task.number} · {task.title}]({name})"
    return f"**Next**: {where}, about {task.minutes} minutes."


def _minutes(found: progress.Progress) -> int:
    return sum(task.minutes for task in found.tasks)


def _title(path: Path) -> str:
    """The first heading of a notebook, or its file's name."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells[:2])
    except (OSError, ValueError, KeyError, TypeError):
        source = ""
    found = re.search(r"^# (.+)$", source, re.M)
    return (found[1] if found else path.stem).replace("|", "·")
