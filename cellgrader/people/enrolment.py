"""Who is in the class: people who come late, get more time, or leave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cellgrader.course.address import sqlite_file
from cellgrader.course.folders import Course, remove
from cellgrader.course.gradebook import open_gradebook
from cellgrader.errors import CourseError
from cellgrader.marks.late import extended
from cellgrader.notebook import document as notebooks
from cellgrader.notebook.parse import shown
from cellgrader.people.erase import DROPPED, erase_in_files, places, traces
from cellgrader.people.leaving import leave
from cellgrader.profile import program

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}
PART = re.compile(rf"(\d{{1,5}}(?:\.\d+)?)([{''.join(UNITS)}])")


def unknown(course: Course, name: str) -> list[str]:
    """Folders of an assignment whose names are not on the class's list; perhaps typing errors.

    A class has a list once anybody in its gradebook has a name or an e-mail address.
    """
    handed_in = course.students(name)
    known = class_list(course) if handed_in else {}
    return [student for student in handed_in if student not in known] if known else []


def class_list(course: Course) -> dict[str, str]:
    """The students of the class's list with their e-mail addresses; {} if the class has none."""
    from nbgrader.api import Gradebook

    file = sqlite_file(course.gradebook_url)
    if file is not None and not file.exists():
        return {}
    open_gradebook(course)  # says what is wrong with it
    with Gradebook(course.gradebook_url) as gradebook:
        students = list(gradebook.students)
        if not any(known.first_name or known.last_name or known.email for known in students):
            return {}
        return {student.id: student.email or "" for student in students}


def absent(course: Course, name: str) -> list[str]:
    """Who handed in nothing of an assignment: of the class's list, and of those with other work."""
    everybody = {*course.without(name), *class_list(course)}
    return sorted(everybody - {*course.students(name), name})


def misplaced(course: Course, name: str) -> list[str]:
    """How to mend work that lies where it is not looked for: s95/PS1/, s95/ps1.ipynb, ps1/s95/."""
    top = f"{course.grading}/submitted"
    told = []
    for student in course.without(name):
        try:
            entries = sorted((course.submitted / student).iterdir())
        except OSError:  # whoever grades may not look
            continue
        for path in entries:
            is_folder = path.is_dir() and not path.is_symlink()
            there = f"{top}/{shown(student)}/{shown(path.name)}"
            if student == name and is_folder:
                told.append(f"{there}/ should be {top}/{shown(path.name)}/{name}/.")
            elif is_folder and re.sub(r"[\W_]", "", path.name).casefold() == name:
                told.append(f"{there}/ should be called {name}. Rename it.")
            elif path.name.casefold() == f"{name}.ipynb" and not is_folder:
                told.append(f"{there} should be in a folder {name}. Move it there.")
    return told


def question(course: Course, name: str, student: str) -> str:
    """What to ask about a folder that `unknown` found."""
    return (
        f"Who is {shown(student)}? {course.grading}/submitted has such a folder, but the gradebook has "
        f"no such student, so it was not graded. Rename the folder, or grade it by name: "
        f"{program()} grade {name} --student {shown(student)}"
    )


def extend(course: Course, name: str, student: str, time: str) -> datetime:
    """Give a student more time; it replaces an earlier extension. Returns the new due date, in UTC.

    Args:
        time: such as 2d, 1d12h, 90m; 0d takes the extension back.
    Raises:
        CourseError: not a time, no such student, or the assignment has no due date.
    """
    from nbgrader.api import Gradebook, MissingEntry

    parts = PART.findall(time)
    if not parts or "".join(map("".join, parts)) != time:
        raise CourseError(
            f"The extension should be a time such as 2d, 12h, 1d12h or 90m, but is {time!r}."
        )
    more = sum((timedelta(**{UNITS[unit]: float(count)}) for count, unit in parts), timedelta())
    with Gradebook(course.gradebook_url) as gradebook:
        try:
            due = gradebook.find_assignment(name).duedate
        except MissingEntry:
            due = None
        if due is None:
            raise CourseError(
                f"{name} should have a due date to extend, but has none. Set it in course.toml, under "
                f"[{name}]: due = 2026-11-20T18:00:00Z"
            )
        _need(gradebook, student)
        try:
            submission = gradebook.find_submission(name, student)
        except MissingEntry:
            submission = gradebook.add_submission(name, student)
            for book in submission.notebooks:
                for grade in book.grades:
                    grade.needs_manual_grade = False  # nothing was handed in
        submission.extension = more or None
        gradebook.db.commit()
    return extended(due, more, course.settings.zone)


def drop(course: Course, student: str, *, erase: bool = False) -> list[str]:
    """Take a student out of the class: out of the gradebook, the tables, exports and feedback.

    Args:
        erase: delete the files, too; otherwise they move to grading/dropped/STUDENT.
    Returns:
        Sentences about what was done, and what remains.
    Raises:
        CourseError: there is nothing of this student.
    """
    from nbgrader.api import Gradebook, MissingEntry

    if student in ("", ".", "..") or Path(student).name != student:
        raise CourseError(f"A student's name should be that of a folder, but is {student!r}.")
    found = [path for path in places(course, student) if path.exists()]
    if erase:
        found += traces(course, student)
    told = leave(course, student)
    points: list[dict] = []
    with Gradebook(course.gradebook_url) as gradebook:
        try:
            for submission in gradebook.find_student(student).submissions:
                points += _points(submission)
            gradebook.remove_student(student)
        except MissingEntry:
            if not found:
                _need(gradebook, student)
    if erase:
        for path in found:
            remove(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        remain = [*erase_in_files(course, student), "tables that you exported", "backups"]
        return [
            f"{student} is erased from {course.grading}/ and its gradebook.",
            f"Not erased: {', '.join(remain)}, and what other programs hold: an exchange, a platform.",
            *told,
        ]
    kept = course.folder / DROPPED / student
    number = 1
    while kept.exists():
        number += 1
        kept = kept.with_name(f"{student}-{number}")
    for path in found:
        target = kept / path.relative_to(course.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    notebooks.write_text(kept / "points.json", json.dumps(points, indent=1) + "\n")
    where = f"{course.grading}/{DROPPED}/{kept.name}"
    return [f"{student} is out of the class. The work, and points.json, are in {where}.", *told]


def _need(gradebook: Gradebook, student: str) -> None:
    """Raise CourseError if the gradebook has no such student."""
    names = sorted(known.id for known in gradebook.students)
    if student not in names:
        listed = ", ".join(map(shown, names[:8])) + (", ..." if len(names) > 8 else "")
        raise CourseError(
            f"{shown(student)} should be a student in the gradebook, but it has {listed or 'nobody'}. "
            f"Add one: nbgrader db student add {shown(student)}"
        )


def _points(submission) -> Iterator[dict]:
    """What a submission had in the gradebook, points and comments given by hand included."""
    for book in submission.notebooks:
        comments = {comment.name: comment.manual_comment for comment in book.comments}
        for grade in book.grades:
            yield {
                "assignment": submission.assignment.name,
                "cell": grade.name,
                "automatic": grade.auto_score,
                "by hand": grade.manual_score,
                "comment": comments.get(grade.name),
            }
