"""``seqcourse collect``, ``return``, ``extend`` and ``drop``."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

from cellgrader.course.folders import Course
from seqcourse.cli.grading import need_nbgrader, refusals_in_words
from seqcourse.cli.root import find_root, shown, tell


@refusals_in_words()
def collect_archive(name: str, archive: Path, platform: str, roster: Path | None) -> None:
    """Put an archive of a learning platform into the students' folders, and say what was found."""
    need_nbgrader()
    from cellgrader.marks.late import cost_of_mark
    from cellgrader.people.collect import collect
    from cellgrader.with_nbgrader.lock import alone

    course = Course(find_root())
    course.require(name)
    with alone(course):
        found = collect(course, name, archive, platform, roster)
    tell(f"{len(found.students)} submissions of {name} are in {course.grading}/submitted/.")
    if found.late:
        tell(
            f"Late, but {platform.title()} does not say by how much: {', '.join(found.late)}. They are "
            f"marked as late, {cost_of_mark(course, name)}. If you know the time, write it into "
            f"{course.grading}/submitted/STUDENT/{name}/timestamp.txt."
        )
    if found.timed:
        tell(
            f"When the work came is taken from {roster.name if roster else ''} for {len(found.timed)}, "
            f"in the zone of your class, {course.settings.zone}."
        )
    if found.unread:
        tell(
            f"No time such as “Monday, 5 October 2026, 6:03 PM” in {roster.name if roster else ''}, so "
            f"nobody knows whether the work was late: {', '.join(found.unread)}. Export it in English, "
            f"German, French or Spanish."
        )
    if found.double:
        tell(f"Several files of one name, of which the last counts: {', '.join(found.double)}.")
    if found.beside:
        tell(
            f"Several files of one name, kept in their folders: {', '.join(found.beside)}. Grading "
            f"takes the notebook that holds most answers, and says so if it cannot choose."
        )
    if found.refused and roster:
        tell(
            f"Fits more than one student in {roster.name}, so nothing was "
            f"collected: {', '.join(found.refused)}. Give each of them a login of their own there."
        )
    if found.unknown and roster:
        tell(
            f"No login in {roster.name}, so the folder has the platform's number: "
            f"{', '.join(found.unknown)}."
        )
    if found.unclear:
        tell(f"Not a student's work, so left out ({len(found.unclear)}): {', '.join(found.unclear)}.")


@refusals_in_words()
def return_pages(name: str, platform: str, out: Path | None) -> None:
    """Write the archive of feedback pages for a platform, and name everybody who is not in it."""
    need_nbgrader()
    from cellgrader.platforms.giving_back import give_back

    course = Course(find_root())
    course.require(name)
    path = out or course.folder / f"return-{name}-{platform}.zip"
    done = give_back(course, name, platform, path)
    title = platform.title()
    tell(f"{shown(done.path)}: {len(done.students)} feedback pages of {name}, named for {title}")
    if done.without_page:
        tell(
            f"No page yet, so not in it: {', '.join(done.without_page)}. Write the pages, then return "
            f"them again: seqcourse feedback {name}"
        )
    if done.elsewhere:
        tell(
            f"No file from {title}, so it would not know whose page it is: {', '.join(done.elsewhere)}. "
            f"Give them their page in {course.grading}/feedback/ yourself."
        )


@refusals_in_words()
def extend_due_date(name: str, student: str, time: str) -> None:
    """Give a student more time, and say until when."""
    need_nbgrader()
    from cellgrader.course.gradebook import open_gradebook
    from cellgrader.people.enrolment import extend

    course = Course(find_root())
    course.require(name)
    open_gradebook(course)
    due = extend(course, name, student, time)
    zone = course.settings.zone
    local = due.replace(tzinfo=UTC).astimezone(zone)
    tell(f"{student} may hand in {name} until {local:%Y-%m-%d %H:%M} {zone}.")


@refusals_in_words()
def drop_student(student: str, erase: bool) -> None:
    """Take a student out of the class, and say what became of the work."""
    need_nbgrader()
    from cellgrader.course.gradebook import open_gradebook
    from cellgrader.people.enrolment import drop
    from cellgrader.with_nbgrader.lock import alone

    course = Course(find_root())
    open_gradebook(course)
    with alone(course):
        for sentence in drop(course, student, erase=erase):
            tell(sentence)
