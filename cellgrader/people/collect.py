"""Put the files of a learning platform's archive into submitted/STUDENT/psN.

Canvas's layout is that of its source code, Moodle's that of file names which programs for it read:

* Canvas: ``lovelaceada_4711_98765_ps2.ipynb``: the name, LATE if it was, the student's ID, the file's
  number, its name. The ID is the column "ID" of the gradebook that Canvas exports.
  If a student handed in several files of one name, the one with the highest number is the last.
  A file is marked LATE if Canvas calls it late; the mark is kept in late.txt, see ``late``.
* Moodle: ``Ada Lovelace_4711_assignsubmission_file/ps2.ipynb``, or the same flat, with an underscore.
  A student's folders in it are kept only where several files have one name, for the grader to choose.
  The number is the participant's: "Participant 4711" in Moodle's grading worksheet.

An archive is untrusted: only regular files of bounded size are written, below the student's folder.
"""

from __future__ import annotations

import lzma
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from cellgrader import bounds
from cellgrader.course.folders import Course, remove
from cellgrader.course.small_files import APPEAL, MARK, MARKED, NEEDED, TIMESTAMP
from cellgrader.errors import CourseError
from cellgrader.notebook.document import writing
from cellgrader.notebook.parse import shown
from cellgrader.people.enrolment import class_list
from cellgrader.platforms.giving_back import PATTERNS, keep_name
from cellgrader.platforms.roster import Roster, read_roster

# A platform may number a file that is handed in again.
APPEALS = re.compile(r"appeal(?:-\d+| \(\d+\))?\.md", re.I)
# What `zipfile` raises for files that are broken, cut off, encrypted or packed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError)
# A folder of a participant whose name looks like another participant's folder: names are free.
TWICE = re.compile(r"[^/]*_\d+_assignsubmission_file_[^/]*_\d+_assignsubmission_file_?/")
LONGEST = 255  # bytes of a file's name


@dataclass(frozen=True)
class Collected:
    """What an archive held.

    students: who handed in.
    late: who of them handed in late, according to the platform.
    unclear: files that are no student's work.
    double: students with several files of one name, of which the last counts: "ada (ps1.ipynb)".
    beside: students with several files of one name, all kept in folders: "ada (old/ps1.ipynb)".
    refused: numbers whose login is also another student's, so nothing of theirs was written.
    unknown: numbers without a login in the roster, which name the folders.
    timed: for whom the roster says when the work came.
    unread: students for whom it says something else in that place.
    """

    students: tuple[str, ...]
    late: tuple[str, ...]
    unclear: tuple[str, ...]
    double: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class _File(NamedTuple):
    """A file of a student: its entry in the archive, its name here, and the folders that it was in.

    beginning: what the platform wrote before the folders and the name.
    """

    entry: zipfile.ZipInfo
    beginning: str
    name: str
    folders: str = ""

    @property
    def path(self) -> str:
        return f"{self.folders}{self.name}"


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
    known = read_roster(roster, platform, class_list(course)) if roster else Roster()
    try:
        with zipfile.ZipFile(archive) as opened:
            found, late, unclear = _found(opened, archive, platform)
            if not found:
                raise CourseError(
                    f"{archive.name} should be what {platform.title()} gives as all submissions, but no "
                    f"file in it is named like that: {', '.join(unclear[:3]) or 'it is empty'}."
                )
            names, refused = known.folders(found)
            late = {names[number] for number in (late | known.late) & names.keys()}
            times = {names[number]: known.times[number] for number in names.keys() & known.times.keys()}
            late -= times.keys()  # a time says it better
            files = {names[number]: _chosen(found[number]) for number in names}
            course.make_folder()
            for student, entries in list(files.items()):
                folder = course.submitted / student / name
                when = _when(course, student in late, times.get(student))
                try:
                    if {file.name for file in entries} == {APPEAL} and folder.is_dir():
                        _write_beside(opened, entries[-1].entry, folder)
                        late.discard(student)
                    else:
                        _write(opened, entries, folder, when)
                    keep_name(course, name, student, entries[-1].beginning)
                except (*DAMAGED, OSError, ValueError) as error:
                    unclear.append(f"{student} (cannot be unpacked: {error})")
                    del files[student]
    except (OSError, *DAMAGED) as error:
        raise CourseError(f"{archive} should be a zip file, but cannot be read: {error}.") from None
    double, beside = [], []
    for student, entries in sorted(files.items()):
        counts = Counter(file.path for file in entries)
        double += [f"{student} ({shown(file)})" for file in counts if counts[file] > 1]
        beside += [f"{student} ({shown(file)})" for file in counts if "/" in file]
    return Collected(
        tuple(sorted(files)),
        tuple(sorted(late & files.keys())),
        tuple(unclear),
        tuple(double),
        tuple(beside),
        tuple(refused),
        tuple(sorted(names.keys() - known.logins.keys())) if roster else (),
        tuple(sorted(times.keys() & files.keys())),
        tuple(sorted(names[number] for number in names.keys() & known.unread)),
    )


def _found(
    opened: zipfile.ZipFile, archive: Path, platform: str
) -> tuple[dict[str, list[tuple[str, _File]]], set[str], list[str]]:
    """The files by student, who is late, and the names that are not the platform's."""
    found: dict[str, list[tuple[str, _File]]] = {}
    late, unclear = set(), []
    for entry in _entries(opened, archive):
        fits = PATTERNS[platform].fullmatch(entry.filename)
        is_fine = fits and _is_fine(fits["folders"], fits["file"])
        if not is_fine or TWICE.match(entry.filename) or entry.file_size > bounds.FILE:
            unclear.append(shown(entry.filename))
            continue
        is_appeal = APPEALS.fullmatch(fits["file"])
        whose = (entry, entry.filename[: fits.start("folders")])
        file = _File(*whose, APPEAL) if is_appeal else _File(*whose, fits["file"], fits["folders"])
        found.setdefault(fits["student"], []).append((fits["number"], file))
        if fits["late"]:
            late.add(fits["student"])
    return found, late, unclear


def _is_fine(folders: str, file: str) -> bool:
    """Whether a student's file may be written; not one that only nbgrader and we write."""
    parts = [*folders.split("/")[:-1], file]
    names = all(part.strip(". ") and len(part.encode()) <= LONGEST for part in parts)
    fits = len(parts) <= bounds.DEPTH and len(folders.encode()) <= 4 * LONGEST
    return names and fits and file not in (MARK, *NEEDED)


def _chosen(found: list[tuple[str, _File]]) -> list[_File]:
    """A student's files, that with the highest number last; in folders only where names are alike."""
    files = [file for _, file in sorted(found, key=lambda each: (len(each[0]), each[0]))]
    places: dict[str, set[str]] = {}
    for file in files:
        places.setdefault(file.name, set()).add(file.folders)
    return [file if len(places[file.name]) > 1 else file._replace(folders="") for file in files]


def _entries(opened: zipfile.ZipFile, archive: Path) -> Iterator[zipfile.ZipInfo]:
    """The files of an archive; CourseError if they are too many or too large."""
    entries = [entry for entry in opened.infolist() if not entry.is_dir()]
    size = sum(entry.file_size for entry in entries if entry.file_size <= bounds.FILE)
    if len(entries) > bounds.FILES or size > 16 * bounds.FOLDER:
        raise CourseError(
            f"{archive.name} should hold at most {bounds.FILES:,} files of together at most "
            f"{16 * bounds.FOLDER >> 20:,} MiB, but has {len(entries):,} with {size >> 20:,} MiB."
        )
    yield from entries


def _when(course: Course, late: bool, time: datetime | None) -> dict[str, str]:
    """The file beside the work that says when it came: its name and its content; {} for no file."""
    if time is not None:
        return {TIMESTAMP: f"{time:%Y-%m-%d %H:%M:%S} {course.settings.zone}\n"}
    return {MARK: f"{MARKED}.\n"} if late else {}


def _write(
    opened: zipfile.ZipFile, files: list[_File], folder: Path, beside_them: Mapping[str, str]
) -> None:
    """Write a student's files, and texts of ours, to a new folder, which takes the old one's place."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".collected-"))
    try:
        for file in files:
            path = beside / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(file.entry) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        for name, text in beside_them.items():
            (beside / name).write_text(text, encoding="utf-8")
        if folder.exists():
            remove(folder)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write_beside(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    """Put an appeal that came alone beside the work; it is no new version and not late."""
    with opened.open(entry) as source, writing(folder / APPEAL) as target:
        shutil.copyfileobj(source, target)
