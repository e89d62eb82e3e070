"""Commands for students."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seqcourse.cli.commands.base import app
from seqcourse.progress import PUBLISHED

MODELS = ", ".join(PUBLISHED)


@app.command()
def start(folder: Annotated[Path, typer.Argument(help="A new folder, such as my-course.")]) -> None:
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
    name: Annotated[str, typer.Argument(help=f"The assignment with your trained model: {MODELS}.")],
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
def doctor() -> None:
    """Say what is here and what is missing: Python, PyTorch, data, checkpoints, tools."""
    from seqcourse.cli.doctor import check_installation

    if not check_installation():
        raise typer.Exit(1)


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
