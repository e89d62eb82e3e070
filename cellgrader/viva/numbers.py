"""How the numbers of a result can be shown, and by what they were multiplied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy

ENTRIES = (2, 6)  # numbers in a row that is printed


def factor_between(old: numpy.ndarray, new: numpy.ndarray) -> float | None:
    """The number by which all was multiplied, if it is one and not 1."""
    old, new = old.astype(float), new.astype(float)
    if old.size < 2 or not (numpy.isfinite(old).all() and numpy.isfinite(new).all()):
        return None
    top = numpy.unravel_index(numpy.abs(old).argmax(), old.shape)
    if not old[top]:
        return None
    factor = float(new[top] / old[top])
    close = numpy.allclose(new, factor * old, rtol=1e-6, atol=1e-9)
    return factor if close and not numpy.isclose(factor, 1) and abs(factor) > 1e-3 else None


View = tuple[str, Callable[[numpy.ndarray], str], bool]


def views(old: numpy.ndarray) -> Iterator[View]:
    """How numbers can be shown, the most telling way first: (words, text of an array, plain)."""
    if not old.ndim:
        yield "{} is", lambda one: _text(one.reshape(1)), False
        return
    (low, high), last = ENTRIES, old.shape[-1]
    if old.ndim > 1 and low <= old.shape[-2] <= high and old.dtype.kind == "f":
        rows, sums = old.shape[-2], old.sum(-1)
        if numpy.allclose(sums, sums.flat[0], atol=1e-6):
            words = "the rows of the first matrix in {} sum to"
            yield words, lambda one: _text(one.sum(-1).reshape(-1, rows)[0]), False
    if low <= last <= high:
        words = "the first row of {} is" if old.ndim > 1 else "the first entries of {} are"
        yield words, lambda one: _text(one.reshape(-1, last)[0]), old.dtype.kind == "f"


def _text(row: numpy.ndarray) -> str:
    """Numbers as they are printed: "0.21, 0.50, 0.29"; "" for numbers that are hard to read."""
    if row.dtype.kind == "f":
        large = numpy.isfinite(row) & (numpy.abs(row) >= 1000)
        return "" if large.any() else ", ".join(f"{number + 0.0:.2f}" for number in row)
    return ", ".join(str(int(number)) for number in row)
