"""Mistakes as the wrong answers that make them.

A wrong answer that names a mistake is headed ``=== mistake: NAME | QUESTION`` on its exercise's card.
There it is a small change to a right answer, which a student's package does not hold. So the package has
them written out (`shipped`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from seqcourse.check.calls.compare import Likely

# What the notebooks import before their first exercise, and the ids of assignment 7.
IMPORTS = """\
import math, random
from collections import Counter
import numpy as np
import torch
from torch import nn
from seqcourse import data, decode, functional, models
from seqcourse.tokens import EOS, PAD, SOS
CLS, SEP, UNK, MASK, FIRST, IGNORE = 1, 2, 3, 4, 5, -100
"""


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer as a function or class; its text runs when it is called.

    name: of the function or class.      source: its text.
    others: right answers to the assignment's exercises, which it may call.
    """

    name: str
    source: str
    others: Mapping[str, Any]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.made()(*arguments, **named)

    def made(self) -> Any:
        """The function or class itself."""
        space = {**_imported(), **self.others}
        exec(_compiled(self.source, self.name), space)
        return space[self.name]


@cache
def _compiled(source: str, name: str) -> Any:
    return compile(source, f"<a mistake in {name}>", "exec")


@cache
def _imported() -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(IMPORTS, space)
    return space


def likely(exercise: str, written: Iterable[Sequence[str]], others: Mapping[str, Any]) -> list[Likely]:
    """The likely mistakes of an exercise, from questions and texts of wrong answers."""
    return [Likely(question, WrongAnswer(exercise, source, others)) for question, source in written]
