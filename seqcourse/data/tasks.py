"""Synthetic tasks with known answers, for experiments on what a model can learn."""

from __future__ import annotations

from numbers import Integral

import numpy

from seqcourse.errors import CourseError
from seqcourse.tokens import SPECIALS


def copy_task(
    n: int, length: int | tuple[int, int], symbols: int = 10, reverse: bool = False, seed: int = 0
) -> tuple[list[list[int]], list[list[int]]]:
    """Random sequences to copy or to reverse.

    Args:
        n: how many.
        length: of every sequence, or (shortest, longest) for lengths drawn evenly.
        symbols: how many different symbols; their ids are 4 .. 3 + symbols, so a model for the
            task has a vocabulary of 4 + symbols.
        reverse: the target is the source backwards.
        seed: of the sequences.

    Returns:
        source and target id lists without specials, as ``Batches`` takes them.

    Raises:
        CourseError: a number is out of range.
    """
    low, high = (length, length) if isinstance(length, Integral) else length
    if n < 1 or symbols < 1 or not 1 <= low <= high:
        raise CourseError(
            f"copy_task expects n, symbols and lengths of at least 1 and (shortest, longest) in "
            f"this order, but got n={n}, symbols={symbols}, length={length}."
        )
    rng = numpy.random.default_rng(seed)
    first = len(SPECIALS)
    sizes = rng.integers(low, high + 1, size=n)
    sources = [rng.integers(first, first + symbols, size=size).tolist() for size in sizes]
    targets = [ids[::-1] if reverse else list(ids) for ids in sources]
    return sources, targets
