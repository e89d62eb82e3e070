"""Due dates: those of course.toml, written into the gradebook, where nbgrader reads them."""

from __future__ import annotations

from datetime import UTC

from cellgrader.class_settings import in_words
from cellgrader.course.folders import CLASS, Course


def set_due_dates(course: Course, *new: str) -> list[str]:
    """Give assignments in the gradebook their due dates; sentences say which changed.

    A date that was set with nbgrader stays where course.toml has none. The sample class has none.

    Args:
        new: assignments that may not be in the gradebook yet.
    """
    from nbgrader.api import Gradebook

    names = course.names() if course.grading == CLASS else ()
    wanted = {name: due for name in names if (due := course.settings.due(name))}
    if not wanted:
        return []
    told = []
    with Gradebook(course.gradebook_url) as gradebook:
        known = {assignment.name: assignment for assignment in gradebook.assignments}
        for name, due in wanted.items():
            naive = due.astimezone(UTC).replace(tzinfo=None)  # as nbgrader keeps it
            if name not in new and name not in known or name in known and known[name].duedate == naive:
                continue
            gradebook.update_or_create_assignment(name, duedate=naive)
            told.append(f"{name} is due {in_words(due)}.")
    return told
