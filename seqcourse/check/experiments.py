"""Experiments that run through a student's own functions."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from seqcourse.check.calls.compare import Mistake, not_solved
from seqcourse.check.calls.errors import is_unsolved
from seqcourse.check.exercise import Exercise


@dataclass(frozen=True)
class Experiments:
    """`with check.ps5.experiment("1, 4 and 5"):` around what draws or trains with a student's answers.

    exercises: by the name of the answer.
    numbers: those of the exercises in the notebook, by the name of the answer, in order.
    """

    exercises: Mapping[str, Exercise]
    numbers: Mapping[str, int]

    @contextlib.contextmanager
    def __call__(self, which: str) -> Iterator[None]:
        """Refuse to begin with a wrong answer; tell an error inside as a sentence about the exercises.

        which: numbers of exercises, such as "1, 2 and 4 to 7".

        Raises Mistake for a wrong answer, whose figure would mislead, and for any error inside but two:
        the NotImplementedError of an unsolved exercise is no mistake, and a failed assertion speaks for
        itself.
        """
        for number in numbers(which):
            for name in (name for name, one in self.numbers.items() if one == number):
                self._refuse_if_wrong(number, name)
        try:
            yield
        except Exception as error:
            exercises = f"exercise{'s' if ' ' in which else ''} {which}"
            if is_unsolved(error):
                raise not_solved(
                    f"This experiment runs through your answers to {exercises}: not all are there yet."
                ) from None
            if isinstance(error, AssertionError):
                raise
            raise Mistake(
                f"This experiment runs through your answers to {exercises} and stopped with "
                f"{type(error).__name__}: {error} Run the checks of {exercises} first."
            ) from error

    def _refuse_if_wrong(self, number: int, name: str) -> None:
        answer = vars(sys.modules["__main__"]).get(name)
        exercise = self.exercises[name]
        if answer is None or exercise.has_passed(answer):
            return
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exercise(answer, ask=False)
        except Mistake as mistake:
            raise Mistake(
                f"This experiment waits for exercise {number}: with an answer that fails its check, "
                f"what it shows would be wrong. {mistake.shown}"
            ) from None
        except NotImplementedError:
            return  # what runs through it says so


def numbers(which: str) -> list[int]:
    """The numbers in such words as "1, 2 and 4 to 7"."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", which):
        found += range(int(first), int(last or first) + 1)
    return found
