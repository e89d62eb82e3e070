"""The command line: ``seqcourse lab | book | release | grade | course | doctor | train | ...``."""

from __future__ import annotations

import sys

from seqcourse.errors import CourseError
from seqcourse.printable import printable


def main() -> None:
    """Run the command line; a CourseError becomes its sentence and exit code 2."""
    from seqcourse.cli.app import app

    # Names of folders are shown that are not UTF-8.
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except CourseError as error:
        lines = map(printable, str(error).split("\n"))
        print("seqcourse:", "\n".join(lines), file=sys.stderr)
        sys.exit(2)
