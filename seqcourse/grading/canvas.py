"""The form in which Canvas imports grades.

Canvas exports its gradebook as a CSV file and imports the same file back. What is relied on here was
read in Canvas's own source (lib/gradebook_exporter.rb and lib/gradebook_importer.rb of
instructure/canvas-lms):

* the first columns say who it is: Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID,
  perhaps Integration ID and Root Account, and last Section;
* an assignment's column is called by its title and its number: "ps1 (12345)". Columns that are left
  out are left as they are in Canvas;
* before the students stand a row with "Points Possible", and perhaps one with "Manual Posting";
* a student is looked up by ID first; an empty cell takes a grade away, "EX" excuses.

So nothing is written from scratch: a file that Canvas exported is the template, one column of it is
filled, and what is not ours stays as it was.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading.spreadsheet import MARK, harmless, number

NAMES = ("Student", "LastName")
IDENTITIES = ("SIS Login ID", "ID", "SIS User ID")
LAST_IDENTITY = "Section"
POINTS = "Points Possible"
EXCUSED = "EX"
COLUMN = re.compile(r"(?P<title>.*) \((?P<number>\d+)\)")


@dataclass(frozen=True)
class Grade:
    """A finished grade: the student's name in our gradebook, points, and how many there are."""

    student: str
    points: float
    maximum: float


@dataclass(frozen=True)
class Filled:
    """The file for Canvas, and sentences about what could not be filled in."""

    text: str
    column: str
    written: tuple[str, ...]
    sentences: tuple[str, ...]


def fill(template: Path, assignment: str, grades: Sequence[Grade], column: str = "") -> Filled:
    """Fill the column of an assignment in a file that Canvas exported.

    Args:
        template: the file from Canvas.
        assignment: "ps1"; finds the column, unless ``column`` names it.
        grades: what to fill in. Students are found by SIS Login ID, ID or SIS User ID; nobody is
            guessed.
    Raises:
        CourseError: the file is none of Canvas's, or the column is not to be found.
    """
    rows, separator = _read(template)
    header = rows[0]
    last = _last_identity(header, template)
    place = _find_column(header, last, assignment, column, template)
    width = max(len(header), *(len(row) for row in rows))
    rows = [row + [""] * (width - len(row)) for row in rows]
    students = [row for row in rows[1:] if POINTS not in row[0] and any(map(str.strip, row[: last + 1]))]
    found, sentences = _match(header[: last + 1], students, grades)
    written = []
    excused = []
    for grade, row in found:
        if row[place].strip().upper() == EXCUSED:
            excused.append(grade.student)
            continue
        row[place] = number(grade.points)
        written.append(grade.student)
    if excused:
        sentences.append(f"Left as excused (EX) in Canvas: {', '.join(excused)}.")
    sentences += _other_maximum(rows, place, grades)
    text = io.StringIO()
    out = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    for row in rows:
        out.writerow([*_harmless_names(header, row[: last + 1]), row[place]])
    return Filled(MARK + text.getvalue(), header[place], tuple(written), tuple(sentences))


def _harmless_names(header: list[str], cells: list[str]) -> list[str]:
    """Names that are no formulas. The identities stay as they are: Canvas looks students up by them."""
    return [cell if "ID" in name else harmless(cell) for name, cell in zip(header, cells, strict=False)]


def _read(path: Path) -> tuple[list[list[str]], str]:
    """The rows of a file from Canvas, and what separates its columns: a comma or a semicolon."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(
            f"{path.name} should be a CSV file in UTF-8, as Canvas exports it, but is none. "
            f"Export it again, and do not save it from a spreadsheet."
        ) from None
    except OSError as error:
        raise CourseError(
            f"{path} should be the CSV file that Canvas exported, but cannot be read: {error.strerror}."
        ) from None
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    if not rows:
        raise CourseError(f"{path.name} should be the CSV file that Canvas exported, but is empty.")
    return rows, separator


def _last_identity(header: list[str], path: Path) -> int:
    """Where the columns that say who it is end."""
    if header[0] not in NAMES or "ID" not in header or LAST_IDENTITY not in header:
        raise CourseError(
            f"{path.name} should begin with the columns Student, ID, SIS Login ID and Section, as "
            f"Canvas exports them, but begins with {', '.join(header[:5])}."
        )
    return header.index(LAST_IDENTITY)


def _find_column(header: list[str], last: int, assignment: str, column: str, path: Path) -> int:
    """Where the assignment's column is: the one that is named, or the only one with its title."""
    if column:
        if column not in header[last + 1 :]:
            raise CourseError(
                f"{path.name} should have a column {column!r}, but has {_shown(header[last + 1 :])}."
            )
        return header.index(column, last + 1)
    begins = re.compile(rf"{re.escape(assignment)}(?!\w)", re.IGNORECASE)
    fitting = [
        index
        for index, name in enumerate(header)
        if index > last and COLUMN.fullmatch(name) and begins.match(name)
    ]
    if len(fitting) != 1:
        many = _shown([header[index] for index in fitting]) if fitting else "none"
        raise CourseError(
            f"{path.name} should have one column whose title begins with {assignment}, such as "
            f"'{assignment} (12345)', but has {many}. Create the assignment in Canvas and export "
            f"again, or name the column: --canvas-column '{assignment} (12345)'. "
            f"The columns are {_shown(header[last + 1 :])}."
        )
    return fitting[0]


def _shown(columns: list[str]) -> str:
    return ", ".join(repr(column) for column in columns) or "none"


def _match(
    identities: list[str], rows: list[list[str]], grades: Sequence[Grade]
) -> tuple[list[tuple[Grade, list[str]]], list[str]]:
    """The row of each student, and sentences about those who have none, or more than one."""
    places = [identities.index(name) for name in IDENTITIES if name in identities]
    rows_of: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        for identity in {_plain(row[place]) for place in places} - {""}:
            rows_of.setdefault(identity, []).append(index)
    found, unknown, unclear = [], [], []
    claimed: dict[int, list[str]] = {}
    for grade in grades:
        for index in rows_of.get(_plain(grade.student), ()):
            claimed.setdefault(index, []).append(grade.student)
    for grade in grades:
        fitting = rows_of.get(_plain(grade.student), [])
        if not fitting:
            unknown.append(grade.student)
        elif len(fitting) > 1 or len(claimed[fitting[0]]) > 1:
            unclear.append(grade.student)
        else:
            found.append((grade, rows[fitting[0]]))
    sentences = []
    if unknown:
        sentences.append(
            f"Not in the file from Canvas (no {', '.join(IDENTITIES[:-1])} or {IDENTITIES[-1]} is "
            f"the same): {', '.join(unknown)}."
        )
    if unclear:
        sentences.append(f"Fits more than one row, so nothing was filled in: {', '.join(unclear)}.")
    return found, sentences


def _plain(identity: str) -> str:
    """An identity without spaces around it, its accents composed in one way."""
    return unicodedata.normalize("NFC", identity.strip())


def _other_maximum(rows: list[list[str]], place: int, grades: Sequence[Grade]) -> list[str]:
    """A sentence if Canvas counts other points than we do; nothing is scaled."""
    here = {number(grade.maximum) for grade in grades}
    for row in rows[1:]:
        there = row[place].strip()
        if POINTS in row[0] and there and here and _value(there) not in here:
            return [
                f"Canvas says that {rows[0][place]} has {there} points, but it has "
                f"{', '.join(sorted(here))} here. Nothing was scaled: change it in Canvas."
            ]
    return []


def _value(cell: str) -> str:
    try:
        return number(float(cell.replace(",", ".")))
    except ValueError:
        return cell
