"""When one of several partners leaves the class, the others keep the work, and lose the name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cellgrader.course.folders import Course, remove
from cellgrader.course.records import UNCLEAR, read_record, record_path, write_record
from cellgrader.course.small_files import SECRET
from cellgrader.course.snapshot import folder_snapshot
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import NotGradable, read_bytes
from cellgrader.submission.collected import Submission
from cellgrader.submission.partners import LONGEST, find_submissions, names_files, naming, without_names
from cellgrader.submission.shared_work import digest_of


def leave(course: Course, student: str) -> list[str]:
    """Part a student from all partners, while the student is still in the class.

    Returns:
        Sentences about what was kept for whom, and what has to be changed by hand.
    """
    told = []
    for name in course.names():
        submission = find_submissions(course, name).of(student)
        _take_name_out(course, name, student)
        told += _keep_work(course, name, student, submission)
        _mend_records(course, name, student)
        _mend_sheets(course, name, student)
        groups, where = course.settings.own(name, "partners")
        if any(student in group for group in groups):
            told.append(f"{where} still has {student} among the partners: take the name out.")
    return list(dict.fromkeys(told))


def _keep_work(course: Course, name: str, student: str, submission: Submission) -> Iterator[str]:
    """Copy the work to a partner, if only the student who leaves handed it in."""
    left = submission.partners(student)
    if not left or submission.unclear or not course.handed_in(student, name):
        return
    if any(course.handed_in(who, name) and digest_of(course.submitted / who / name) for who in left):
        return
    work, heir = without_names(folder_snapshot(course.submitted / student / name)), left[0]
    files = {path: content for path, content in work.files.items() if path != SECRET}
    replace(work, files=files, links={}).unpack(course.submitted / heir / name)
    yield f"The work on {name} stays with {heir}, in {course.grading}/submitted/{heir}/{name}."


def _take_name_out(course: Course, name: str, student: str) -> None:
    """Write files that name the student again, without the name."""
    named = naming(course)
    for who in course.students(name):
        folder = course.submitted / who / name
        if who == student or folder.is_symlink() or folder.parent.is_symlink():
            continue
        try:
            files = names_files(path.name for path in folder.iterdir())
        except OSError:  # nobody may look into it
            continue
        for path in (folder / file for file in files):
            try:
                names, unknown = named(read_bytes(path, LONGEST))
            except NotGradable:
                continue
            if student in names:
                rest = [each for each in (*names, *unknown) if each != student]
                path.unlink()
                if rest:
                    notebooks.write_text(path, "".join(f"{each}\n" for each in rest))


def _mend_records(course: Course, name: str, student: str) -> None:
    """Take the name out of the others' records, and their pages, which name it, too."""
    for path in (course.records / name).glob("*.json"):
        record = read_record(course, name, path.stem)
        if record is None or record.student == student:
            continue
        if student in record.partners:
            write_record(
                course, replace(record, partners=tuple(p for p in record.partners if p != student))
            )
            page = course.feedback / record.student / name
            if page.is_dir() and not page.is_symlink():
                remove(page)
        elif record.status == UNCLEAR and student in record.sentence:
            record_path(course, name, record.student).unlink()


def _mend_sheets(course: Course, name: str, student: str) -> None:
    """Take the name out of partners' sheets of questions, which may be with them already."""
    from cellgrader.viva.page import as_page
    from cellgrader.viva.sheet import keep, kept
    from cellgrader.viva.sheet_folders import PAGE, sheet_folder

    for sheet in kept(course, name):
        if sheet.source == student:
            own = replace(sheet, source="")
            keep(course, own)
            notebooks.write_text(sheet_folder(course, name, sheet.student) / PAGE, as_page(own))
