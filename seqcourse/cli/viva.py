"""``seqcourse viva``: questions about students' own code."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from cellgrader.course.folders import Course
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, shown, tell
from seqcourse.errors import CourseError


@refusals_in_words()
def ask_about_code(name: str, students: Sequence[str]) -> bool:
    """Make the sheets of these students (all who handed in, without, and their partners).

    Returns:
        Whether each got one.
    """
    need_nbgrader()
    from cellgrader.notebook.document import write_text
    from cellgrader.submission.partners import handing_in
    from cellgrader.viva import table
    from cellgrader.viva.at_once import make_sheets
    from cellgrader.viva.handout import release
    from cellgrader.viva.page import answers_page, as_page
    from cellgrader.viva.sheet import keep, kept
    from cellgrader.viva.sheet_folders import PAGE, folder_of, sheet_folder

    course = Course(find_root())
    course.require(name)
    wanted = list(dict.fromkeys(students)) or handing_in(course, name)
    if not wanted:
        raise CourseError(f"Somebody should have handed in {name}, but nobody has.")
    console, sheets, good = Console(highlight=False), [], True
    for student, sheet in make_sheets(course, name, wanted):
        if isinstance(sheet, CourseError):
            if students:
                raise sheet
            tell(f"{student}: {sheet}")
            good = False
            continue
        keep(course, sheet)
        folder = sheet_folder(course, name, student)
        write_text(folder / PAGE, as_page(sheet))
        release(course, sheet)
        sheets.append(sheet)
        console.print(table.as_table(sheet))
    if sheets:
        for line in table.summary(sheets):
            tell(line)
        page = course.folder / f"viva-{name}.html"
        write_text(page, answers_page(name, kept(course, name)))
        tell(
            f"{shown(folder_of(course, name))}/STUDENT/{PAGE}: the questions, one page for each student"
        )
        tell(f"{shown(page)}: the answers of all")
    return good


@refusals_in_words()
def grade_sheets(name: str) -> None:
    """Grade the notebooks with letters that were handed in, and print the points."""
    need_nbgrader()
    from cellgrader.viva.handout import grade
    from cellgrader.viva.sheet_folders import called
    from cellgrader.with_nbgrader.lock import alone

    course = Course(find_root())
    course.require(name)
    book = called(name)
    with alone(course):
        done = list(grade(course, name))
    if not done:
        raise CourseError(
            f"Sheets should be handed in as {course.grading}/submitted/STUDENT/{book}/{book}.ipynb "
            f"before they are graded, but nobody has. Make the sheets first: seqcourse viva {name}"
        )
    for record, points, many in done:
        tell(f"{record.student}: {points:g} of {many} {record.sentence}".rstrip())
