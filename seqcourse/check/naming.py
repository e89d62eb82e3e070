"""Which likely mistake explains the results of several calls at once?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqcourse.check.compare import Likely, outcome, same
from seqcourse.check.inputs import copy
from seqcourse.check.values import plainly


def explaining(
    likely: Sequence[Likely], results: Sequence[Any], made: Sequence[Mapping[str, Any]]
) -> list[Likely]:
    """The likely mistakes that give all of these results; if none does, all that are likely.

    On one call alone different mistakes often come out the same.

    results: what the student's function returned (from `result`), or the error that it stopped with.
    made: the arguments of the same calls.
    """
    calls = [
        (got, tuple(given.values()))
        for got, given in zip(results, made, strict=True)
        if not isinstance(got, Exception)
    ]
    whole = [
        mistake
        for mistake in likely
        if all(same(got, outcome(plainly(mistake.answer), copy(arguments))) for got, arguments in calls)
    ]
    return whole or list(likely)
