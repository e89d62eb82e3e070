"""``seqcourse history``."""

from __future__ import annotations

from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, tell
from seqcourse.errors import CourseError
from seqcourse.grading.course import Course


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
