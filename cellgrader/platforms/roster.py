"""Whose the numbers in a platform's file names are: its own table of students, with their logins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.platforms import moodle
from cellgrader.platforms.moodle_times import is_late, read_time
from cellgrader.platforms.template import normalized, read_rows

# The columns of the platforms' own tables: the number in file names, and the student's login.
COLUMNS = {
    "canvas": ("ID", ("SIS Login ID", "SIS User ID")),
    "moodle": (moodle.NUMBER, moodle.IDENTITIES),
}


@dataclass(frozen=True)
class Roster:
    """The students of a platform's table.

    logins: number -> logins, of which there should be one.
    times: number -> when the last version came, by the platform's clock, if the table says so.
    unread: numbers with something else in the place of a time.
    late: numbers of work that the table calls late.
    """

    logins: Mapping[str, set[str]] = field(default_factory=dict)
    times: Mapping[str, datetime] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()

    def folders(self, numbers: Iterable[str]) -> tuple[dict[str, str], list[str]]:
        """A folder's name for each number of an archive, and the numbers that have no clear one.

        A number without a login is its own name. Where a login is also another student's login or
        number, the work of both would come into one folder, now or with a later archive.
        """
        wanted = sorted(set(numbers))
        claims: dict[str, set[str]] = {}
        for number in {*self.logins, *wanted}:
            for name in {number, *self.logins.get(number, ())}:
                claims.setdefault(name.casefold(), set()).add(number)
        clear, unclear = {}, []
        for number in wanted:
            logins = self.logins.get(number) or {number}
            if len(logins) > 1 or any(len(claims[n.casefold()]) > 1 for n in {number, *logins}):
                unclear.append(number)
            else:
                (clear[number],) = logins
        return clear, unclear


def read_roster(path: Path, platform: str, emails: Mapping[str, str] | None = None) -> Roster:
    """The students of a table that a platform exported.

    Args:
        emails: the class's list, student -> e-mail address. Whose address is in the table has that name.
    Raises:
        CourseError: the file is not such a table.
    """
    (header, *rows), _ = read_rows(path, platform.title())
    number, columns = COLUMNS[platform]
    by_name = {" ".join(name.split()).casefold(): index for index, name in enumerate(header)}
    places = {
        name: by_name[name.casefold()] for name in (number, *columns) if name.casefold() in by_name
    }
    if platform == "moodle":
        places = moodle.find_columns([header, *rows])
    login = next((column for column in columns if column in places), None)
    if number not in places or login is None:
        raise CourseError(
            f"{path.name} should have a column {number} and one of {', '.join(columns)}, as "
            f"{platform.title()} exports them, but has {', '.join(header) or 'nothing'}."
        )
    named = {normalized(email): student for student, email in (emails or {}).items() if email}
    logins: dict[str, set[str]] = {}
    times, unread, late = {}, set(), set()
    for row in rows:
        known = normalized(moodle.participant(row[places[number]]))
        own = normalized(row[places[login]])
        given = [normalized(row[places[each]]) for each in columns if each in places]
        own = next((named[each] for each in given if each in named), own)
        # A login becomes a folder's name.
        if known and own and Path(own).name == own and own not in (".", ".."):
            logins.setdefault(known, set()).add(own)
        came = row[places[moodle.SUBMITTED]].strip(" -") if moodle.SUBMITTED in places else ""
        if time := read_time(came):
            times[known] = time
        elif came:
            unread.add(known)
        if moodle.STATUS in places and is_late(row[places[moodle.STATUS]]):
            late.add(known)
    return Roster(logins, times, frozenset(unread), frozenset(late))
