"""The polls of an assignment: they say what is answered, and never what is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seqcourse import progress
from seqcourse.check import worked
from seqcourse.check.calls.compare import Mistake, not_solved
from seqcourse.check.exercise import UNSEEN


@dataclass(frozen=True)
class Polls:
    """The polls of an assignment: the letters of each, such as {"poll_1": "abc"}."""

    letters: Mapping[str, str]

    def __call__(self, **answers: Any) -> None:
        """Say which polls are answered, and never which are right; show the reasons on a second try.

        Raises:
            Mistake: an answer is not one of the letters.
        """
        for name in self._answered(answers):
            key, reasons = worked.opened_poll(name)
            progress.note(name, passed=True, tried=True, key=key)
            print(f"{name}: answered.")
            if reasons:
                worked.show(reasons, name)

    def _answered(self, answers: Mapping[str, Any]) -> Iterator[str]:
        """The polls that are answered, one by one; says so of the others."""
        for name, letters in self.letters.items():
            answer = answers.get(name)
            if answer is None:
                print(f"{name}: no answer yet.")
            elif not isinstance(answer, str) or answer not in tuple(letters):
                listed = ", ".join(f'"{letter}"' for letter in letters)
                raise Mistake(f"{name} should be one of {listed}, but is {answer!r}.")
            else:
                yield name

    def validate(self, **answers: Any) -> None:
        """What nbgrader's Validate sees in the graded cell of a poll.

        Raises:
            NotImplementedError: there is no answer yet.
            Mistake: an answer is not one of the letters.
        """
        for name, answer in answers.items():
            if answer is None:
                raise not_solved(f"{name} has no answer yet.")
        for name in Polls({name: self.letters[name] for name in answers})._answered(answers):
            progress.note(name, passed=True)  # no try: the check of all polls is still to come
            print(f"{name}: answered.")
        print(UNSEEN)
