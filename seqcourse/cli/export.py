"""``seqcourse export``, ``report``, ``contribute``, ``leaderboard`` and ``similar``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from cellgrader.course.folders import Course
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, shown, tell
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from cellgrader.pages.report import Report


@refusals_in_words()
def export_grades(
    name: str,
    csv: Path | None,
    canvas: Path | None,
    canvas_out: Path | None,
    canvas_column: str,
    moodle: Path | None = None,
) -> None:
    """Write the grades of an assignment as a table, and in the forms Canvas and Moodle import."""
    need_nbgrader()
    from cellgrader.marks.export import final_grades, left_out, read_course, write_table
    from cellgrader.notebook.document import write_text
    from cellgrader.platforms import canvas as for_canvas
    from cellgrader.platforms import moodle as for_moodle

    course = Course(find_root())
    if not name:
        return _export_total(course, csv, bool(canvas or moodle or canvas_out or canvas_column))
    if canvas is None and (canvas_out or canvas_column):
        raise CourseError(
            "--canvas should name the CSV file that Canvas exported: its students and columns are "
            f"kept, and one is filled in. Add --canvas FILE: seqcourse export {name} --canvas FILE"
        )
    if csv is None and canvas is None and moodle is None:
        raise CourseError(
            f"The grades of {name} should be written somewhere, but no file was named. "
            f"Name one: seqcourse export {name} --csv grading/{name}.csv"
        )
    if canvas is not None and canvas_out is None:
        canvas_out = canvas.with_name(f"{canvas.stem}-{name}.csv")
    moodle_out = moodle.with_name(f"{moodle.stem}-{name}.csv") if moodle else None
    for path in (csv, canvas_out, moodle_out):
        if path is not None:
            check_csv(path)
    lines = read_course(course, name)
    for sentence in course.passed_over(name):
        tell(sentence)
    filled = []
    if canvas is not None:
        filled.append((canvas_out, for_canvas.fill(canvas, name, final_grades(lines), canvas_column)))
    if moodle is not None:
        filled.append((moodle_out, for_moodle.fill(moodle, name, final_grades(lines))))
    if csv is not None:
        write_table(lines, name, csv)
        graded = sum(line.has_grade for line in lines)
        tell(f"{shown(csv)}: {_many(graded, 'grade')}, {_many(len(lines), 'student')}")
    for path, form in filled:
        write_text(path, form.text)
        tell(f"{shown(path)}: {_many(len(form.written), 'grade')} in the column {form.column}")
        for sentence in [*left_out(lines), *form.sentences]:
            tell(sentence)


def _export_total(course: Course, csv: Path | None, for_platform: bool) -> None:
    """Write the table with the course total, and say what counts how much."""
    from cellgrader.marks.course_total import as_table, left_open, read_total
    from cellgrader.notebook.document import write_text
    from cellgrader.platforms.spreadsheet import MARK

    if csv is None or for_platform:
        raise CourseError(
            "The course total is written to a table of its own, but "
            f"{'a file of a platform' if for_platform else 'no file'} was named. Write the table: "
            f"seqcourse export --csv {course.grading}/course.csv. Name an assignment for all else: "
            f"seqcourse export ps1 --canvas FILE"
        )
    check_csv(csv)
    total, told = read_total(course)
    write_text(csv, MARK + as_table(total))
    tell(
        f"{shown(csv)}: {_many(len(total.students), 'student')}, "
        f"{_many(len(total.maxima), 'assignment')}"
    )
    for sentence in [*told, *left_open(total)]:
        tell(sentence)


def check_csv(path: Path) -> None:
    """Raise CourseError if no table can be written to ``path``."""
    if path.is_dir():
        raise CourseError(
            f"--csv should name a file, but {path} is a folder. Add a name: {path / 'grades.csv'}"
        )
    folder = path.parent
    if not folder.is_dir():
        raise CourseError(
            f"--csv should name a file in a folder that exists, but there is no folder {folder}. "
            f"Make it first, or name another."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CourseError(
            f"--csv should name a file in a folder where you may write, but {folder} is not one. "
            f"Name another."
        )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@refusals_in_words()
def report_class(name: str, out: Path | None) -> None:
    """Write the page that shows how an assignment went, and print its first lines."""
    from cellgrader.notebook.document import write_text
    from cellgrader.pages.report import as_page
    from cellgrader.release.assistants import declared
    from seqcourse.cli import items

    course, report = _report(name)
    page = out or course.folder / f"report-{name}.html"
    books = {
        row.student: course.autograded / row.student / name / f"{name}.ipynb" for row in report.graded
    }
    write_text(page, as_page(report, {student: declared(path) for student, path in books.items()}))
    for line in [*report.summary, *report.commonest]:
        tell(line)
    if found := items.of_report(report):
        Console().print(items.as_table(found))
        for exercise in (each for each, of in found.items() if of.suspect):
            tell(f"look at {exercise}: the best quarter earned less there than the weakest")
    tell(f"{shown(page)}: the class at a glance")


@refusals_in_words()
def contribute_counts(name: str, out: Path | None) -> None:
    """Write counts of a class, show them, and send nothing."""
    import seqcourse
    from cellgrader.notebook.document import write_text
    from seqcourse.cli import items

    course, report = _report(name)
    if len(report.graded) < 2 * items.FEWEST:
        raise CourseError(
            f"A class should have at least {2 * items.FEWEST} grades in {name}, so that no count tells "
            f"of a few people, but it has {len(report.graded)}. Keep these to yourself."
        )
    page = out or course.folder / f"counts-{name}.json"
    text = items.in_words(items.counts_of(report, seqcourse.__version__))
    write_text(page, text)
    for line in text.splitlines():
        tell(line)
    tell(
        f"{shown(page)} holds this and nothing else. Nothing was sent: read it, then send it if you wish"
    )


def _report(name: str) -> tuple[Course, Report]:
    """How an assignment went. Raises CourseError where nobody was graded."""
    need_nbgrader()
    from cellgrader.marks.in_gradebook import found_records
    from cellgrader.marks.scores import read_scores
    from cellgrader.pages.report import make_report
    from cellgrader.people.enrolment import absent
    from cellgrader.submission.partners import handing_in

    course = Course(find_root())
    course.require(name)
    there = handing_in(course, name)
    records = found_records(course, name, there)
    if not records:
        raise CourseError(
            f"{name} should have been graded before there is a report, but nobody's work was. "
            f"Grade first: seqcourse grade {name}"
        )
    missing = [who for who in absent(course, name) if who not in there]
    return course, make_report(read_scores(course, name, records), records, missing)


@refusals_in_words()
def show_leaderboard(name: str, final: bool, out: Path | None) -> None:
    """Write the leaderboard's page; print what a person should look at, which the page does not say."""
    need_nbgrader()
    from cellgrader.leaderboard import as_page, check_of, graded_systems, make_board
    from cellgrader.notebook.document import write_text
    from cellgrader.run.systems import is_final, make_final

    course = Course(find_root())
    check = check_of(course, name)
    graded = graded_systems(course, name)
    if final and not is_final(course, name):
        make_final(course, name)
        tell(f"The final half earns the points from now on. Run: seqcourse grade {name} --feedback")
    board = make_board(course, name, check, graded)
    page = out or course.folder / f"leaderboard-{name}.html"
    write_text(page, as_page(board))
    for line in board.looks:
        tell(f"look at the work of {line}")
    tell(f"{shown(page)}: the leaderboard, {board.half} half")


@refusals_in_words()
def report_similar(name: str, threshold: float, report: Path | None) -> None:
    """Print which submissions are alike, and write a page that shows where."""
    need_nbgrader()
    from cellgrader.notebook.document import write_text
    from cellgrader.similar.compare import as_table, compare_class
    from cellgrader.similar.pairs_page import as_page

    course = Course(find_root())
    if not 0 < threshold <= 1:
        raise CourseError(
            f"--threshold should be a share above 0 and up to 1 (0.5 is half), but is {threshold:g}."
        )
    found = compare_class(course, name, threshold)
    Console(highlight=False).print(as_table(found))
    course.make_folder()
    page = report or course.folder / f"similar-{name}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    write_text(page, as_page(found))
    tell(f"{shown(page)}: the places, side by side")
