"""The command ``seqcourse``, with all its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from seqcourse.cli.commands import instructors, maintainers, students
from seqcourse.cli.commands.base import FOR, app

__all__ = ["FOR", "app", "instructors", "maintainers", "students"]


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """What stands before the command."""
    if version:
        from seqcourse import __version__

        print(f"seqcourse {__version__}")
        raise typer.Exit()
