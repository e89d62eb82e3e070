"""The archive of feedback pages that goes back to Canvas or Moodle, for `seqcourse return`.

Both platforms find a student by the name of a file, so a page is named as the student's file came:

* Canvas takes the first two numbers in the name: the student's, and that of a file that the student
  handed in (infer_comment_context_from_filename of instructure/canvas-lms). It puts the page into a
  comment, and shows it under the name of that file, whatever its own name is.
* Moodle takes the participant's number from the folder or the beginning of the name, such as
  "Ada Lovelace_4711_assignsubmission_file" (mod/assign/feedback/file/importziplib.php of moodle/moodle),
  and makes the page a feedback file.

`seqcourse collect` keeps the beginning of the name for each student, and nothing else of it.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from cellgrader.course.folders import Course
from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.profile import program

# The names of files in a platform's archive. What comes before `folders` says whose they are.
PATTERNS = {
    "canvas": re.compile(
        r"(?:[^/]*?_)??(?P<late>LATE_)?(?P<student>\d+)_(?P<number>\d+)_(?P<folders>)(?P<file>[^/]+)"
    ),
    "moodle": re.compile(
        r"(?P<late>)(?P<number>)[^/]*?_(?P<student>\d+)_assignsubmission_file(?:_?/|_)"
        r"(?P<folders>(?:[^/]+/)*)(?P<file>[^/]+)"
    ),
}


@dataclass(frozen=True)
class Returned:
    """The archive.

    students: whose pages are in it.
    without_page: who handed in through the platform, but has no page.
    elsewhere: who has a page, but no file from the platform.
    """

    path: Path
    students: tuple[str, ...]
    without_page: tuple[str, ...]
    elsewhere: tuple[str, ...]


def name_path(course: Course, name: str, student: str) -> Path:
    """The file with the beginning of the names that a student's files came under."""
    return course.folder / "collected" / name / f"{student}.txt"


def keep_name(course: Course, name: str, student: str, beginning: str) -> None:
    """Keep the beginning of the name under which a student's last file came."""
    notebooks.write_text(name_path(course, name, student), f"{beginning}\n")


def _kept_names(course: Course, name: str, platform: str) -> dict[str, str]:
    """Student -> the beginning of the name, of those whose last file came from this platform."""
    found = {}
    for path in sorted(name_path(course, name, "").parent.glob("[!.]*.txt")):
        beginning = path.read_text(encoding="utf-8").removesuffix("\n")
        if PATTERNS[platform].fullmatch(f"{beginning}{name}.html"):
            found[path.stem] = beginning
    return found


def give_back(course: Course, name: str, platform: str, path: Path) -> Returned:
    """Write the archive of an assignment's feedback pages.

    Raises:
        CourseError: no such platform, or there is nobody whose page could go there.
    """
    if platform not in PATTERNS:
        raise CourseError(f"--to should be {' or '.join(PATTERNS)}, but is {platform!r}.")
    names = _kept_names(course, name, platform)
    if not names:
        raise CourseError(
            f"{platform.title()} finds students by the names of the files that it gave, but none are "
            f"kept for {name}. Collect its archive once more: "
            f"{program()} collect {name} FILE --from {platform}"
        )
    found = {page.parts[-3]: page for page in course.feedback.glob(f"*/{name}/{name}.html")}
    pages = {who: found[who] for who in sorted(found) if course.counts(who, name)}
    here = {names[who]: pages[who] for who in pages if who in names}
    if not here:
        raise CourseError(
            f"Feedback pages of {name} should be there before they go back, but there are none of work "
            f"that came from {platform.title()}. Write them: {program()} feedback {name}"
        )
    with notebooks.writing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for beginning, page in here.items():
            archive.writestr(f"{beginning}{name}.html", page.read_bytes())
    return Returned(
        path,
        tuple(who for who in pages if who in names),
        tuple(who for who in names if who not in pages and course.counts(who, name)),
        tuple(who for who in pages if who not in names),
    )
