"""A student's answers in a process of their own: one that hangs costs its own questions only."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cellgrader.printable import printable
from seqcourse.check.told.finding import Finding
from seqcourse.cli.practice.items import LONGEST, PracticeQuestion, items

LIMIT = 90.0  # seconds for one answer, with its self-check and all its versions
# An answer, and what it uses: sources.
Answer = tuple[str, str]


def asked(
    assignment: str, answers: Mapping[str, Answer], most: int, seed: int, limit: float = LIMIT
) -> Iterator[list[PracticeQuestion] | str]:
    """At most so many questions about each answer, or the sentence that says why there are none.

    The process goes on with the next answers while a question is read. The same seed gives the same
    questions about the same code.
    """
    waiting, kinds = list(answers), Counter()
    while waiting:
        with multiprocessing.get_context("spawn").Pool(1, _quiet) as pool:
            told = [(assignment, name, *answers[name], seed) for name in waiting]
            for found in [pool.apply_async(_made, one) for one in told]:
                name = waiting.pop(0)
                try:
                    made = found.get(limit)
                except multiprocessing.TimeoutError:
                    yield f"No question about {name}: it ran longer than {limit:g} seconds."
                    break
                yield made if isinstance(made, str) else spread(made, most, kinds, seed)


def _quiet() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that asks
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _made(
    assignment: str, name: str, source: str, before: str, seed: int
) -> list[PracticeQuestion] | str:
    try:
        made = items(assignment, name, source, before, seed)
    except BaseException as error:
        return f"No question about {name}: it does not run here. {type(error).__name__}: {error}"
    if isinstance(made, Finding):
        why = printable(made.where, LONGEST)
        return f"No question about {name}: it does not pass its self-check yet. {why}"
    return made


def spread(
    made: Sequence[PracticeQuestion], most: int, kinds: Counter[str], seed: int
) -> list[PracticeQuestion]:
    """Some of the questions: of the kinds that were asked least, each about another line."""
    mixed, chosen = random.Random(seed).sample(made, len(made)), []
    while len(chosen) < most and mixed:
        here = {item.kind for item in chosen}
        chosen.append(min(mixed, key=lambda item: (item.kind in here, kinds[item.kind])))
        kinds[chosen[-1].kind] += 1
        mixed = [item for item in mixed if item.about != chosen[-1].about]
    return chosen
