"""A student's answers in a process of their own: one that hangs, or ends it, costs its own questions only."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection

from seqcourse.check.finding import Finding
from seqcourse.practice.items import Item, items

LIMIT = 90.0  # seconds for one answer, with its self-check and all its versions
# An answer, and what it uses: sources.
Answer = tuple[str, str]


def asked(
    assignment: str, answers: Mapping[str, Answer], most: int, seed: int, limit: float = LIMIT
) -> Iterator[list[Item] | str]:
    """At most so many questions about each answer, or the sentence that says why there are none.

    The process goes on with the next answer while a question is read. The same seed gives the same
    questions about the same code.
    """
    waiting, context = list(answers.items()), multiprocessing.get_context("spawn")
    while waiting:
        here, there = context.Pipe(duplex=False)
        told = (there, assignment, waiting, most, seed, limit)
        child = context.Process(target=_work, args=told, daemon=True)
        child.start()
        there.close()
        try:
            while waiting:
                yield here.recv()
                del waiting[0]
        except EOFError:
            name, _ = waiting.pop(0)
            yield f"No question about {name}: it ran longer than {limit:g} seconds or ended its process."
        finally:
            child.terminate()
            child.join()
            here.close()


def _work(
    pipe: Connection,
    assignment: str,
    todo: Sequence[tuple[str, Answer]],
    most: int,
    seed: int,
    limit: float,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that asks
    sys.stdout = sys.stderr = nothing = open(os.devnull, "w", encoding="utf-8")
    kinds: Counter[str] = Counter()
    for name, answer in todo:
        faulthandler.dump_traceback_later(limit, exit=True, file=nothing)
        try:
            made = items(assignment, name, *answer, seed)
            why = f"does not pass its self-check yet: {made.where}" if isinstance(made, Finding) else ""
        except BaseException as error:
            why = f"does not run outside its notebook: {type(error).__name__}: {error}"
        faulthandler.cancel_dump_traceback_later()
        pipe.send(f"No question about {name}: it {why}" if why else _chosen(made, most, kinds, seed))


def _chosen(made: Sequence[Item], most: int, kinds: Counter[str], seed: int) -> list[Item]:
    """Some of the questions: of the kinds that were asked least, each about another line."""
    mixed, chosen = random.Random(seed).sample(made, len(made)), []
    while len(chosen) < most and mixed:
        chosen.append(min(mixed, key=lambda item: kinds[item.kind]))
        kinds[chosen[-1].kind] += 1
        mixed = [item for item in mixed if item.about != chosen[-1].about]
    return chosen
