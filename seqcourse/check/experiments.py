"""Experiments that run through a student's own functions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from seqcourse.check.compare import Mistake, is_unsolved


@contextlib.contextmanager
def experiment(exercises: str) -> Iterator[None]:
    """Tell an error inside an experiment as a sentence that names the exercises behind it.

    exercises: such as "4, 5 and 6".

    Raises Mistake for any error but two: the NotImplementedError of an unsolved exercise is no mistake,
    and a failed assertion speaks for itself.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, AssertionError) or is_unsolved(error):
            raise
        which = f"exercise{'s' if ' and ' in exercises else ''} {exercises}"
        raise Mistake(
            f"This experiment runs through your answers to {which} and stopped with "
            f"{type(error).__name__}: {error} Run the checks of {which} first."
        ) from error
