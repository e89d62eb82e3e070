"""All that the grader knows of the course whose work it grades."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cellgrader.errors import CourseError


@dataclass(frozen=True)
class CourseProfile:
    """A course, as the grader sees it. A course calls ``use`` with its own when it is imported.

    module: whose import calls ``use``; other processes import it.
    package: what notebooks import. Its name is also the command's, and that of notes in notebooks.
    version: the package's.
    assignment: a pattern of names of assignments: two letters and a number.
    named: a name of that form, for sentences.
    checks: the package that judges answers; what the grader asks of it is in ``cellgrader.checks``.
    systems: the package that measures whole systems.
    open_checks: a pattern of what a notebook calls in ``checks``.
    self_check: how a student calls the self-check of an exercise.
    preload: modules that notebooks import, imported once for all kernels.
    judges: modules that workers import before they begin.
    hidden: a pattern of folders of the package that hold right answers: a sandbox shows none of them.
    decides: folders of the package whose code can affect points.
    alike: folders of the package whose functions could answer an exercise.
    environment: variables that a kernel gets.
    page_of: gives the address of a section below the book's own, from the course's folder, the chapter
        and the section; "" if there is none.
    """

    module: str
    package: str
    version: str
    assignment: str
    named: str
    checks: str
    systems: str
    open_checks: str
    self_check: str
    preload: tuple[str, ...]
    judges: tuple[str, ...]
    hidden: str
    decides: tuple[str, ...]
    alike: tuple[str, ...]
    environment: Mapping[str, str]
    page_of: Callable[[Path, int, str], str]

    @property
    def folder(self) -> Path:
        """The package's folder."""
        return Path(str(import_module(self.package).__file__)).resolve().parent

    def check_part(self, name: str) -> ModuleType:
        """A module of what judges answers, imported when it is first asked for."""
        return import_module(f"{self.checks}.{name}")

    def system_part(self, name: str) -> ModuleType:
        """A module of what measures systems, imported when it is first asked for."""
        return import_module(f"{self.systems}.{name}")

    def load_checks(self, root: Path, name: str) -> ModuleType:
        """The hidden checks of an assignment, and the answers that test them."""
        return self.check_part("cards.load").load_checks(root, name)


_known: list[CourseProfile] = []


def use(profile: CourseProfile) -> None:
    """Make a course known to the grader in this process."""
    _known[:] = [profile]


def the_course() -> CourseProfile:
    """The course that is graded.

    Raises:
        CourseError: none made itself known.
    """
    if not _known:
        raise CourseError(
            f"A course's package should be imported before {sys.argv[0]} grades, but none was."
        )
    return _known[0]


def program() -> str:
    """The name of the course's package, which is the command's, too."""
    return the_course().package
