"""What a check found wrong, as data. A text is made of it where a person reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with an answer.

    what: sentences that say so.
    question: leads to the mistake, or says what to try; "" if nothing explains it.
    inputs: the kinds of input on which it is so, in the student's words; () where it does not matter.
    """

    what: str
    question: str = ""
    inputs: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """What is wrong and on which inputs, without the question."""
        return str(replace(self, question=""))

    def __str__(self) -> str:
        inputs = f"(Input: {'; '.join(self.inputs)}.)" if self.inputs else ""
        return " ".join(part for part in (self.what, self.question, inputs) if part)

    def told(self, clean: Callable[[str], str]) -> Finding:
        """The same with what may come from a student cleaned."""
        return replace(self, what=clean(self.what), question=clean(self.question))
