"""Fill grades into a table that a learning platform exported, so that the platform can import it.

The exported table is the template: grades are filled into one column, everything else stays. Students
are matched by what the platform's own columns say, never by a guess.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.platforms.spreadsheet import number
from cellgrader.printable import printable

NUMBER = re.compile(r"(\d+)[.,](\d+)(?:[eE]\+?(\d+))?", re.ASCII)


@dataclass(frozen=True)
class Grade:
    """A final grade: the student's name in our gradebook, the points, the maximum, and the address."""

    student: str
    points: float
    maximum: float
    email: str = ""


@dataclass(frozen=True)
class Filled:
    """The text of the file for the platform, and sentences about what could not be filled in."""

    text: str
    column: str
    written: tuple[str, ...]
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(map(printable, self.sentences)))


def read_rows(path: Path, platform: str) -> tuple[list[list[str]], str]:
    """The rows of an exported table, all of one width, and its separator: a comma or a semicolon.

    Blank rows are left out, short ones filled up.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(
            f"{path.name} should be a CSV file in UTF-8, as {platform} exports it, but is not. "
            f"Export it again, and do not save it from a spreadsheet."
        ) from None
    except OSError as error:
        raise CourseError(
            f"{path} should be the CSV file that {platform} exported, but cannot be read: "
            f"{error.strerror}."
        ) from None
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise CourseError(f"{path.name} should be a CSV file, but cannot be read: {error}.") from None
    rows = [row for row in rows if any(map(str.strip, row))]
    if not rows:
        raise CourseError(f"{path.name} should be the CSV file that {platform} exported, but is empty.")
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows], separator


def match(
    rows: list[list[str]],
    identities: Callable[[list[str]], Sequence[str]],
    grades: Sequence[Grade],
    where: str,
) -> tuple[list[tuple[Grade, list[str]]], list[str]]:
    """Pair each grade with the student's row; sentences report students with no row or several.

    Args:
        identities: what a row says of who it is about; a student's name must be one of these.
        where: the file and its columns, for the sentence about students that are not in it.
    """
    rows_of: dict[str, set[int]] = {}
    for index, row in enumerate(rows):
        for identity in set(map(normalized, identities(row))) - {""}:
            rows_of.setdefault(identity, set()).add(index)
    found, unknown, unclear = [], [], []
    claimed: dict[int, list[str]] = {}
    names = [{normalized(grade.student), normalized(grade.email)} for grade in grades]
    rows_for = [sorted({row for name in each for row in rows_of.get(name, ())}) for each in names]
    for grade, matches in zip(grades, rows_for, strict=True):
        for index in matches:
            claimed.setdefault(index, []).append(grade.student)
    for grade, matches in zip(grades, rows_for, strict=True):
        if not matches:
            unknown.append(grade.student)
        elif len(matches) > 1 or len(claimed[matches[0]]) > 1:
            unclear.append(grade.student)
        else:
            found.append((grade, rows[matches[0]]))
    sentences = []
    if unknown:
        sentences.append(f"Not in the file from {where}: {', '.join(unknown)}.")
    if unclear:
        sentences.append(f"Fits more than one row, so nothing was filled in: {', '.join(unclear)}.")
    return found, sentences


def normalized(identity: str) -> str:
    """An ID in Unicode NFC, without surrounding spaces; a number as it was before a spreadsheet.

    In an e-mail address, capital letters say nothing.
    """
    found = unicodedata.normalize("NFC", whole_number(identity.strip()))
    return found.lower() if "@" in found else found


def whole_number(cell: str) -> str:
    """A number that a spreadsheet wrote as 4711.0 or 4.711E+03 as 4711, if no digit can be lost."""
    fits = NUMBER.fullmatch(cell)
    if fits is None:
        return cell
    whole, digits, power = fits.groups()
    if power and int(power) == len(digits):
        return whole + digits
    return cell if power or digits.strip("0") else whole


def other_maximum(platform: str, column: str, there: str, grades: Sequence[Grade]) -> list[str]:
    """A sentence if the platform has a different maximum; nothing is scaled."""
    here = {number(grade.maximum) for grade in grades}
    if not there.strip() or not here or _value(there) in here:
        return []
    return [
        f"{platform} says that {column} has {there} points, but it has {', '.join(sorted(here))} "
        f"here. Nothing was scaled: change it in {platform}."
    ]


def _value(cell: str) -> str:
    try:
        return number(float(cell.replace(",", ".")))
    except ValueError:
        return cell


def written(rows: list[list[str]], separator: str) -> str:
    """The rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
