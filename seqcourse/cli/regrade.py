"""``seqcourse grade --preview``, ``seqcourse history`` and ``seqcourse appeals``."""

from __future__ import annotations

from rich.console import Console

from cellgrader.course.folders import Course
from cellgrader.grade.how import How
from seqcourse.cli.grading import in_folders, need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, tell
from seqcourse.errors import CourseError


@refusals_in_words()
def preview_grades(
    names: list[str], students: list[str], how: How, *, db_url: str, feedback: bool
) -> None:
    """Print what grading would change; nothing is written.

    Args:
        feedback: whether pages were asked for, too, which is refused.
    """
    need_nbgrader()
    from cellgrader.grade.preview import as_table, by_exercise, preview
    from cellgrader.marks.in_words import numbers_of

    if feedback:
        raise CourseError(
            "--preview writes nothing, but --feedback should write files. "
            "Look at the preview first, then grade without it."
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
        found = preview(course, name, named, how)
        numbers = numbers_of(course, name)
        for line in by_exercise(found, numbers):
            tell(line if len(wanted) == 1 else f"{name}: {line}")
        if found.differences:
            Console(highlight=False).print(as_table(found, numbers))
        for line in found.summary:
            tell(line if len(wanted) == 1 else f"{name}: {line}")


@refusals_in_words()
def show_history(name: str, student: str) -> None:
    """Print every change of a student's mark; without a student, those of everybody with a change."""
    need_nbgrader()
    from cellgrader.course.gradebook import open_gradebook
    from cellgrader.marks.history import kept_for, note, read_history
    from cellgrader.marks.in_words import in_words, numbers_of
    from cellgrader.notebook.parse import shown

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
            told = in_words(each, numbers, course.settings.zone)
            back = " (the clock was set back)" if each.time < earlier else ""
            tell(f"  {told.when}{back}  {told.what}: {told.why}")
            for line in told.exercises:
                tell(f"      {line}")
            earlier = each.time


@refusals_in_words()
def list_appeals(name: str, student: str, every: bool) -> None:
    """Print each appeal beside what the check saw, and the command that answers it."""
    need_nbgrader()
    from cellgrader.appeals.answering import need_student
    from cellgrader.appeals.requests import ANSWERED, cases
    from cellgrader.course.gradebook import open_gradebook
    from cellgrader.marks.in_words import points

    course = Course(find_root())
    course.require(name)
    open_gradebook(course)
    if student:
        need_student(course, name, student)
    found, unclear = cases(course, name, [student] if student else None)
    waiting = [each for each in found if each.state != ANSWERED]
    tell(f"{name}: {len(found)} appeal{'' if len(found) == 1 else 's'}, {len(waiting)} to answer")
    for each in found if every else waiting:
        exercise = each.appeal.exercise
        has = f"{points(each.mark and each.mark.points)} of {points(exercise.points)} points"
        passed = "it passed" if exercise.automatic else "it is graded by hand"
        tell("")
        tell(f"{each.student}, exercise {exercise.number} ({exercise.name}), {has}: {each.state}")
        tell(f"  the student says: {each.appeal.words or '(nothing)'}")
        tell(f"  the check says:   {each.saw or passed}")
        if each.answer is not None:
            gave = each.answer.points
            given = "the check's points" if gave is None else f"{points(gave)} points"
            tell(f"  answered {each.answer.time[:10]}: {given}. {each.answer.comment}")
        if each.state != ANSWERED:
            tell(
                f"  to answer: seqcourse appeals {name} --student {each.student} "
                f'--exercise {exercise.number} --points {points(exercise.points)} --comment "..."'
            )
    for sentence in unclear:
        tell(f"unclear: {sentence}")


@refusals_in_words()
def answer_one(name: str, student: str, exercise: str, points: float | None, comment: str) -> None:
    """Answer an appeal, and say what the mark is now."""
    need_nbgrader()
    from cellgrader.appeals.answering import answer

    course = Course(find_root())
    course.require(name)
    for option, given in (("--student", student), ("--exercise", exercise), ("--comment", comment)):
        if not given:
            raise CourseError(
                f"An answer to an appeal should have a student, an exercise and a comment, but {option} "
                f"is missing: seqcourse appeals {name} --student ada --exercise 3 --points 4 "
                f'--comment "..."'
            )
    for sentence in answer(course, name, student, exercise, points, comment):
        tell(sentence)
