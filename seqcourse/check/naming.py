"""Find the likely mistakes that explain the results of several calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqcourse.check.compare import Likely, outcome, same
from seqcourse.check.inputs import copy
from seqcourse.check.values import plainly


def explaining(
    likely: Sequence[Likely], results: Sequence[Any], made: Sequence[Mapping[str, Any]]
) -> list[Likely]:
    """The likely mistakes that reproduce all of these results, or all likely mistakes if none does.

    A single call often cannot tell two mistakes apart.

    Args:
        likely: the candidates.
        results: results of the student's function (from `result`), or errors, which are ignored.
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
