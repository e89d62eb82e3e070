"""The folders of a course, and nbgrader's settings for them."""

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

from cellgrader.class_settings import FILES, Settings, read_settings
from cellgrader.course.address import find_url
from cellgrader.errors import CourseError
from cellgrader.profile import program, the_course

if TYPE_CHECKING:
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

CONFIG_FILE = "nbgrader_config.py"
CLASS = "grading"


def is_assignment(name: str) -> bool:
    """Whether a name is one of an assignment."""
    return bool(re.fullmatch(the_course().assignment, name))


def close(folder: Path) -> None:
    """Create a folder with mode 700, or remove other accounts' access to an existing one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # another account owns the folder
            folder.chmod(0o700)


def remove(folder: Path) -> None:
    """Remove a folder of any depth. ``shutil.rmtree`` recurses, and a student may nest without end."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        with os.scandir(place) as entries:
            listed = list(entries)
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                # Beside the others, so that no path becomes too long for the system.
                inner = folder / f".{secrets.token_hex(8)}"
                os.rename(entry.path, inner)
                waiting.append(inner)
            else:
                os.unlink(entry.path)
        if place != folder:
            place.rmdir()
    folder.rmdir()


@dataclass(frozen=True)
class Course:
    """A course folder and the folder in it where one class is graded.

    root: holds solutions/ and assignments/.
    grading: the class's folder, relative to ``root``: submitted/, autograded/, feedback/, records/ and
        the gradebook. The sample class has its own folder, separate from the real class.
    db_url: the gradebook's address, or "" for the configured one. It may contain a password, so it is
        not part of the repr.
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
        """Create the class's folder, closed to other accounts."""
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
    def settings(self) -> Settings:
        """The class's settings, from course.toml."""
        return read_settings(self.root)

    @property
    def gradebook_url(self) -> str:
        """The gradebook's address, see ``find_url``. The sample class ignores the configured address."""
        configured = str(self.settings["gradebook"]) if self.grading == CLASS else None
        return find_url(self.db_url, self.folder / "gradebook.db", configured, self.root)

    def secret(self) -> bytes:
        """The 32-byte seed of the hidden checks' inputs, created on first use.

        The file has mode 600 and is not visible in the sandbox. Each student and attempt has inputs of
        its own, which follow from it.
        """
        path = self.folder / "secret"
        if not path.exists():
            self.make_folder()
            handle, beside = tempfile.mkstemp(dir=self.folder, prefix=".secret.")  # mode 600
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):
                os.link(beside, path)  # atomic: the first process wins
            os.unlink(beside)
        found = path.read_bytes()
        if len(found) != 32:
            raise CourseError(
                f"{self.grading}/secret should hold 32 bytes, but holds {len(found)}. Put a copy of it "
                f"back, or delete it: the hidden checks then draw new inputs."
            )
        return found

    def all_names(self) -> list[str]:
        """The assignments that have a solution: ["ps1", "ps2", ...]."""
        if not self.solutions.is_dir():
            return []
        found = [
            folder.name
            for folder in self.solutions.iterdir()
            if is_assignment(folder.name) and self.solution(folder.name).is_file()
        ]
        return sorted(found, key=lambda name: int(name[2:]))

    def names(self) -> list[str]:
        """The assignments of this class: those that course.toml does not leave out."""
        left_out = self.settings["leave_out"]
        return [name for name in self.all_names() if name not in left_out]

    def require(self, name: str) -> str:
        """Return ``name`` if there is such an assignment, otherwise raise CourseError."""
        names = self.names()
        if name in names:
            return name
        if name in self.all_names():
            raise CourseError(
                f"{self.settings.where('leave_out')}: leave_out takes {name} out of this class. Take it "
                f"off that list to use it."
            )
        raise CourseError(
            f"{name!r} should be an assignment with a notebook in solutions/{name}/{name}.ipynb, "
            f"but there {'is' if len(names) == 1 else 'are'} "
            f"{', '.join(names) if names else 'none'}."
        )

    def solution(self, name: str) -> Path:
        """The instructor's notebook of an assignment."""
        return self.solutions / name / f"{name}.ipynb"

    def passed_over(self, name: str) -> list[str]:
        """A sentence on each notebook beside the one of the assignment: a copy, a draft."""
        others = sorted((self.solutions / name).glob("*.ipynb"))
        return [
            f"Passed over: solutions/{name}/{path.name}. Only {name}.ipynb is the assignment."
            for path in others
            if path.name != f"{name}.ipynb" and not path.name.startswith(".")
        ]

    def released(self, name: str) -> Path | None:
        """The notebook given to students, or None if it was never released."""
        folders = (self.folder / "released", self.assignments)
        paths = [folder / name / f"{name}.ipynb" for folder in folders]
        return next((path for path in paths if path.is_file()), None)

    def students(self, name: str) -> list[str]:
        """The students with a folder for this assignment in submitted/."""
        if not self.submitted.is_dir():
            return []
        return sorted(path.name for path in self.submitted.iterdir() if self.handed_in(path.name, name))

    def handed_in(self, student: str, name: str) -> bool:
        """Whether a student has a folder for an assignment, or one that nobody can look into."""
        try:
            return (self.submitted / student / name).is_dir()
        except PermissionError:
            return True

    def counts(self, student: str, name: str) -> bool:
        """Whether a grade counts: its work is still there, or nothing ever came as files."""
        return not self.submitted.is_dir() or self.handed_in(student, name)

    def without(self, name: str) -> list[str]:
        """The students with a folder in submitted/ but none for this assignment."""
        if not self.submitted.is_dir():
            return []
        everybody = {path.name for path in self.submitted.iterdir() if path.is_dir()}
        return sorted(everybody - set(self.students(name)))

    def config(self, **options: object) -> Config:
        """nbgrader's settings: nbgrader_config.py, with this class's folders and these options.

        Options name traits with two underscores: ``Execute__timeout=20``.
        """
        from traitlets.config import Config, PyFileConfigLoader

        _ = self.settings  # a wrong line is a CourseError here, and the program's end in CONFIG_FILE
        settings = Config()
        if (self.root / CONFIG_FILE).exists():
            try:
                settings = PyFileConfigLoader(CONFIG_FILE, str(self.root)).load_config()
            except ImportError as error:
                raise CourseError(
                    f"{CONFIG_FILE} should be of the same version as the installed {program()} "
                    f"{the_course().version}, but {error.msg}. Update both, in the repository: git "
                    f"pull, and pip install '.[grading]'"
                ) from error
        folders = settings.CourseDirectory
        elsewhere = folders.get("db_url", "")
        if self.grading == CLASS and elsewhere not in ("", Course(self.root).gradebook_url):
            raise CourseError(
                f'The gradebook\'s address should be in {FILES[0]} (gradebook = "..."), but '
                f"{CONFIG_FILE} has another one. Move it there, and remove it from {CONFIG_FILE}."
            )
        folders.root = str(self.root)
        folders.source_directory = "solutions"
        folders.release_directory = "assignments"
        for stage in ("submitted", "autograded", "feedback", "solution", "source_with_tests"):
            folders[f"{stage}_directory"] = f"{self.grading}/{stage}"
        folders.db_url = self.gradebook_url
        # nbgrader requires an exchange folder; only shared servers use it.
        settings.Exchange.root = str(self.folder / "exchange")
        for option, value in options.items():
            section, trait = option.split("__")
            settings[section][trait] = value
        return settings

    def api(self, **options: object) -> NbGraderAPI:
        """nbgrader's Python API with these settings, without terminal output."""
        from nbgrader.apps.api import NbGraderAPI
        from traitlets.log import get_logger

        logger = get_logger()
        logger.propagate = False
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
        logger.addHandler(logging.NullHandler())
        logger.disabled = False  # other code in this process may have disabled it
        logger.setLevel(logging.INFO)  # release.last_line reads errors from this log
        return NbGraderAPI(config=self.config(**options))


def class_of(config: Config) -> Course:
    """The class that settings of nbgrader are about."""
    folders = config.CourseDirectory
    submitted = Path(str(folders.get("submitted_directory", "submitted")))
    return Course(Path(folders.get("root", "")), submitted.parent.as_posix())
