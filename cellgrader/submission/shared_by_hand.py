"""Points and comments given by hand to one partner: the others get them, unless theirs differ.

What a person saves in the formgrader for one partner is written for the others at once, so that their
work need not be graded again. Later changes for the first partner by name follow for those who still
have the same; changes for another partner are for that one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cellgrader.course.folders import Course
from cellgrader.course.gradebook import opened
from cellgrader.course.records import read_record

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

# What is shared of a grade and of a comment.
SHARED = {"Grade": ("manual_score", "extra_credit"), "Comment": ("manual_comment",)}
# The classes of this process, by the addresses of their gradebooks.
_classes: dict[Any, Course] = {}


def share_by_hand(course: Course) -> None:
    """From now on, whatever this process writes by hand for one partner is written for the others."""
    from sqlalchemy import event
    from sqlalchemy.engine import make_url
    from sqlalchemy.orm import Session

    _classes[make_url(course.gradebook_url)] = course
    if not event.contains(Session, "before_flush", _share):
        event.listen(Session, "before_flush", _share)


def _share(session: Any, context: object, instances: object) -> None:
    """Write what is about to be saved by hand for the partners, too."""
    changed = [each for each in session.dirty if type(each).__name__ in SHARED]
    course = _classes.get(session.get_bind().url) if changed else None
    for each in changed if course else ():
        names = SHARED[type(each).__name__]
        before, now = _saved(session, each, names), _values(each, names)
        done = type(each).__name__ == "Grade" and now[0] is not None and not each.needs_manual_grade
        if before == now and not done:
            continue
        student, partners = _partners(course, each)
        first = before[0] is None or student == min((student, *partners))
        if before != now and not first:
            continue
        for other in _of_partners(session, each, partners):
            if session.is_modified(other) or _values(other, names) not in (before, now):
                continue
            for name, value in zip(names, now, strict=True):
                setattr(other, name, value)
            if len(names) > 1:
                other.needs_manual_grade = each.needs_manual_grade


def hand_over(course: Course, name: str, members: Sequence[str]) -> None:
    """Give partners who have no points by hand, or no comment, those of the first who has."""
    if len(members) < 2:
        return  # the gradebook need not be opened
    with opened(course) as gradebook, gradebook.db.no_autoflush:
        for cells in _by_cell(gradebook, name, members):
            names = SHARED[type(cells[0]).__name__]
            given = next((each for each in cells if _values(each, names)[0] is not None), None)
            for each in cells if given else ():
                if _values(each, names)[0] is None:
                    for key in names:
                        setattr(each, key, getattr(given, key))
                    if len(names) > 1:
                        each.needs_manual_grade = given.needs_manual_grade
        gradebook.db.commit()


def _by_cell(gradebook: Gradebook, name: str, members: Iterable[str]) -> Iterable[list]:
    """The grades, and the comments, that partners have for the same cells."""
    from nbgrader.api import MissingEntry

    found: dict[tuple[str, str], list] = {}
    for who in members:
        try:
            submission = gradebook.find_submission(name, who)
        except MissingEntry:  # it could not be saved
            continue
        for book in submission.notebooks:
            for each in (*book.grades, *book.comments):
                found.setdefault((type(each).__name__, each.cell_id), []).append(each)
    return found.values()


def _values(each: Any, names: Iterable[str]) -> tuple:
    """The shared values of a grade or a comment. No points are not 0 points; no words are no comment."""
    found = (getattr(each, name) for name in names)
    return tuple(None if value == "" else value for value in found)


def _saved(session: Any, each: Any, names: Sequence[str]) -> tuple:
    """The same values as the gradebook has them until now."""
    kind = type(each)
    row = session.query(*(getattr(kind, name) for name in names)).filter(kind.id == each.id).first()
    return _values(row, names) if row else (None,) * len(names)


def _partners(course: Course, each: Any) -> tuple[str, tuple[str, ...]]:
    """Whose grade or comment it is, and with whom the student handed in."""
    submission = each.notebook.assignment
    record = read_record(course, submission.assignment.name, submission.student_id)
    return submission.student_id, record.partners if record else ()


def _of_partners(session: Any, each: Any, partners: Sequence[str]) -> list:
    """The grades, or comments, that partners have for the same cell."""
    from nbgrader.api import SubmittedAssignment, SubmittedNotebook

    if not partners:
        return []
    kind, assignment = type(each), each.notebook.assignment.assignment_id
    return (
        session.query(kind)
        .join(SubmittedNotebook, kind.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(
            kind.cell_id == each.cell_id,
            SubmittedAssignment.assignment_id == assignment,
            SubmittedAssignment.student_id.in_(partners),
        )
        .all()
    )
