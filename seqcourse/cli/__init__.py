"""The command line: ``seqcourse lab | book | release | grade | course | doctor | train | ...``."""

from __future__ import annotations

import sys

from seqcourse.errors import CourseError


def main() -> None:
    """Run the command line; a CourseError becomes its sentence and exit code 2."""
    from seqcourse.cli.app import app

    # Names of folders are shown that are not UTF-8.
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except CourseError as error:
        print(f"seqcourse: {error}", file=sys.stderr)
        sys.exit(2)
