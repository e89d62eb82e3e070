"""Commands for instructors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seqcourse.cli.commands.base import DatabaseUrl, Names, Timeout, Workers, app


@app.command()
def release(names: Names = None) -> None:
    """Generate assignments/ from solutions/."""
    from seqcourse.cli.grading import release_assignments

    release_assignments(names or [])


@app.command()
def grade(
    names: Names = None,
    student: Annotated[
        list[str] | None,
        typer.Option("--student", "--students", help="Only these: ada,ben (may be repeated)."),
    ] = None,
    feedback: Annotated[bool, typer.Option(help="Also write the feedback pages.")] = False,
    workers: Workers = None,
    timeout: Timeout = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Use the Dask cluster at this address: tcp://host:8786.")
    ] = None,
    db_url: DatabaseUrl = None,
    again: Annotated[bool, typer.Option("--again", help="Grade also what has not changed.")] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show who would gain or lose what; write nothing.")
    ] = False,
    only_gains: Annotated[
        bool, typer.Option("--only-gains", help="Write no mark that would fall in total.")
    ] = False,
    reason: Annotated[
        str, typer.Option(help="Why marks change, for the history and the feedback pages.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--everything", help="Run also the cells that only show something.")
    ] = False,
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run students' code with all your rights.")
    ] = False,
) -> None:
    """Autograde what lies in grading/submitted/STUDENT/psN, and print the grades."""
    from cellgrader.grade.how import How
    from seqcourse.cli.grading import grade_submissions

    how = How(workers, timeout, scheduler, again, unsafe_no_sandbox, everything, only_gains)
    asked, where = (names or [], student or [], how), {"feedback": feedback, "db_url": db_url or ""}
    if preview:
        from seqcourse.cli.regrade import preview_grades

        return preview_grades(*asked, **where)
    if not grade_submissions(*asked, **where, reason=reason):
        raise typer.Exit(1)


@app.command()
def watch(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    workers: Workers = None,
    timeout: Timeout = None,
    page: Annotated[
        Path | None, typer.Option(help="Also write what is seen to this HTML file, again and again.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Grade what is there, then end.")] = False,
    until_idle: Annotated[
        float | None, typer.Option(help="End after so many seconds in which nothing arrived.", min=0)
    ] = None,
    db_url: DatabaseUrl = None,
) -> None:
    """Grade what arrives, at once, and put the feedback where the student finds it."""
    from seqcourse.cli.watch import watch_assignment

    watch_assignment(name, workers, timeout, page, 0.0 if once else until_idle, db_url or "")


@app.command()
def collect(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    archive: Annotated[Path, typer.Argument(help="The zip file with all submissions.")],
    platform: Annotated[str, typer.Option("--from", help="canvas or moodle.")],
    roster: Annotated[
        Path | None,
        typer.Option(help="The platform's table of students: folders get logins, not numbers."),
    ] = None,
) -> None:
    """Put a learning platform's archive into the students' folders."""
    from seqcourse.cli.people import collect_archive

    collect_archive(name, archive, platform, roster)


@app.command()
def feedback(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    student: Annotated[list[str] | None, typer.Option(help="Only these: ada,ben.")] = None,
    release: Annotated[
        bool, typer.Option("--release", help="Also give the pages to the students, by the exchange.")
    ] = False,
) -> None:
    """Write the feedback pages of an assignment, also where older ones are."""
    from seqcourse.cli.grading import give_feedback

    if not give_feedback(name, student or [], release):
        raise typer.Exit(1)


@app.command("return")
def give_back(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    platform: Annotated[str, typer.Option("--to", help="canvas or moodle.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the zip file goes; into grading/ without.")
    ] = None,
) -> None:
    """Pack the feedback pages for a learning platform, each named as the student's file came."""
    from seqcourse.cli.people import return_pages

    return_pages(name, platform, out)


@app.command()
def history(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    student: Annotated[
        str, typer.Argument(help="Whose mark; everybody whose mark changed without.")
    ] = "",
) -> None:
    """Show every change of a mark, with its reason and date."""
    from seqcourse.cli.regrade import show_history

    show_history(name, student)


@app.command()
def appeals(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    student: Annotated[str, typer.Option(help="Only this student's.")] = "",
    exercise: Annotated[str, typer.Option(help="Answer this one: its number, such as 3 or 4b.")] = "",
    points: Annotated[
        float | None, typer.Option(help="The points of the exercise; the check's without.")
    ] = None,
    comment: Annotated[str, typer.Option(help="The answer, for the feedback page.")] = "",
    every: Annotated[bool, typer.Option("--all", help="List also what was answered.")] = False,
) -> None:
    """List what students want looked at again (appeal.md beside their work), or answer it."""
    from seqcourse.cli.regrade import answer_one, list_appeals

    if exercise or comment or points is not None:
        answer_one(name, student, exercise, points, comment)
    else:
        list_appeals(name, student, every)


@app.command()
def extend(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    student: Annotated[str, typer.Argument(help="Who gets more time.")],
    time: Annotated[str, typer.Argument(help="2d, 12h, 1d12h, 90m; 0d takes it back.")],
) -> None:
    """Move the due date of one student."""
    from seqcourse.cli.people import extend_due_date

    extend_due_date(name, student, time)


@app.command()
def drop(
    student: Annotated[str, typer.Argument(help="Who leaves the class.")],
    erase: Annotated[bool, typer.Option("--erase", help="Delete the work, too.")] = False,
) -> None:
    """Take a student out of the class: out of the gradebook, exports and feedback."""
    from seqcourse.cli.people import drop_student

    drop_student(student, erase)


@app.command()
def export(
    name: Annotated[
        str, typer.Argument(help="The assignment: ps1, ps2, ...; without, the total of the course.")
    ] = "",
    csv: Annotated[Path | None, typer.Option(help="Write a table to this CSV file.")] = None,
    canvas: Annotated[
        Path | None, typer.Option(help="Fill in this CSV file, which Canvas exported.")
    ] = None,
    canvas_out: Annotated[
        Path | None, typer.Option(help="Where the filled file goes; beside the other without.")
    ] = None,
    canvas_column: Annotated[
        str, typer.Option(help='The column, such as "ps1 (12345)"; found by its title without.')
    ] = "",
    moodle: Annotated[
        Path | None, typer.Option(help="Fill in this grading worksheet, which Moodle exported.")
    ] = None,
) -> None:
    """Write the grades of an assignment, or the course total: for a spreadsheet, Canvas or Moodle."""
    from seqcourse.cli.export import export_grades

    export_grades(name, csv, canvas, canvas_out, canvas_column, moodle)


@app.command()
def report(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes; grading/report-psN.html without.")
    ] = None,
) -> None:
    """Show a class at a glance: points, frequent mistakes, what to teach again, who waits."""
    from seqcourse.cli.export import report_class

    report_class(name, out)


@app.command()
def contribute(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    out: Annotated[
        Path | None, typer.Option(help="Where the counts go; grading/counts-psN.json without.")
    ] = None,
) -> None:
    """Write counts of a class to give to the course, and send nothing: no count of fewer than ten."""
    from seqcourse.cli.export import contribute_counts

    contribute_counts(name, out)


@app.command()
def leaderboard(
    name: Annotated[str, typer.Argument(help="The assignment with a trained system: ps9.")],
    final: Annotated[
        bool, typer.Option("--final", help="Close it: the final half counts from now on, and is shown.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes; grading/leaderboard-ps9.html without.")
    ] = None,
) -> None:
    """Compare the systems that students trained: scores, intervals, sizes, the course's own models."""
    from seqcourse.cli.export import show_leaderboard

    show_leaderboard(name, final, out)


@app.command()
def similar(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    threshold: Annotated[
        float, typer.Option(help="The share of a submission that must be in the other: 0.5 is half.")
    ] = 0.5,
    report: Annotated[
        Path | None, typer.Option(help="Where the page goes; grading/similar-psN.html without.")
    ] = None,
) -> None:
    """List submissions that are alike, and show where."""
    from seqcourse.cli.export import report_similar

    report_similar(name, threshold, report)


@app.command()
def viva(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    students: Annotated[
        list[str] | None, typer.Argument(help="Who is asked; all who handed in without.")
    ] = None,
    grade: Annotated[
        bool, typer.Option("--grade", help="Grade the notebooks with answers that were handed in.")
    ] = False,
) -> None:
    """Ask students about their own code: five questions each, with computed answers."""
    from seqcourse.cli.viva import ask_about_code, grade_sheets

    if grade:
        grade_sheets(name)
    elif not ask_about_code(name, students or []):
        raise typer.Exit(1)
