"""The one exception whose message is meant for a person."""

from __future__ import annotations


class CourseError(Exception):
    """Something outside the code is wrong: a file, an argument, an option.

    The message is a sentence that says what was expected, what came and what to do.
    The command line prints it and exits with code 2.
    """
