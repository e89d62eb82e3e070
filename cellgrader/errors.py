"""The one exception whose message is meant for a person, and any other in words."""

from __future__ import annotations


class CourseError(Exception):
    """Something outside the code is wrong: a file, an argument, an option.

    The message is a sentence that says what was expected, what came and what to do.
    The command line prints it and exits with code 2.
    """


def in_words(error: Exception) -> str:
    """An error on one line, to end a sentence with."""
    message = " ".join(str(error).split())[:300]
    if isinstance(error, CourseError):
        return message.removesuffix(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
