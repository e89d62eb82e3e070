"""How nbgrader's `autograde` saves a submission that has been mended, run and judged.

`seqcourse grade` saves with these steps, and so does `nbgrader autograde` by nbgrader_config.py.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from datetime import datetime, tzinfo
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import nbgrader.utils
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.apps.dbapp import DbAssignmentAddApp, DbAssignmentImportApp, DbBaseApp
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import LimitOutput, NbGraderPreprocessor, OverwriteCells

from cellgrader.course.records import unfit_name
from cellgrader.course.small_files import A_TIME, TIMESTAMP, kept, time
from cellgrader.course.snapshot import refused
from cellgrader.errors import CourseError
from cellgrader.marks.by_hand import HoldBack, SaveGrades
from cellgrader.marks.late import RenewPenalty, zone_of
from cellgrader.notebook.pictures import referred
from cellgrader.printable import printable
from cellgrader.profile import program, the_course

SANITIZE = [HoldBack, OverwriteCells]
# nbgrader's CheckCellMetadata is not among them: every mark was put back from the release, which it
# has checked.
AUTOGRADE = [LimitOutput, SaveGrades, RenewPenalty]


# What of a notebook's and of a cell's metadata is handed out; editors write names, outputs and times.
NOTEBOOK_KEYS = {"kernelspec": ("display_name", "language", "name"), "language_info": ("name",)}
CELL_KEYS = ("nbgrader", "tags", "editable", "deletable", "jupyter", "mystnb")


class HandOut(NbGraderPreprocessor):
    """Leaves in a released notebook known metadata, and the pictures that its text shows."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        for key in list(nb.metadata):
            known = NOTEBOOK_KEYS.get(key, ())
            nb.metadata[key] = {
                name: nb.metadata[key][name] for name in known if name in nb.metadata[key]
            }
            if not known:
                del nb.metadata[key]
        for cell in nb.cells:
            for key in set(cell.metadata) - set(CELL_KEYS):
                del cell.metadata[key]
            shown = referred(cell)
            kept = {name: each for name, each in cell.pop("attachments", {}).items() if name in shown}
            if kept:
                cell["attachments"] = kept
        return nb, resources


class WriteVersion(NbGraderPreprocessor):
    """Writes the course's version into a notebook that is released, for `mend` to compare."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        nb.metadata[program()] = {"version": the_course().version}
        return nb, resources


# What follows changes nbgrader itself, which has no settings for it.


def _existing_timestamp(self: CourseDirectory, folder: str) -> datetime | None:
    """The time of a submission. nbgrader would read a file of any size or kind."""
    content = kept(Path(folder)).get(TIMESTAMP)
    return None if content is None else time(content, zone_of(self.config))


def _submitted_timestamp(self: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    """The same for the formgrader's lists."""
    submitted = self.coursedir.submitted_directory
    return _existing_timestamp(
        self.coursedir, self.coursedir.format_path(submitted, student, assignment)
    )


def read_times(zone: tzinfo) -> None:
    """Let nbgrader read due dates as we read times. It takes any word for a zone, and means UTC."""
    nbgrader.utils.parse_utc = partial(_time, zone=zone)


def _time(given: datetime | str | None, zone: tzinfo) -> datetime | None:
    found = time(given.encode(), zone) if isinstance(given, str) else given and _parse_utc(given)
    if given and found is None:
        raise CourseError(f"A time should look like {A_TIME}, but is {given!r}.")
    return found


def _say_what_a_time_is(app: type[DbBaseApp]) -> None:
    """Let a command of nbgrader end with a sentence if a due date is not a time."""
    start = app.start

    def start_or_say(self: DbBaseApp) -> None:
        try:
            start(self)
        except CourseError as error:
            self.fail(str(error))

    app.start = start_or_say


def say_closed(self: BaseConverter) -> None:
    """Name the submissions that whoever grades may not read. nbgrader would pass over them silently."""
    folder = Path(self._format_source(self.coursedir.assignment_id, self.coursedir.student_id))
    everybody, wanted = folder.parent.parent, folder.parent.name
    for student in filter(Path.is_dir, sorted(everybody.iterdir())):
        with suppress(FileNotFoundError):  # not everybody hands in everything
            if fnmatch(student.name, wanted) and (why := refused(student / folder.name)):
                self.log.error("A submission could not be graded: %s.", why)


def _forget_time(folders: CourseDirectory, assignment: str, student: str) -> None:
    """Remove the time of an earlier hand-in from the gradebook: nbgrader would keep it."""
    with Gradebook(folders.db_url, folders.course_id) as gradebook, suppress(MissingEntry):
        gradebook.find_submission(assignment, student).timestamp = None
        gradebook.db.commit()


def _init_assignment(self: BaseConverter, assignment: str, student: str) -> None:
    """Copy only what is needed of a submission. nbgrader would copy all files, also through links."""
    if not isinstance(self, Autograde):
        return _copy_all(self, assignment, student)
    target = Path(self._format_dest(assignment, student))
    target.mkdir(parents=True, exist_ok=True)
    source = Path(self._format_source(assignment, student))
    found = kept(source)
    if TIMESTAMP not in found and os.path.lexists(source / TIMESTAMP):
        self.log.warning("%s: %s is not a time, such as %s", printable(student), TIMESTAMP, A_TIME)
        _forget_time(self.coursedir, assignment, student)
    for name, content in found.items():
        (target / name).unlink(missing_ok=True)
        (target / name).write_bytes(content)


def _only_the_assignment(self: BaseConverter) -> None:
    """Take psN.ipynb of the folder psN; nbgrader would take each notebook in it for a part."""
    _find_notebooks(self)
    for folder, found in self.assignments.items():
        name = f"{Path(folder).name}.ipynb"
        others = [path for path in found if Path(path).name != name]
        if len(others) < len(found):
            self.assignments[folder] = [path for path in found if path not in others]
            for path in others:
                self.log.warning("Passed over: %s. Only %s is the assignment.", path, name)


def _convert_notebooks(self: Autograde) -> None:
    """Pass over folders whose names would stop the class, and attempts beyond the last allowed one.

    Then end the workers of a ``plain.Reader``.
    """
    say_closed(self)
    unfit = {folder: unfit_name(Path(folder).parent.name) for folder in self.assignments}
    for folder in filter(unfit.get, unfit):
        self.log.error(unfit[folder])
        del self.assignments[folder]
    refusal = getattr(self.exporter, "refusal", None)  # of a ``plain.Reader`` only
    for folder in map(Path, list(self.assignments) if refusal else ()):
        why = refusal(folder.name, folder.parent.name)
        if why:
            self.log.warning("%s: %s", printable(folder.parent.name), why)
            del self.assignments[str(folder)]
    with ExitStack() as self.opened:
        BaseConverter.convert_notebooks(self)
    if any(unfit.values()):
        raise NbGraderException(
            "Some submissions were not graded: the names of their folders are unfit."
        )


_parse_utc = nbgrader.utils.parse_utc
for app in (DbAssignmentAddApp, DbAssignmentImportApp):
    _say_what_a_time_is(app)
NbGraderAPI.get_submitted_timestamp = _submitted_timestamp
_copy_all = BaseConverter.init_assignment
_find_notebooks = BaseConverter.init_notebooks
BaseConverter.init_notebooks = _only_the_assignment
CourseDirectory.get_existing_timestamp = _existing_timestamp
BaseConverter.init_assignment = _init_assignment
Autograde.convert_notebooks = _convert_notebooks
