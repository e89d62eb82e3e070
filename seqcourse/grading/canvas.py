"""Fill grades into a CSV file that Canvas exported, so that Canvas can import it.

The format is documented by Canvas's source code (lib/gradebook_exporter.rb and
lib/gradebook_importer.rb of instructure/canvas-lms):

* the first columns identify the student: Student (or LastName, FirstName), ID, SIS User ID, SIS Login
  ID, optionally Integration ID and Root Account, and finally Section;
* an assignment's column is named by its title and number: "ps1 (12345)". Canvas does not change
  columns that are missing from the file;
* the rows above the students are "Points Possible" and optionally "Manual Posting";
* Canvas looks a student up by ID first; an empty cell deletes a grade, "EX" excuses the student.

The exported file is the template: one column is filled in, everything else is copied.
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
    """A final grade: the student's name in our gradebook, the points, and the maximum."""

    student: str
    points: float
    maximum: float


@dataclass(frozen=True)
class Filled:
    """The text of the file for Canvas, and sentences about what could not be filled in."""

    text: str
    column: str
    written: tuple[str, ...]
    sentences: tuple[str, ...]


def fill(template: Path, assignment: str, grades: Sequence[Grade], column: str = "") -> Filled:
    """Fill the column of an assignment in a file that Canvas exported.

    Args:
        template: the file from Canvas.
        assignment: for example "ps1". The column whose title begins with it is filled.
        grades: the grades to fill in. A student must match a SIS Login ID, ID or SIS User ID exactly.
        column: the column's full name, if the assignment's name does not identify it.
    Raises:
        CourseError: the file is not a Canvas export, or the column cannot be found.
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
    sentences += _different_maximum(rows, place, grades)
    text = io.StringIO()
    out = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    for row in rows:
        out.writerow([*_escape_names(header, row[: last + 1]), row[place]])
    return Filled(MARK + text.getvalue(), header[place], tuple(written), tuple(sentences))


def _escape_names(header: list[str], cells: list[str]) -> list[str]:
    """Escape formulas in names. IDs stay unchanged: Canvas uses them to look students up."""
    return [cell if "ID" in name else harmless(cell) for name, cell in zip(header, cells, strict=False)]


def _read(path: Path) -> tuple[list[list[str]], str]:
    """The rows of a Canvas file, and its column separator: a comma or a semicolon."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(
            f"{path.name} should be a CSV file in UTF-8, as Canvas exports it, but is not. "
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
    """The index of the last column that identifies the student."""
    if header[0] not in NAMES or "ID" not in header or LAST_IDENTITY not in header:
        raise CourseError(
            f"{path.name} should begin with the columns Student, ID, SIS Login ID and Section, as "
            f"Canvas exports them, but begins with {', '.join(header[:5])}."
        )
    return header.index(LAST_IDENTITY)


def _find_column(header: list[str], last: int, assignment: str, column: str, path: Path) -> int:
    """The index of the assignment's column: the named one, or the only one with its title."""
    if column:
        if column not in header[last + 1 :]:
            raise CourseError(
                f"{path.name} should have a column {column!r}, but has {_quoted(header[last + 1 :])}."
            )
        return header.index(column, last + 1)
    title_pattern = re.compile(rf"{re.escape(assignment)}(?!\w)", re.IGNORECASE)
    matches = [
        index
        for index, name in enumerate(header)
        if index > last and COLUMN.fullmatch(name) and title_pattern.match(name)
    ]
    if len(matches) != 1:
        many = _quoted([header[index] for index in matches]) if matches else "none"
        raise CourseError(
            f"{path.name} should have one column whose title begins with {assignment}, such as "
            f"'{assignment} (12345)', but has {many}. Create the assignment in Canvas and export "
            f"again, or name the column: --canvas-column '{assignment} (12345)'. "
            f"The columns are {_quoted(header[last + 1 :])}."
        )
    return matches[0]


def _quoted(columns: list[str]) -> str:
    return ", ".join(repr(column) for column in columns) or "none"


def _match(
    identities: list[str], rows: list[list[str]], grades: Sequence[Grade]
) -> tuple[list[tuple[Grade, list[str]]], list[str]]:
    """Pair each grade with the student's row; sentences report students with no row or several."""
    places = [identities.index(name) for name in IDENTITIES if name in identities]
    rows_of: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        for identity in {_normalized(row[place]) for place in places} - {""}:
            rows_of.setdefault(identity, []).append(index)
    found, unknown, unclear = [], [], []
    claimed: dict[int, list[str]] = {}
    for grade in grades:
        for index in rows_of.get(_normalized(grade.student), ()):
            claimed.setdefault(index, []).append(grade.student)
    for grade in grades:
        matches = rows_of.get(_normalized(grade.student), [])
        if not matches:
            unknown.append(grade.student)
        elif len(matches) > 1 or len(claimed[matches[0]]) > 1:
            unclear.append(grade.student)
        else:
            found.append((grade, rows[matches[0]]))
    sentences = []
    if unknown:
        sentences.append(
            f"Not in the file from Canvas (no {', '.join(IDENTITIES[:-1])} or {IDENTITIES[-1]} is "
            f"the same): {', '.join(unknown)}."
        )
    if unclear:
        sentences.append(f"Fits more than one row, so nothing was filled in: {', '.join(unclear)}.")
    return found, sentences


def _normalized(identity: str) -> str:
    """An ID in Unicode NFC, without surrounding spaces."""
    return unicodedata.normalize("NFC", identity.strip())


def _different_maximum(rows: list[list[str]], place: int, grades: Sequence[Grade]) -> list[str]:
    """A sentence if Canvas has a different maximum; nothing is scaled."""
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
