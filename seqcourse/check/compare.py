"""Compare a student's result with the right one and find the mistake that explains it."""

from __future__ import annotations

import dis
import itertools
import re
import sysconfig
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.discreet import error_in_words, is_discreet, size_in_words, sizes_told
from seqcourse.check.inputs import copy, normal


class Mistake(AssertionError):
    """A self-check found something; the message is a sentence a student can act on."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the sentence alone, in lines that fit; IPython asks for this."""
        return textwrap.wrap(f"✗ {self}", width=88, break_long_words=False) or ["✗"]


class Stopped(Exception):
    """The error that a student's call stopped with, told again in plain text."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class AnyError(Exception):
    """Raised by the answer of a likely mistake: any error does whose message holds this pattern."""


@dataclass(frozen=True)
class Other:
    """What a student's call returned and no plain array can hold, in a few fixed words."""

    words: str


@dataclass(frozen=True)
class Likely:
    """A mistake that people really make.

    question: asks about the mistake ("Did you forget b_hh?").
    answer: a function that makes it; it gets the arguments of the exercise. When a student's
        function returns the same thing, or stops with the same error, the question is asked.
        (A mistake that stops with many different messages raises AnyError with a pattern.)
    """

    question: str
    answer: Callable[..., Any]


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        # A student's own kind of tuple may have no end.
        return [item for part in itertools.islice(value, 100_000) for item in _flat(part)]
    return [torch.from_numpy(value) if isinstance(value, numpy.ndarray) else value]


MOST_TOLD = 4
MOST_AXES = 6
DEEPEST = 2


def _sizes(value: Tensor | numpy.ndarray) -> str:
    """A shape in words; of very many axes only how many: their sizes could carry a message."""
    sizes = [size_in_words(size) for size in value.shape]
    if len(sizes) > MOST_AXES:
        return f"with {size_in_words(len(sizes))} axes"
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def describe(value: Any, depth: int = 0) -> str:
    """A value in a few words: "a tensor (2, 3)", "a tuple of 2", "None"."""
    if isinstance(value, (Tensor, numpy.ndarray)):
        if is_discreet() and not value.ndim:  # plain numbers have become tensors on their way here
            return "a number"
        return f"a tensor {_sizes(value)}"
    if isinstance(value, (tuple, list)):
        whole = f"a {type(value).__name__} of {size_in_words(len(value))}"
        inside = [describe(item, depth + 1) for item in value[:MOST_TOLD] if depth < DEEPEST]
        return f"{whole} ({', '.join([*inside, '...'][: len(value)])})" if inside else whole
    if isinstance(value, (set, frozenset)):  # how many there are may be what is asked for
        return "a set" if is_discreet() else f"a set of {len(value)}"
    if callable(value):
        return "a function"
    if isinstance(value, torch.Generator):
        return "a generator"
    if value is None:
        return "None"
    if isinstance(value, Other):
        return value.words
    if is_discreet():
        return _PLAIN.get(type(value), "something that is no tensor")
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return f"{value!r}, of type {type(value).__name__}"


_PLAIN = {bool: "a bool", int: "a number", float: "a number", str: "a string"}


def _close(one: Any, other: Any, tolerance: float | None) -> bool:
    """Whether two tensors hold the same numbers; the coarser dtype of the two sets the limit."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return type(one) is type(other) and one == other
    if one.shape != other.shape:
        return False
    if not (one.is_floating_point() or other.is_floating_point()):
        return torch.equal(one.long(), other.long())
    if tolerance is None:
        coarse = torch.float32 in (one.dtype, other.dtype)
        tolerance = 2e-5 if coarse else 1e-7
    one, other = one.detach().double(), other.detach().double()
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def same(one: Any, other: Any, tolerance: float | None = None) -> bool:
    """Whether two results (tensors, tuples of tensors) have the same shapes and numbers."""
    if isinstance(one, (tuple, list)) != isinstance(other, (tuple, list)):
        return False
    ones, others = _flat(one), _flat(other)
    return len(ones) == len(others) and all(
        _close(a, b, tolerance) for a, b in zip(ones, others, strict=True)
    )


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The result of a call, or the exception that it stopped with."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments)
    except Exception as error:  # a student's code may stop with anything
        if is_unsolved(error):
            raise
        return error


_LIBRARIES = (
    *(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
)


def is_unsolved(error: BaseException) -> bool:
    """Whether the stub of an exercise raised this error: a `raise` that stands in no library.

    PyTorch raises NotImplementedError, too, for what it cannot compute.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if not isinstance(error, NotImplementedError) or trace is None:
        return False
    code = trace.tb_frame.f_code
    raised = code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    return raised and not code.co_filename.startswith(_LIBRARIES)


def error_kind(value: Any) -> str:
    return getattr(value, "kind", type(value).__name__)


def _explain(got: Any, arguments: Sequence[Any], likely: Iterable[Likely], tolerance) -> str:
    """The question of the first likely mistake with the same outcome, or an empty string."""
    for mistake in likely:
        wrong = outcome(mistake.answer, copy(tuple(arguments)))
        if isinstance(wrong, AnyError):
            if isinstance(got, Exception) and re.search(str(wrong), str(got)):
                return mistake.question
        elif isinstance(got, Exception) or isinstance(wrong, Exception):
            if error_kind(got) == error_kind(wrong) and str(got) == str(wrong):
                return mistake.question
        elif same(got, wrong, tolerance):
            return mistake.question
    return ""


def _signature(name: str, got: Exception) -> str:
    """A question, when the function itself takes other arguments than it was called with."""
    if error_kind(got) == "TypeError" and str(got).startswith(f"{name.split()[0]}() "):
        return "Does it take the arguments that the text lists, in that order?"
    return ""


def _first_difference(got: Tensor, expected: Tensor) -> str:
    gap = (got.double() - expected.double()).abs()
    gap = torch.where(gap.isnan(), torch.inf, gap)
    place = numpy.unravel_index(int(gap.argmax()), tuple(gap.shape))
    place = tuple(int(index) for index in place)
    if is_discreet():
        return ""
    where = f"At index {place} expected" if place else "Expected"
    return f"{where} {expected[place].item():.6g}, got {got[place].item():.6g}."


def compare(
    name: str,
    got: Any,
    expected: Any,
    arguments: Iterable[Any] = (),
    likely: Iterable[Likely] = (),
    *,
    hint: str = "",
    tolerance: float | None = None,
) -> None:
    """Raise Mistake, with the likeliest reason, unless `got` is `expected`.

    Compares structure, shapes, dtypes and numbers. `arguments` are those of the call; the `likely`
    mistakes are tried on them. `hint` is added when none of them explains the difference.
    """
    arguments = tuple(arguments)
    with sizes_told(*arguments, expected):
        if isinstance(got, Exception):
            question = _explain(got, arguments, likely, tolerance) or _signature(name, got) or hint
            sizes = ", ".join(describe(value) for value in arguments)
            raise Mistake(
                f"{name} stopped with {error_in_words(error_kind(got), str(got))}. "
                f"It was called with {sizes}. {question}".strip()
            ) from got
        if got is None:
            raise Mistake(f"{name} returned None. Is the return statement missing?")
        if not same(got, expected, tolerance):
            question = _explain(got, arguments, likely, tolerance) or _squeezed(got, expected)
            raise Mistake(f"{name}: {_difference(got, expected)} {question or hint}".strip())
        for one, other in zip(_flat(got), _flat(expected), strict=True):
            if isinstance(one, Tensor) and one.dtype != other.dtype:
                raise Mistake(
                    f"{name}: the numbers are right, but the dtype should be {other.dtype} like the "
                    f"input's and is {one.dtype}. {hint}".strip()
                )


def _squeezed(got: Any, expected: Any) -> str:
    """A question, when the shapes differ by nothing but axes of size 1."""
    for one, other in zip(_flat(got), _flat(expected), strict=False):
        if not (isinstance(one, Tensor) and isinstance(other, Tensor)) or one.shape == other.shape:
            continue
        if one.ndim != other.ndim and one.squeeze().shape == other.squeeze().shape:
            if one.ndim < other.ndim:
                return "Does a squeeze() or an index such as [0] drop an axis of size 1?"
            return "Is there an axis of size 1 too many? squeeze(-1) or [:, 0] removes it."
    return ""


def _difference(got: Any, expected: Any) -> str:
    ones, others = _flat(got), _flat(expected)
    grouped = isinstance(got, (tuple, list)) == isinstance(expected, (tuple, list))
    plain = all(
        isinstance(item, Tensor) if isinstance(want, Tensor) else type(item) is type(want)
        for item, want in zip(ones, others, strict=False)
    )
    if not grouped or len(ones) != len(others) or not plain:
        return f"expected {describe(expected)}, got {describe(got)}."
    for index, (one, other) in enumerate(zip(ones, others, strict=True)):
        part = f"part {index + 1} of the result" if len(ones) > 1 else "the result"
        if not isinstance(one, Tensor):
            if one != other and is_discreet():
                return f"{part} is not the right one."
            if one != other:
                return f"{part} should be {other!r}, but is {one!r}."
        elif one.shape != other.shape:
            return f"the shape of {part} should be {_sizes(other)}, but is {_sizes(one)}."
        elif one.is_floating_point() and one.isnan().any() and not other.isnan().any():
            return f"{part} holds NaN (not a number)."
        elif not _close(one, other, None):
            wrong = (
                f"the shape of {part} is right, the numbers are not."
                if one.ndim
                else (f"{part} is a number, but not the right one.")
            )
            return f"{wrong} {_first_difference(one.detach(), other.detach())}".strip()
    return "the result differs."


def gradients(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> dict[str, Tensor | None]:
    """The gradient of a fixed weighted sum of the results, for the wanted arguments by name.

    None stands for an argument that no gradient reaches.
    """
    given = copy(dict(given))
    for argument in wanted:
        given[argument].requires_grad_()
    with torch.enable_grad():  # some cell of a notebook may have switched gradients off for all
        results = [item for item in _flat(function(*given.values())) if item.is_floating_point()]
        weights = [normal({"w": item.shape}, 7 + k)["w"] for k, item in enumerate(results)]
        total = sum((item * w).sum() for item, w in zip(results, weights, strict=True))
    if not total.requires_grad:
        return dict.fromkeys(wanted)
    leaves = [given[argument] for argument in wanted]
    return dict(zip(wanted, torch.autograd.grad(total, leaves, allow_unused=True), strict=True))


def compare_gradients(
    name: str, got: Mapping[str, Tensor | Exception | None], expected: Mapping[str, Tensor | None]
) -> None:
    """Raise Mistake when a gradient is wrong, is missing (None), or stopped with an error."""
    for argument, right in expected.items():
        reached = got[argument]
        if isinstance(reached, Exception):
            with sizes_told(*expected.values()):
                words = error_in_words(error_kind(reached), str(reached))
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}: on the way it "
                f"stops with {words}. Did you use NumPy, or change a tensor in place?"
            )
        if reached is None:
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}. "
                "Did you use .detach(), .data, .item(), NumPy or torch.no_grad() on the way?"
            )
        if not same(reached, right):
            raise Mistake(
                f"{name}: the numbers are right, but the gradient of {argument} is not. "
                "Did a .detach() or .data cut off one of several paths?"
            )
