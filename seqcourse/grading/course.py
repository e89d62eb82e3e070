"""Where the parts of a course lie, and nbgrader's settings for them."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError
from seqcourse.grading.address import find_url

if TYPE_CHECKING:
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

CONFIG_FILE = "nbgrader_config.py"
CLASS = "grading"
ASSIGNMENT_NAME = re.compile(r"ps\d+")


def close(folder: Path) -> None:
    """Make a folder that no other account may enter, or close one that is there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # another account's, and theirs to close
            folder.chmod(0o700)


@dataclass(frozen=True)
class Course:
    """A course folder and, inside it, the folder in which one class is graded.

    ``root`` holds solutions/ and assignments/. ``grading`` (relative to it) holds the class:
    submitted/, autograded/, feedback/, records/ and the gradebook. The sample class has a
    grading folder of its own, so it never meets the real one. ``db_url`` is the gradebook's address
    where another one was asked for; it may hold a password, so it is never shown.
    """

    root: Path
    grading: str = CLASS
    db_url: str = field(default="", repr=False)

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def assignments(self) -> Path:
        return self.root / "assignments"

    @property
    def folder(self) -> Path:
        return self.root / self.grading

    def make_folder(self) -> None:
        """Make the class's folder. Other accounts see nothing of it: neither work nor grades."""
        close(self.root / Path(self.grading).parts[0])
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def submitted(self) -> Path:
        return self.folder / "submitted"

    @property
    def autograded(self) -> Path:
        return self.folder / "autograded"

    @property
    def feedback(self) -> Path:
        return self.folder / "feedback"

    @property
    def records(self) -> Path:
        return self.folder / "records"

    @property
    def gradebook_url(self) -> str:
        """Where the grades are: a file beside the class, or another database.

        The class itself (not a sample) takes the address from the environment variable
        SEQCOURSE_DB_URL, or from nbgrader_config.py.
        """
        config = self.root / CONFIG_FILE if self.grading == CLASS else None
        return find_url(self.db_url, self.folder / "gradebook.db", config)

    def secret(self) -> bytes:
        """What the inputs of this class's hidden checks are drawn from; made when first asked for.

        It lies beside the gradebook, readable by its owner alone, and no student's code sees the
        folder. Everybody in a class is checked with the same inputs, today and in a year.
        """
        path = self.folder / "secret"
        if not path.exists():
            self.make_folder()
            handle, beside = tempfile.mkstemp(dir=self.folder, prefix=".secret.")  # mode 600
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):
                os.link(beside, path)  # whoever comes first decides
            os.unlink(beside)
        found = path.read_bytes()
        if len(found) != 32:
            raise CourseError(
                f"{self.grading}/secret should hold 32 bytes, but holds {len(found)}. Put a copy of it "
                f"back, or delete it: the hidden checks then draw new inputs."
            )
        return found

    def names(self) -> list[str]:
        """The assignments that have a solution: ["ps1", "ps2", ...]."""
        if not self.solutions.is_dir():
            return []
        found = [
            folder.name
            for folder in self.solutions.iterdir()
            if ASSIGNMENT_NAME.fullmatch(folder.name) and any(folder.glob("*.ipynb"))
        ]
        return sorted(found, key=lambda name: int(name[2:]))

    def require(self, name: str) -> str:
        """``name`` itself if there is such an assignment; otherwise CourseError."""
        names = self.names()
        if name not in names:
            raise CourseError(
                f"{name!r} should be an assignment with a folder in solutions/, "
                f"but there {'is' if len(names) == 1 else 'are'} "
                f"{', '.join(names) if names else 'none'}."
            )
        return name

    def solution(self, name: str) -> Path:
        """The instructor's notebook of an assignment."""
        return self.solutions / name / f"{name}.ipynb"

    def released(self, name: str) -> Path | None:
        """The notebook that students were given; None where it was never released."""
        folders = (self.folder / "released", self.assignments)
        paths = [folder / name / f"{name}.ipynb" for folder in folders]
        return next((path for path in paths if path.is_file()), None)

    def students(self, name: str) -> list[str]:
        """Who has a folder for this assignment in submitted/."""
        if not self.submitted.is_dir():
            return []
        return sorted(path.parent.name for path in self.submitted.glob(f"*/{name}") if path.is_dir())

    def without(self, name: str) -> list[str]:
        """Who has a folder in submitted/, but none for this assignment in it."""
        if not self.submitted.is_dir():
            return []
        everybody = {path.name for path in self.submitted.iterdir() if path.is_dir()}
        return sorted(everybody - set(self.students(name)))

    def config(self, **options: object) -> Config:
        """nbgrader's settings: those of the course's file, with this class's folders.

        Options name traits with two underscores: ``Execute__timeout=20``.
        """
        from traitlets.config import Config, PyFileConfigLoader

        settings = Config()
        if (self.root / CONFIG_FILE).exists():
            settings = PyFileConfigLoader(CONFIG_FILE, str(self.root)).load_config()
        place = settings.CourseDirectory
        place.root = str(self.root)
        place.source_directory = "solutions"
        place.release_directory = "assignments"
        for stage in ("submitted", "autograded", "feedback", "solution", "source_with_tests"):
            place[f"{stage}_directory"] = f"{self.grading}/{stage}"
        place.db_url = self.gradebook_url
        # The exchange is the folder through which a shared server hands files on; unused here.
        settings.Exchange.root = str(self.folder / "exchange")
        for option, value in options.items():
            section, trait = option.split("__")
            settings[section][trait] = value
        return settings

    def api(self, **options: object) -> NbGraderAPI:
        """nbgrader's programming interface with these settings, silent on the terminal."""
        from nbgrader.apps.api import NbGraderAPI
        from traitlets.log import get_logger

        logger = get_logger()
        logger.propagate = False
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
        logger.addHandler(logging.NullHandler())
        logger.disabled = False  # by a program in this process that keeps to its own log
        logger.setLevel(logging.INFO)  # what went wrong is read there, see release.last_line
        return NbGraderAPI(config=self.config(**options))
