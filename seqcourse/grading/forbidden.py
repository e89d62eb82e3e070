"""Which functions an answer uses, read from the source: an exercise can forbid its own answer.

A forbidden entry is

- a last name, "softmax": any function, method or class of that name, wherever it comes from, in its
  usual spellings (torch.softmax, x.softmax(...), F.softmax, torch.nn.Softmax, torch._softmax);
- a dotted name, "torch.nn.MultiheadAttention": the same, but of this library only; or a whole module,
  "torch.nn.functional": everything below it except its constants.

Only what the answer reaches counts: its own body and the helpers, classes and aliases that it names,
over all cells. What a student wrote is no offence, whatever its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock

from seqcourse.check.using import covers
from seqcourse.grading.source.cells import LONGEST
from seqcourse.grading.source.names import Names
from seqcourse.grading.source.search import UNREADABLE, Search, Use

__all__ = ["ALWAYS", "UNREADABLE", "Use", "covers", "sentence", "uses"]

_ONE_AT_A_TIME = Lock()  # a search writes into what was read, and wipes it out again
# The reference answers stand in the checks: never part of an answer, whatever the exercise.
ALWAYS = ("seqcourse.check", "seqcourse.grading")


def uses(source_cells: Sequence[str], answer: str, forbidden: Iterable[str]) -> list[Use]:
    """The forbidden names that an answer uses, each once, nearest to the answer first.

    source_cells: the code cells in the order they ran, up to where the answer is called: a later
        definition takes the place of an earlier one.
    answer: the name of the function or class.
    forbidden: entries as in this module's first lines; `ALWAYS` is added.

    Constructs that reach into a library or run code by a text that is not written there come as
    uses that are not `readable`, unless nothing is forbidden. getattr(self, name) on a student's own
    object is none.
    """
    entries = tuple(forbidden)

    def matches(path: str) -> bool:
        always = any(f"{path}.".startswith(f"{entry}.") for entry in ALWAYS)
        return always or any(covers(entry, path) for entry in entries)

    try:
        with _ONE_AT_A_TIME:
            found = Search(_read(tuple(source_cells)), matches).of(answer)
    except RecursionError:
        found = [Use(answer, UNREADABLE, 1)]
    if any(len(cell) > LONGEST for cell in source_cells):
        found.append(Use("a cell that is too long to be read", UNREADABLE, 1))
    return [use for use in found if use.readable or entries]


@lru_cache(maxsize=2)  # the exercises of a submission are asked for one after the other
def _read(cells: tuple[str, ...]) -> Names:
    return Names(cells)


def sentence(use: Use, answer: str) -> str:
    """What the student is told."""
    if not use.readable:
        return (
            f"{answer} holds {use.name} (line {use.line} of the cell): what it uses is known only when "
            f"it runs, and this exercise forbids some functions. Write the name itself."
        )
    where = ", ".join(filter(None, [use.how, f"line {use.line} of the cell"]))
    return f"{answer} uses {use.name} ({where}), which is the thing to build here."
