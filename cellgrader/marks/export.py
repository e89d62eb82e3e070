"""Export the grades of an assignment: as a CSV table, or in the form that Canvas imports.

`seqcourse export` calls this, and so does nbgrader's own command:

    nbgrader export --exporter=cellgrader.marks.export.TableExport --assignment="['ps1']"
    nbgrader export --exporter=cellgrader.marks.export.CanvasExport --assignment="['ps1']" \
        --CanvasExport.template=from_canvas.csv
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.plugins import ExportPlugin
from traitlets import Unicode

from cellgrader.course.gradebook import handed_in, opened
from cellgrader.errors import CourseError
from cellgrader.marks import in_gradebook
from cellgrader.marks.by_hand import CHANGED, WAITS, counted, pending
from cellgrader.marks.late import renew_penalties
from cellgrader.marks.late_days import Account
from cellgrader.notebook import document as notebooks
from cellgrader.platforms import canvas
from cellgrader.platforms.spreadsheet import MARK, harmless, number
from cellgrader.platforms.template import Grade
from cellgrader.printable import printable
from cellgrader.profile import program

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment

    from cellgrader.course.folders import Course
    from cellgrader.course.records import Record

NOTHING = "nothing handed in"
UNGRADED = "not graded yet"
GRADED = "graded"
REMOVED = "removed"
GONE = "The folder is no longer in submitted/, so its grade does not count. Put it back if it should."


@dataclass(frozen=True)
class Line:
    """One student's grade.

    cells: points per graded cell, None if the cell still needs manual grading.
    changed: cells that were graded by hand before the answer changed.
    days: the student's late days, where the class gives some.
    """

    student: str
    first_name: str
    last_name: str
    email: str
    status: str
    sentence: str
    handed_in: str
    cells: Mapping[str, float | None]
    penalty: float
    maximum: float
    changed: tuple[str, ...] = ()
    days: Account = Account()

    @property
    def has_grade(self) -> bool:
        return bool(self.cells)

    @property
    def waits(self) -> bool:
        """Whether a cell still needs manual grading."""
        return any(points is None for points in self.cells.values())

    @property
    def waits_for(self) -> str:
        """What the grade waits for, in words; "" if it is final."""
        changed = f"{', '.join(self.changed)} {CHANGED}" if self.changed else ""
        new = sum(points is None for points in self.cells.values()) > len(self.changed)
        return ", ".join(part for part in (WAITS if new else "", changed) if part)

    @property
    def points(self) -> float:
        """The points before the late penalty."""
        return sum(points or 0.0 for points in self.cells.values())

    @property
    def total(self) -> float:
        return in_gradebook.total(self.points, self.penalty)


def read_lines(
    gradebook: Gradebook,
    assignment: str,
    records: Mapping[str, Record] | None = None,
    there: Callable[[str], bool] = lambda student: True,
) -> list[Line]:
    """One line per student in the gradebook or the records, sorted by name.

    Students who handed nothing in are included.

    Args:
        records: the records of `seqcourse grade`, by student.
        there: whether a student's folder is still in submitted/; without it, no grade counts.
    Raises:
        CourseError: the assignment is not in the gradebook.
    """
    from nbgrader.api import MissingEntry

    try:
        maximum = in_gradebook.maximum_of(gradebook.find_assignment(assignment))
    except MissingEntry:
        known = ", ".join(sorted(known.name for known in gradebook.assignments)) or "none"
        raise CourseError(
            f"{assignment!r} should be an assignment in the gradebook, but it has {known}. "
            f"Grade first: {program()} grade {assignment}"
        ) from None
    records = records or {}
    submissions = handed_in(gradebook, assignment)
    known = {student.id: student for student in gradebook.students}
    lines = []
    for student in sorted(known.keys() | records.keys()):
        person, record = known.get(student), records.get(student)
        submission = submissions.get(student)
        record = record and in_gradebook.as_found(record, submission)
        if not in_gradebook.is_graded(submission):
            submission = None
        removed = bool(submission or record) and not there(student)
        if removed or record is not None and not record.has_grade:
            submission = None
        status = record.status if record else GRADED if submission else NOTHING
        grades = in_gradebook.grades_of(submission)
        lines.append(
            Line(
                student=student,
                first_name=(person and person.first_name) or "",
                last_name=(person and person.last_name) or "",
                email=(person and person.email) or "",
                status=REMOVED if removed else status,
                sentence=GONE if removed else record.told if record else "",
                handed_in=_timestamp(submission),
                cells={grade.name: None if pending(grade) else counted(grade) for grade in grades},
                penalty=in_gradebook.penalty_of(submission),
                maximum=maximum,
                changed=tuple(grade.name for grade in grades if pending(grade) == CHANGED),
            )
        )
    return sorted(lines, key=lambda line: (line.last_name.casefold(), line.first_name, line.student))


def _timestamp(submission: SubmittedAssignment | None) -> str:
    return f"{submission.timestamp:%Y-%m-%d %H:%M:%S}" if submission and submission.timestamp else ""


def as_table(lines: Sequence[Line], assignment: str) -> str:
    """The lines as CSV (RFC 4180), one column per graded cell."""
    names = list(dict.fromkeys(name for line in lines for name in line.cells))
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\r\n")
    days = ["late_days", "late_days_left"] if any(line.days.days for line in lines) else []
    out.writerow(
        ["student", "last_name", "first_name", "email", "assignment", "handed_in", *names]
        + ["points", "late_penalty", *days, "total", "maximum", "status", "sentence"]
    )
    for line in lines:
        cells = [number(line.cells[name]) if line.cells.get(name) is not None else "" for name in names]
        spent = (line.days.here(assignment), line.days.left) if days else ()
        sums = [
            number(value) if line.has_grade else ""
            for value in (line.points, line.penalty, *spent, line.total)
        ]
        status = ", ".join(part for part in (line.status, line.waits_for) if part)
        texts = [line.student, line.last_name, line.first_name, line.email, assignment, line.handed_in]
        out.writerow(
            [*map(harmless, texts), *cells, *sums, number(line.maximum), status, harmless(line.sentence)]
        )
    return file.getvalue()


def write_table(lines: Sequence[Line], assignment: str, path: Path) -> None:
    """Write the table with a byte order mark, so that spreadsheets read it as UTF-8."""
    notebooks.write_text(path, MARK + as_table(lines, assignment))


def read_course(course: Course, assignment: str) -> list[Line]:
    """The lines of an assignment, with current penalties and records."""

    from cellgrader.course.gradebook import open_gradebook
    from cellgrader.course.records import UNCLEAR, read_record
    from cellgrader.marks.history import note
    from cellgrader.submission.partners import find_submissions

    course.require(assignment)

    open_gradebook(course)
    submissions = find_submissions(course, assignment)

    def there(student: str) -> bool:
        return any(course.counts(who, assignment) for who in submissions.of(student).members)

    records = {}
    folder = course.records / assignment
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        record = read_record(course, assignment, path.stem)
        # Whoever was named by mistake has nothing to be unclear about any more.
        if record is not None and (record.status != UNCLEAR or there(path.stem)):
            records[path.stem] = record

    note(course, assignment)
    with opened(course) as gradebook:
        if not read_lines(gradebook, assignment, records, there):
            return []
        days = renew_penalties(gradebook, assignment, course.config())
        lines = read_lines(gradebook, assignment, records, there)

    def status(line: Line) -> str:
        members = submissions.of(line.student).members if line.status == NOTHING else ()
        came = any(course.handed_in(who, assignment) for who in members)
        return UNGRADED if came else line.status

    return [replace(line, days=days.of(line.student), status=status(line)) for line in lines]


class TableExport(ExportPlugin):
    """nbgrader exporter for the table: `--to FILE`, ps1.csv for ps1 by default."""

    def export(self, gradebook: Gradebook) -> None:
        for name in _assignments(self, gradebook):
            renew_penalties(gradebook, name, self.config)
            lines = _select(read_lines(gradebook, name), self.student)
            path = Path(self.to or f"{name}.csv")
            write_table(lines, name, path)
            self.log.info("Wrote %s", path)


class CanvasExport(ExportPlugin):
    """nbgrader exporter for Canvas: fills one assignment into a file that Canvas exported."""

    template = Unicode("", help="The CSV file that Canvas exported.").tag(config=True)
    column = Unicode("", help='The column to fill, such as "ps1 (12345)".').tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        (name,) = _assignments(self, gradebook)
        if not self.template:
            raise CourseError(
                "CanvasExport.template should name the CSV file that Canvas exported, but is empty. "
                "Add --CanvasExport.template=FILE"
            )
        renew_penalties(gradebook, name, self.config)
        lines = _select(read_lines(gradebook, name), self.student)
        filled = canvas.fill(Path(self.template), name, final_grades(lines), self.column)
        path = Path(self.to or f"canvas-{name}.csv")
        notebooks.write_text(path, filled.text)
        for sentence in [*left_out(lines), *filled.sentences]:
            self.log.warning(sentence)
        self.log.info("Wrote %s", path)


def _assignments(plugin: ExportPlugin, gradebook: Gradebook) -> list[str]:
    """A list with the one assignment to export."""
    names = [str(name) for name in plugin.assignment] or [known.name for known in gradebook.assignments]
    if len(names) != 1:
        raise CourseError(
            f"One assignment should be exported at a time, but there are {', '.join(names) or 'none'}. "
            f"""Name one: --assignment="['ps1']\""""
        )
    return names


def _select(lines: Iterable[Line], students: Sequence[object]) -> list[Line]:
    wanted = {str(student) for student in students}
    return [line for line in lines if not wanted or line.student in wanted]


def final_grades(lines: Iterable[Line]) -> list[Grade]:
    """The grades that wait for nobody."""
    return [
        Grade(line.student, line.total, line.maximum, line.email)
        for line in lines
        if line.has_grade and not line.waits
    ]


def left_out(lines: Iterable[Line]) -> list[str]:
    """Sentences that name the students whose grade is not final."""
    lines = list(lines)
    waiting = [line.student for line in lines if line.waits and not line.changed]
    changed = [line.student for line in lines if line.changed]
    parts = (f"a part {WAITS}", waiting), (f"an answer {CHANGED}", changed)
    return [printable(f"Left out, because {why}: {', '.join(those)}.") for why, those in parts if those]
