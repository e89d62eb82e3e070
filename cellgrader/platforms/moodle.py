"""Fill grades into the grading worksheet of a Moodle assignment, so that Moodle can import it.

The form is that of Moodle's source code (mod/assign/feedback/offline of moodle/moodle):

* the importer needs the columns Identifier ("Participant 4711"), Grade and Last modified (grade), and
  finds students by the number in Identifier;
* it skips a row whose grade is empty, above the maximum, or changed in Moodle after the time in
  Last modified (grade);
* a row whose grade a person locked says No under "Grade can be changed".

Only these columns and the names are written: Moodle leaves the feedback alone if its column is missing.

Moodle names the columns in the language of whoever exports, and reads them back in that of whoever
imports. The spellings below are those of its language packs; they stay as they are in what is written.
Participants and e-mail addresses are recognised by what is in their columns, in any language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.platforms.spreadsheet import MARK, harmless, number
from cellgrader.platforms.template import Filled, Grade, match, other_maximum, read_rows, written

NUMBER, GRADE, EMAIL = "Identifier", "Grade", "Email address"
NEEDED = (NUMBER, GRADE, "Last modified (grade)")
IDENTITIES = ("Username", "ID number", EMAIL)
MAXIMUM, MAY_CHANGE, NAME = "Maximum grade", "Grade can be changed", "Full name"
STATUS, SUBMITTED = "Status", "Last modified (submission)"
# A column's name in English, German, French and Spanish.
SPELLINGS = {
    NUMBER: ("Identifier", "ID", "Identifiant", "Identificador"),
    NAME: ("Full name", "Vollständiger Name", "Nom complet", "Nombre completo"),
    "Username": ("Username", "Anmeldename", "Nom d'utilisateur", "Nombre de usuario"),
    "ID number": ("ID number", "ID-Nummer", "Numéro d'identification", "Número de ID"),
    EMAIL: ("Email address", "E-Mail-Adresse", "Adresse de courriel", "Dirección de correo"),
    STATUS: ("Status", "Statut", "Estado"),
    GRADE: ("Grade", "Bewertung", "Note", "Calificación"),
    MAXIMUM: ("Maximum grade", "Bestwertung", "Note maximale", "Calificación máxima"),
    MAY_CHANGE: (
        "Grade can be changed", "Bewertung kann geändert werden", "La note peut être modifiée",
        "La calificación puede ser cambiada", "La calificación puede cambiarse",
    ),
    SUBMITTED: (
        "Last modified (submission)", "Zuletzt geändert (Abgabe)",
        "Dernière modification (travail remis)", "Última modificación (entrega)",
    ),
    NEEDED[2]: (
        "Last modified (grade)", "Zuletzt geändert (Bewertung)", "Dernière modification (note)",
        "Última modificación (calificación)",
    ),
}  # fmt: skip
LOCKED = ("no", "nein", "non")
# "Participant 4711", "Teilnehmer/in4711": one word for all, and the number.
PARTICIPANT = re.compile(r"(?P<word>[^\d@]{5,}?)\s*(?P<number>\d+)")


def find_columns(rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """The places of the columns of a worksheet, by their English names."""
    header = [_plain(name) for name in rows[0]]
    found = {}
    for name, spellings in SPELLINGS.items():
        places = [header.index(spelling) for spelling in map(_plain, spellings) if spelling in header]
        found |= {name: places[0]} if places else {}
    for index in reversed(range(len(header))):  # of several, the first column holds
        cells = [row[index].strip() for row in rows[1:] if row[index].strip()]
        words = {fits["word"] if (fits := PARTICIPANT.fullmatch(cell)) else "" for cell in cells}
        if len(words) == 1 and "" not in words:
            found[NUMBER] = index
        if cells and all("@" in cell for cell in cells):
            found.setdefault(EMAIL, index)
    return found


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).replace("’", "'").split()).casefold()


def participant(cell: str) -> str:
    """The number in a cell such as "Participant 4711", or the cell."""
    fits = PARTICIPANT.fullmatch(cell.strip())
    return fits["number"] if fits else cell.strip()


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
    places = find_columns(rows)
    missing = [name for name in NEEDED if name not in places]
    if missing:
        raise CourseError(
            f"{template.name} should be the grading worksheet of {assignment}, which Moodle exports "
            f"with the columns {', '.join(NEEDED)}, but it lacks {', '.join(missing)}. Allow the "
            f"offline grading worksheet in the assignment's settings, and export it in English, German, "
            f"French or Spanish."
        )
    place = places[GRADE]
    columns = [places[name] for name in IDENTITIES if name in places]

    def identities(row: list[str]) -> list[str]:
        return [participant(row[places[NUMBER]]), *(row[column] for column in columns)]

    where = (
        f"Moodle (no number in {NUMBER}, {', '.join(IDENTITIES[:-1])} or {IDENTITIES[-1]} is the same)"
    )
    found, sentences = match(rows[1:], identities, grades, where)
    done, locked = [], []
    lock = places.get(MAY_CHANGE)
    for grade, row in found:
        if lock is not None and row[lock].strip().casefold() in LOCKED:
            locked.append(grade.student)
            continue
        row[place] = number(grade.points)
        done.append(grade.student)
    if locked:
        sentences.append(f"Left as they are, because Moodle has locked the grades: {', '.join(locked)}.")
    if MAXIMUM in places and len(rows) > 1:
        sentences += other_maximum("Moodle", assignment, rows[1][places[MAXIMUM]], grades)
    kept = [places[name] for name in (*NEEDED, NAME) if name in places]
    table = [[row[i] if i != places.get(NAME) else harmless(row[i]) for i in kept] for row in rows]
    return Filled(MARK + written(table, separator), rows[0][place], tuple(done), tuple(sentences))
