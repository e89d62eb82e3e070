"""``seqcourse grade --preview`` and ``seqcourse history``."""

from __future__ import annotations

from rich.console import Console

from seqcourse.cli.grading import in_folders, need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, tell
from seqcourse.errors import CourseError
from seqcourse.grading.course import Course


@refusals_in_words()
def preview_grades(
    names: list[str],
    students: list[str],
    workers: int | None,
    timeout: int | None,
    db_url: str,
    beside: list[str],
    **how: object,
) -> None:
    """Print what grading would change; nothing is written.

    Args:
        beside: options that were given, but write something.
        how: handed to ``preview``: scheduler, again, unsafe, everything, only_gains.
    """
    need_nbgrader()
    from seqcourse.grading.history import numbers_of
    from seqcourse.grading.preview import as_table, preview

    if beside:
        raise CourseError(
            f"--preview writes nothing, but {' and '.join(beside)} should write files. "
            f"Look at the preview first, then grade without it."
        )
    course = Course(find_root(), db_url=db_url)
    wanted = list(dict.fromkeys(names)) or [n for n in course.names() if course.students(n)]
    if not wanted:
        raise CourseError(
            f"A preview compares with marks, but {course.grading}/submitted has no submissions. "
            f"Grade first: seqcourse grade ps1"
        )
    for name in wanted:
        named = in_folders(course, name, students)
        found = preview(course, name, named, workers=workers, timeout=timeout, **how)
        if found.differences:
            Console(highlight=False).print(as_table(found, numbers_of(course, name)))
        for line in found.summary:
            tell(line if len(wanted) == 1 else f"{name}: {line}")


@refusals_in_words()
def show_history(name: str, student: str) -> None:
    """Print every change of a student's mark; without a student, those of everybody with a change."""
    need_nbgrader()
    from seqcourse.grading.gradebook import open_gradebook
    from seqcourse.grading.history import in_words, kept_for, note, numbers_of, read_history
    from seqcourse.grading.parse import shown

    course = Course(find_root())
    course.require(name)
    open_gradebook(course)
    note(course, name)
    known = kept_for(course, name)
    if student and student not in known:
        some = ", ".join(map(shown, known[:8])) + (", ..." if len(known) > 8 else "")
        raise CourseError(
            f"{shown(student)} should have a mark of {name}, but {some or 'nobody'} "
            f"{'have' if len(known) > 1 else 'has'}. Grade first: seqcourse grade {name}"
        )
    numbers = numbers_of(course, name)
    found = {each: read_history(course, name, each) for each in ([student] if student else known)}
    if not student:
        found = {each: entries for each, entries in found.items() if len(entries) > 1}
    if not found:
        tell(f"No mark of {name} has changed since it was given.")
    for who, entries in found.items():
        tell(f"{name}, {who}")
        earlier = ""
        for each in entries:
            told = in_words(each, numbers)
            back = " (the clock was set back)" if each.time < earlier else ""
            tell(f"  {told.when}{back}  {told.what}: {told.why}")
            for line in told.exercises:
                tell(f"      {line}")
            earlier = each.time
