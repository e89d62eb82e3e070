"""What all commands share: the list of them, by who needs them, and options that several have."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

FOR = {
    "For students": "start update lab progress solution practice translate publish eject doctor",
    "For instructors": "release grade watch collect feedback return export report contribute similar "
    "viva appeals history extend drop leaderboard",
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

Names = Annotated[list[str] | None, typer.Argument(help="ps1, ps2, ...; all of them without.")]
Workers = Annotated[int | None, typer.Option(help="How many submissions at a time.", min=1)]
Timeout = Annotated[int | None, typer.Option(help="Seconds that one cell may take.", min=1)]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(help="The gradebook's address; better in SEQCOURSE_DB_URL, which nobody sees."),
]
