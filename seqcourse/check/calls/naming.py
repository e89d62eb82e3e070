"""Find the likely mistakes that explain several calls, and sizes written into the code."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy
from torch import Tensor

from seqcourse.check.calls.compare import Likely, outcome, same
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.values import plainly

WRITTEN = "written"  # the name of `written_numbers` in what a probe hands over
MOST_WRITTEN = 1_000


def explaining(
    likely: Sequence[Likely], results: Sequence[Any], made: Sequence[Mapping[str, Any]]
) -> list[Likely]:
    """The likely mistakes that reproduce all of these results, or all likely mistakes if none does.

    A single call often cannot tell two mistakes apart. NaN alone tells nothing: many mistakes make it.

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
    if calls and all(_is_nan(got) for got, _ in calls):
        whole = []
    return whole or [Likely(mistake.question, _telling(mistake.answer)) for mistake in likely]


def _is_nan(got: Any) -> bool:
    parts = got if isinstance(got, (tuple, list)) else [got]
    return all(isinstance(part, Tensor) and bool(part.isnan().all()) for part in parts)


def _telling(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The answer of a mistake, but an error where it is nothing but NaN."""

    def told(*arguments: Any) -> Any:
        got = plainly(answer)(*arguments)
        if _is_nan(got):
            raise ArithmeticError("not a number")
        return got

    return told


def written_numbers(answer: Any) -> numpy.ndarray:
    """The whole numbers in the code of a function, or of a class's methods."""
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    codes = (getattr(part, "__code__", None) for part in parts)
    found = [number for code in codes if isinstance(code, CodeType) for number in _numbers(code)]
    return numpy.array(
        [number for number in found if 2 < number < 1_000][:MOST_WRITTEN], dtype=numpy.int64
    )


def _numbers(code: CodeType) -> Iterator[int]:
    """Whole numbers that code loads, also in functions inside it. From Python 3.14 on they are not all
    among its constants.
    """
    for step in dis.get_instructions(code):
        if not step.opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST")):
            continue
        if isinstance(step.argval, CodeType):
            yield from _numbers(step.argval)
        elif type(step.argval) is int:
            yield step.argval


def size_question(written: numpy.ndarray, example: Any) -> str:
    """A question if a number of an answer's code is a size of the self-check's first example."""
    numbers = set(written.ravel()[:MOST_WRITTEN].tolist())
    return "Is a size written into your code?" if numbers & set(_sizes(example)) - {0, 1, 2} else ""


def _sizes(value: Any) -> Iterator[int]:
    if isinstance(value, (Tensor, int)):
        yield from value.shape if isinstance(value, Tensor) else [value]
    elif isinstance(value, (tuple, list, Mapping)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _sizes(part)
