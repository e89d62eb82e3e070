"""Put the files of a learning platform's archive into submitted/STUDENT/psN.

Canvas's layout is that of its source code, Moodle's that of file names which programs for it read:

* Canvas: ``lovelaceada_4711_98765_ps2.ipynb``: the name, LATE if it was, the student's ID, the file's
  number, its name. The ID is the column "ID" of the gradebook that Canvas exports.
  A file is marked LATE if Canvas calls it late; the mark is kept in late.txt, see ``late``.
* Moodle: ``Ada Lovelace_4711_assignsubmission_file/ps2.ipynb``, or the same flat, with an underscore.
  The number is the participant's: "Participant 4711" in Moodle's grading worksheet.

An archive is untrusted: only regular files of bounded size are written, by their last name.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from seqcourse import bounds
from seqcourse.errors import CourseError
from seqcourse.grading.course import Course, remove
from seqcourse.grading.kept import APPEAL, MARK, MARKED, NEEDED
from seqcourse.grading.parse import shown

PATTERNS = {
    "canvas": re.compile(r"(?:[^/]*?_)??(?P<late>LATE_)?(?P<student>\d+)_\d+_(?P<file>[^/]+)"),
    "moodle": re.compile(
        r"(?P<late>)[^/]*?_(?P<student>\d+)_assignsubmission_file(?:_?/|_)(?:[^/]+/)*(?P<file>[^/]+)"
    ),
}
# The columns of the platforms' own tables: the number in file names, and the student's login.
COLUMNS = {
    "canvas": ("ID", ("SIS Login ID", "SIS User ID")),
    "moodle": ("Identifier", ("Username", "ID number", "Email address")),
}

# A platform may number a file that is handed in again.
APPEALS = re.compile(r"appeal(?:-\d+| \(\d+\))?\.md", re.I)
# What `zipfile` raises for files that are broken, cut off, encrypted or packed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
LONGEST = 255  # bytes of a file's name


@dataclass(frozen=True)
class Collected:
    """What an archive held.

    students: who handed in.
    late: who of them handed in late, according to the platform.
    unclear: files that are no student's work.
    double: students with several files of one name, of which the last counts: "ada (ps1.ipynb)".
    """

    students: tuple[str, ...]
    late: tuple[str, ...]
    unclear: tuple[str, ...]
    double: tuple[str, ...] = ()


def collect(
    course: Course, name: str, archive: Path, platform: str, roster: Path | None = None
) -> Collected:
    """Unpack an archive. A student who is in it gets a new folder; the others keep theirs.

    Args:
        platform: "canvas" or "moodle".
        roster: the platform's table of students; folders are then named by login, not by number.
    Raises:
        CourseError: not an archive of that platform.
    """
    if platform not in PATTERNS:
        raise CourseError(f"--from should be {' or '.join(PATTERNS)}, but is {platform!r}.")
    logins = _logins(roster, platform) if roster else {}
    files: dict[str, list[tuple[zipfile.ZipInfo, str]]] = {}
    late, unclear = set(), []
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in _entries(opened, archive):
                found = PATTERNS[platform].fullmatch(entry.filename)
                file = found["file"] if found else ""
                if len(file.encode()) > LONGEST or file in ("", ".", "..", MARK, *NEEDED):
                    unclear.append(shown(entry.filename))
                    continue
                file = APPEAL if APPEALS.fullmatch(file) else file
                student = logins.get(found["student"], found["student"])
                files.setdefault(student, []).append((entry, file))
                if found["late"]:
                    late.add(student)
            if not files:
                raise CourseError(
                    f"{archive.name} should be what {platform.title()} gives as all submissions, but no "
                    f"file in it is named like that: {', '.join(unclear[:3]) or 'it is empty'}."
                )
            course.make_folder()
            for student, entries in list(files.items()):
                folder = course.submitted / student / name
                try:
                    if {file for _, file in entries} == {APPEAL} and folder.is_dir():
                        _write_beside(opened, entries[-1][0], folder)
                        late.discard(student)
                    else:
                        _write(opened, entries, folder, student in late)
                except DAMAGED as error:
                    unclear.append(f"{student} (cannot be unpacked: {error})")
                    del files[student]
    except (OSError, *DAMAGED) as error:
        raise CourseError(f"{archive} should be a zip file, but cannot be read: {error}.") from None
    double = []
    for student, entries in sorted(files.items()):
        counts = Counter(file for _, file in entries)
        double += [f"{student} ({shown(file)})" for file in counts if counts[file] > 1]
    late &= files.keys()
    return Collected(tuple(sorted(files)), tuple(sorted(late)), tuple(unclear), tuple(double))


def _entries(opened: zipfile.ZipFile, archive: Path) -> Iterator[zipfile.ZipInfo]:
    """The files of an archive; CourseError if they are too many or too large."""
    entries = [entry for entry in opened.infolist() if not entry.is_dir()]
    size = sum(entry.file_size for entry in entries)
    too_large = size > 16 * bounds.FOLDER or any(each.file_size > bounds.FILE for each in entries)
    if len(entries) > bounds.FILES or too_large:
        raise CourseError(
            f"{archive.name} should hold at most {bounds.FILES:,} files of at most "
            f"{bounds.FILE >> 20} MiB, but has {len(entries):,} with {size >> 20:,} MiB together."
        )
    yield from entries


def _write(
    opened: zipfile.ZipFile, entries: list[tuple[zipfile.ZipInfo, str]], folder: Path, late: bool
) -> None:
    """Write a student's files to a new folder, which then takes the old one's place."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".collected-"))
    try:
        for entry, file in entries:
            with opened.open(entry) as source, (beside / file).open("wb") as target:
                shutil.copyfileobj(source, target)
        if late:
            (beside / MARK).write_text(f"{MARKED}.\n", encoding="utf-8")
        if folder.exists():
            remove(folder)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write_beside(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    """Put an appeal that came alone beside the work; it is no new version and not late."""
    handle, beside = tempfile.mkstemp(dir=folder, prefix=f".{APPEAL}.")
    try:
        with opened.open(entry) as source, os.fdopen(handle, "wb") as target:
            shutil.copyfileobj(source, target)
        os.replace(beside, folder / APPEAL)
    except BaseException:
        os.unlink(beside)
        raise


def _logins(path: Path, platform: str) -> Mapping[str, str]:
    """Number -> login, from a table that the platform exported."""
    number, columns = COLUMNS[platform]
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(
            f"{path} should be a CSV file in UTF-8, but cannot be read: {error}."
        ) from None
    header = rows[0].keys() if rows else ()
    login = next((column for column in columns if column in header), None)
    if number not in header or login is None:
        raise CourseError(
            f"{path.name} should have a column {number} and one of {', '.join(columns)}, as "
            f"{platform.title()} exports them, but has {', '.join(map(str, header)) or 'nothing'}."
        )
    pairs = ((row[number].removeprefix("Participant ").strip(), row[login].strip()) for row in rows)
    # A login becomes a folder's name.
    return {
        known: own for known, own in pairs if own and Path(own).name == own and own not in (".", "..")
    }
