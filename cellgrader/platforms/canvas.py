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

import re
from collections.abc import Sequence
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.platforms.spreadsheet import MARK, harmless, number
from cellgrader.platforms.template import (
    Filled,
    Grade,
    match,
    other_maximum,
    read_rows,
    whole_number,
    written,
)

NAMES = ("Student", "LastName")
IDENTITIES = ("SIS Login ID", "ID", "SIS User ID")
LAST_IDENTITY = "Section"
POINTS = "Points Possible"
EXCUSED = "EX"
COLUMN = re.compile(r"(?P<title>.*) \((?P<number>\d+)\)")


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
    rows, separator = read_rows(template, "Canvas")
    header = rows[0]
    last = _last_identity(header, template)
    place = _find_column(header, last, assignment, column, template)
    places = [header.index(name) for name in IDENTITIES if name in header[: last + 1]]
    for row in rows[1:]:
        for index in places:
            row[index] = whole_number(row[index])
    students = [row for row in rows[1:] if POINTS not in row[0] and any(map(str.strip, row[: last + 1]))]
    where = f"Canvas (no {', '.join(IDENTITIES[:-1])} or {IDENTITIES[-1]} is the same)"
    found, sentences = match(students, lambda row: [row[place] for place in places], grades, where)
    done = []
    excused = []
    for grade, row in found:
        if row[place].strip().upper() == EXCUSED:
            excused.append(grade.student)
            continue
        row[place] = number(grade.points)
        done.append(grade.student)
    if excused:
        sentences.append(f"Left as excused (EX) in Canvas: {', '.join(excused)}.")
    possible = next((row[place] for row in rows[1:] if POINTS in row[0]), "")
    sentences += other_maximum("Canvas", header[place], possible, grades)
    table = [[*_escape_names(header, row[: last + 1]), row[place]] for row in rows]
    return Filled(MARK + written(table, separator), header[place], tuple(done), tuple(sentences))


def _escape_names(header: list[str], cells: list[str]) -> list[str]:
    """Escape formulas in names. IDs stay unchanged: Canvas uses them to look students up."""
    return [cell if "ID" in name else harmless(cell) for name, cell in zip(header, cells, strict=False)]


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
