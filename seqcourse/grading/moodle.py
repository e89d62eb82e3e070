"""Fill grades into the grading worksheet of a Moodle assignment, so that Moodle can import it.

The form is that of Moodle's source code (mod/assign/feedback/offline of moodle/moodle):

* the importer needs the columns Identifier ("Participant 4711"), Grade and Last modified (grade), and
  finds students by the number in Identifier;
* it skips a row whose grade is empty, above the maximum, or changed in Moodle after the time in
  Last modified (grade);
* a row whose grade a person locked says No under "Grade can be changed".

Only these columns and the names are written: Moodle leaves the feedback alone if its column is missing.
Moodle names the columns in the language of whoever exports; the names here are the English ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqcourse.errors import CourseError
from seqcourse.grading.spreadsheet import MARK, harmless, number
from seqcourse.grading.template import Filled, Grade, match, other_maximum, read_rows, written

NUMBER, GRADE = "Identifier", "Grade"
NEEDED = (NUMBER, GRADE, "Last modified (grade)")
IDENTITIES = ("Username", "ID number", "Email address")
MAXIMUM, MAY_CHANGE = "Maximum grade", "Grade can be changed"
NAME, PARTICIPANT = "Full name", "Participant "


def fill(template: Path, assignment: str, grades: Sequence[Grade]) -> Filled:
    """Fill the grades into a worksheet that Moodle exported.

    Args:
        template: the file from Moodle; each assignment has its own.
        assignment: for sentences, such as "ps1".
        grades: the grades to fill in. A student must match the number in Identifier, the Username, the
            ID number or the Email address exactly.
    Raises:
        CourseError: the file is not a grading worksheet.
    """
    rows, separator = read_rows(template, "Moodle")
    known = (*NEEDED, *IDENTITIES, MAXIMUM, MAY_CHANGE, NAME)
    spelled = {name.casefold(): name for name in known}
    header = [spelled.get(" ".join(name.split()).casefold(), name) for name in rows[0]]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise CourseError(
            f"{template.name} should be the grading worksheet of {assignment}, which Moodle exports "
            f"with the columns {', '.join(NEEDED)}, but it lacks {', '.join(missing)}. Allow the "
            f"offline grading worksheet in the assignment's settings, and export it in English."
        )
    place = header.index(GRADE)
    columns = [header.index(name) for name in IDENTITIES if name in header]

    def identities(row: list[str]) -> list[str]:
        own = row[header.index(NUMBER)].strip().removeprefix(PARTICIPANT)
        return [own, *(row[column] for column in columns)]

    where = (
        f"Moodle (no number in {NUMBER}, {', '.join(IDENTITIES[:-1])} or {IDENTITIES[-1]} is the same)"
    )
    found, sentences = match(rows[1:], identities, grades, where)
    done, locked = [], []
    lock = header.index(MAY_CHANGE) if MAY_CHANGE in header else None
    for grade, row in found:
        if lock is not None and row[lock].strip() == "No":
            locked.append(grade.student)
            continue
        row[place] = number(grade.points)
        done.append(grade.student)
    if locked:
        sentences.append(f"Left as they are, because Moodle has locked the grades: {', '.join(locked)}.")
    if MAXIMUM in header and len(rows) > 1:
        sentences += other_maximum("Moodle", assignment, rows[1][header.index(MAXIMUM)], grades)
    kept = [header.index(name) for name in (*NEEDED, NAME) if name in header]
    table = [[row[i] if header[i] != NAME else harmless(row[i]) for i in kept] for row in rows]
    return Filled(MARK + written(table, separator), GRADE, tuple(done), tuple(sentences))
