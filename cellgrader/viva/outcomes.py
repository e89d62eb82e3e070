"""What versions of an answer did, read from the arrays that the sandbox handed over (untrusted).

Needs no sandbox and no class: a student's own answers are asked about with it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from cellgrader.viva.changes import Change, Marked

STOPS, SHAPE, SAME, VALUES, UNCLEAR = "stops", "shape", "same", "values", "unclear"
# Relative differences: up to the first one nothing has changed; from the second one on it can be seen.
EQUAL, SEEN = 1e-9, 1e-2


@dataclass(frozen=True)
class Outcome:
    """What one version did on one call.

    parts: what it returned, part by part: "result", or "result.0", "result.1", ...
    error: the name of the error's type, or "".     line: where it stopped; 0 if that is unknown.
    says: the error's message.     ran: the lines that ran.
    good: whether there is a result or an error to ask about.
    """

    parts: Mapping[str, numpy.ndarray] = field(default_factory=dict)
    error: str = ""
    line: int = 0
    ran: frozenset[int] = frozenset()
    says: str = ""

    @property
    def good(self) -> bool:
        return bool(self.parts or self.error)


def read(found: Mapping[str, numpy.ndarray], version: int, call: int, is_class: bool) -> Outcome:
    """The outcome of a version on a call.

    Args:
        found: what ``inside.changed.run`` of the checks returned.
        is_class: the results are those of several calls of one object; the first one counts.
    """
    start = f"{version}.{call}."
    mine = {name.removeprefix(start): found[name] for name in sorted(found) if name.startswith(start)}
    ran = frozenset(_numbers(mine.get("ran")))
    line = next(iter(_numbers(mine.get("line"))), 0)
    for name, value in mine.items():
        counts = not is_class or name.startswith(("result.0", "built", "result.error"))
        if name.endswith(".error") and counts and value.dtype.kind == "U" and value.shape == (2,):
            return Outcome(error=str(value[0]), line=line, ran=ran, says=str(value[1]))
    if any(name.startswith("unsolved") for name in mine):
        return Outcome()
    first = "result.0" if is_class else "result"
    parts = {
        name: numpy.array(str(value.tolist())) if name.endswith(".set") else value
        for name, value in mine.items()
        if (name == first or name.startswith(f"{first}."))
        and not name.endswith((".tuple", ".list", ".other"))
    }
    return Outcome(parts, ran=ran)


def _numbers(value: numpy.ndarray | None) -> list[int]:
    if value is None or value.dtype.kind not in "iu" or value.size > 10_000:
        return []
    return [int(number) for number in value.ravel()]


def effect(before: Outcome, after: Outcome) -> tuple[str, str]:
    """What a change did, and in which part of the result.

    Returns:
        STOPS, SHAPE, SAME, VALUES, or UNCLEAR where no question can be asked; and the part's name.
    """
    if not before.good or not after.good or before.error:
        return UNCLEAR, ""
    if after.error:
        return STOPS, ""
    if set(before.parts) != set(after.parts):
        return UNCLEAR, ""
    differ = UNCLEAR, ""
    for name, old in before.parts.items():
        new = after.parts[name]
        if (old.dtype.kind == "U") != (new.dtype.kind == "U"):
            return UNCLEAR, ""  # None or a text in the place of numbers
        if old.shape != new.shape:
            return SHAPE, name
        size = _difference(old, new)
        if size > SEEN:
            differ = (VALUES, name) if differ[0] == UNCLEAR else differ
        elif size > EQUAL:
            return UNCLEAR, ""
    if differ[0] == VALUES:
        return differ
    return SAME, ""


def _difference(old: numpy.ndarray, new: numpy.ndarray) -> float:
    """The largest difference of two arrays of one shape, relative to the old one's size."""
    if "U" in (old.dtype.kind, new.dtype.kind):
        return 0.0 if numpy.array_equal(old, new) else 1.0
    old, new = old.astype(float), new.astype(float)
    if not old.size or numpy.array_equal(old, new, equal_nan=True):
        return 0.0
    if not numpy.array_equal(numpy.isfinite(old), numpy.isfinite(new)):
        return 1.0
    real = numpy.isfinite(old)
    scale = float(numpy.abs(old[real]).max(initial=0.0)) or 1.0
    return float(numpy.abs(old[real] - new[real]).max(initial=0.0)) / scale


@dataclass(frozen=True)
class Planned:
    """One answer, its changes, and the cell that reports shapes."""

    source: str
    changes: Sequence[Change] = ()
    marked: Marked = field(default_factory=lambda: Marked("", ()))


@dataclass(frozen=True)
class Tried:
    """One answer with all that its versions did. Version 0 is the answer itself."""

    name: str
    is_class: bool
    planned: Planned
    calls: Sequence[Any]
    found: Mapping[str, numpy.ndarray]

    def outcome(self, version: int, call: int) -> Outcome:
        return read(self.found, version, call, self.is_class)

    def shape(self, place: int) -> tuple[int, ...] | None:
        """The shape of a marked expression on the first call."""
        found = self.found.get(f"shape.{place}")
        if found is None or found.ndim != 1 or found.dtype.kind != "i" or len(found) > 6:
            return None
        return tuple(int(size) for size in found)
