"""Compare a student's result with the expected one and name the mistake that explains a difference."""

from __future__ import annotations

import itertools
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.calls.errors import error_kind, error_question, is_unsolved, signature_question
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.margin import note
from seqcourse.check.told.discreet import error_in_words, is_discreet, size_in_words, sizes_told
from seqcourse.check.told.finding import Finding
from seqcourse.check.told.notebook_lines import line_of, note_line

# The tolerances of float32 and of float64; `seqcourse audit` measures what lies on both sides of them.
COARSE, FINE = 5e-4, 1e-7


class Mistake(AssertionError):
    """A check failed: what is wrong, and a question that leads to the mistake.

    finding: the same as data.
    sized: whether a size that is written into the code could be the cause.
    shown: what a notebook shows of it; all of it without.
    """

    shown = ""

    def __init__(
        self, what: str, question: str = "", inputs: tuple[str, ...] = (), sized: bool = False
    ) -> None:
        self.finding, self.sized = Finding(what.strip(), question, inputs), sized
        super().__init__(str(self.finding))

    def _render_traceback_(self) -> list[str]:
        """IPython's hook for the traceback: show only the wrapped sentences."""
        return _wrapped(f"✗ {self.shown or self}") or ["✗"]


def _wrapped(text: str) -> list[str]:
    return [
        part for line in text.splitlines() for part in textwrap.wrap(line, 88, break_long_words=False)
    ]


def not_solved(sentence: str) -> NotImplementedError:
    """The error of an exercise without an answer; a notebook shows this sentence and no traceback."""
    error = NotImplementedError(sentence)
    error._render_traceback_ = lambda: _wrapped(f"– {sentence}")
    return error


class Stopped(Exception):
    """The error that a student's call raised: its type's name (``kind``) and its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class AnyError(Exception):
    """Raised by a likely mistake that matches any error whose message contains this pattern."""


def stopping(pattern: str, when: Callable[..., bool] = lambda *given: True) -> Callable[..., None]:
    """A likely mistake that stops with any error whose message contains this pattern.

    when: of the arguments, whether it stops.
    """

    def stops(*given: Any) -> None:
        if when(*given):
            raise AnyError(pattern)

    return stops


@dataclass(frozen=True)
class Other:
    """A result that plain arrays cannot represent, described by a fixed phrase."""

    words: str


@dataclass(frozen=True)
class Likely:
    """A typical mistake.

    question: asks about the mistake, for example "Did you forget b_hh?".
    answer: a function with the exercise's arguments that makes the mistake. If the student's function
        returns the same result or raises the same error, the message asks the question. Raise AnyError
        with a pattern if the mistake's error message varies.
    """

    question: str
    answer: Callable[..., Any]


# How likely mistakes may be written down: as objects, or as answers by their question.
LikelyMistakes = Iterable[Likely] | Mapping[str, Callable[..., Any] | tuple[Callable[..., Any], ...]]


def listed(likely: LikelyMistakes) -> list[Likely]:
    """Likely mistakes as objects, in their order."""
    if not isinstance(likely, Mapping):
        return list(likely)
    return [
        Likely(question, answer)
        for question, answers in likely.items()
        for answer in (answers if isinstance(answers, tuple) else (answers,))
    ]


def flatten(value: Any) -> list[Any]:
    """The parts of a result, also those within parts; arrays as tensors."""
    if isinstance(value, (tuple, list)):
        # A student's tuple subclass may be infinite.
        return [item for part in itertools.islice(value, 100_000) for item in flatten(part)]
    return [torch.from_numpy(value) if isinstance(value, numpy.ndarray) else value]


NOT_A_TENSOR = "something that is not a tensor"
MOST_DESCRIBED = 4
MOST_AXES = 6
DEEPEST = 2


def _sizes(value: Tensor | numpy.ndarray) -> str:
    """A shape in words. For many axes only their number: the sizes could leak hidden inputs."""
    sizes = [size_in_words(size) for size in value.shape]
    if len(sizes) > MOST_AXES:
        return f"with {size_in_words(len(sizes))} axes"
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def describe(value: Any, depth: int = 0) -> str:
    """Describe a value briefly: "a tensor (2, 3)", "a tuple of 2", "None"."""
    if isinstance(value, (Tensor, numpy.ndarray)):
        if is_discreet() and not value.ndim:  # plain numbers were converted to tensors
            return "a number"
        return f"a tensor {_sizes(value)}"
    if isinstance(value, (tuple, list)):
        whole = f"a {type(value).__name__} of {size_in_words(len(value))}"
        inside = [describe(item, depth + 1) for item in value[:MOST_DESCRIBED] if depth < DEEPEST]
        return f"{whole} ({', '.join([*inside, '...'][: len(value)])})" if inside else whole
    if isinstance(value, (set, frozenset)):  # the size may be the answer
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
        return _KINDS_IN_WORDS.get(type(value), NOT_A_TENSOR)
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return f"{value!r}, of type {type(value).__name__}"


_KINDS_IN_WORDS = {bool: "a bool", int: "a number", float: "a number", str: "a string"}


def _is_close(one: Any, other: Any, tolerance: float | None) -> bool:
    """Whether two tensors are equal within a tolerance, by default that of the coarser dtype."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return type(one) is type(other) and one == other
    if one.shape != other.shape:
        return False
    if not (one.is_floating_point() or other.is_floating_point()):
        return torch.equal(one.long(), other.long())
    tolerance = usual_tolerance(one, other) if tolerance is None else tolerance
    one, other = one.detach().double(), other.detach().double()
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def usual_tolerance(one: Tensor, other: Tensor) -> float:
    """The tolerance of exercises without one of their own: that of the coarser of two dtypes."""
    return COARSE if torch.float32 in (one.dtype, other.dtype) else FINE


def same(one: Any, other: Any, tolerance: float | None = None) -> bool:
    """Whether two results (tensors or tuples of tensors) have equal shapes and numbers."""
    if isinstance(one, (tuple, list)) != isinstance(other, (tuple, list)):
        return False
    ones, others = flatten(one), flatten(other)
    return len(ones) == len(others) and all(
        _is_close(a, b, tolerance) for a, b in zip(ones, others, strict=True)
    )


def is_right(got: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Whether a result is the same as the right one; notes how far the two are apart, see `margin`."""
    for one, other in zip(flatten(got), flatten(expected), strict=False):
        if isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape:
            if one.is_floating_point() or other.is_floating_point():
                note(one, other, usual_tolerance(one, other) if tolerance is None else tolerance)
    return same(got, expected, tolerance)


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The result of a call, or the exception that it raised.

    Raises:
        NotImplementedError: the function is an unsolved stub, see ``is_unsolved``.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments)
    except Exception as error:  # student code may raise anything
        if is_unsolved(error):
            raise
        note_line(error)
        return error


def _explain(got: Any, arguments: Sequence[Any], likely: Iterable[Likely], tolerance) -> str:
    """The question of the first likely mistake with the same outcome, or ""."""
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


_LIKE_THE_OLD = "Create new tensors like the old ones: x.new_zeros(...), torch.zeros_like(x)."


def _first_difference(got: Tensor, expected: Tensor) -> str:
    gap = (got.double() - expected.double()).abs()
    gap = torch.where(gap.isnan(), torch.inf, gap)
    place = numpy.unravel_index(int(gap.argmax()), tuple(gap.shape))
    place = tuple(int(index) for index in place)
    if is_discreet():
        return ""
    where = f"At index {place} expected" if place else "Expected"
    wanted, found = (
        str(value) if isinstance(value, bool) else f"{value:.6g}"
        for value in (expected[place].item(), got[place].item())
    )
    return f"{where} {wanted}, got {found}."


def compare(
    name: str,
    got: Any,
    expected: Any,
    arguments: Iterable[Any] = (),
    likely: Iterable[Likely] = (),
    *,
    hint: str = "",
    tolerance: float | None = None,
    parts: Sequence[str] = (),
) -> None:
    """Raise Mistake, with the likeliest reason, unless `got` equals `expected`.

    Compares structure, shapes, dtypes and numbers. The `likely` mistakes are called with the same
    `arguments`. `hint` is added if none of them explains the difference. `parts` are names for the parts
    of the result.
    """
    arguments = tuple(arguments)
    if tolerance is None and _precisions(arguments) == {torch.float32}:
        tolerance = COARSE  # also for Python's numbers, which are float64 whatever they come from
    with sizes_told(*arguments, expected):
        if isinstance(got, Exception):
            question = _explain(got, arguments, likely, tolerance) or signature_question(name, got)
            sizes = ", ".join(describe(value) for value in arguments)
            raise Mistake(
                f"{stopped(name, got)} It was called with {sizes}.",
                question or error_question(got, hint),
                sized=True,
            ) from got
        if got is None:
            raise Mistake(f"{name} returned None.", "Is the return statement missing?")
        if not is_right(got, expected, tolerance):
            question = _explain(got, arguments, likely, tolerance) or _squeeze_question(got, expected)
            told, sized = _difference(got, expected, parts)
            raise Mistake(f"{name}: {told}", question or hint, sized=sized)
        for one, other in zip(flatten(got), flatten(expected), strict=True):
            if isinstance(one, Tensor) and not one.ndim and not _dtype_fits(one, other):
                raise Mistake(
                    f"{name}: the number is right, but it should be a whole number (int), not a float.",
                    hint or "Is there a / where // divides whole numbers, or a factor such as 0.5?",
                )
            if isinstance(one, Tensor) and not _dtype_fits(one, other):
                like = " like the input's" if other.dtype in _precisions(arguments) else ""
                raise Mistake(
                    f"{name}: the numbers are right, but the dtype should be {other.dtype}{like} and is "
                    f"{one.dtype}.",
                    hint or (_LIKE_THE_OLD if like else ""),
                )


def _dtype_fits(one: Tensor, other: Tensor) -> bool:
    """Whether the dtype is the right one. A single number may have another precision, may be a whole
    number in place of a real one (0 for 0.0), and true or false in place of 1 or 0: what Python makes of
    a number depends on the input.
    """
    if one.dtype == other.dtype:
        return True
    return not one.ndim and (other.is_floating_point() or one.dtype == torch.bool)


def _precisions(arguments: Sequence[Any]) -> set[torch.dtype]:
    """The floating dtypes of the inputs."""
    tensors = [value for value in flatten(arguments) if isinstance(value, Tensor)]
    return {value.dtype for value in tensors if value.is_floating_point()}


def _squeeze_question(got: Any, expected: Any) -> str:
    """A question if the shapes differ only by axes of size 1, otherwise ""."""
    for one, other in zip(flatten(got), flatten(expected), strict=False):
        if not (isinstance(one, Tensor) and isinstance(other, Tensor)) or one.shape == other.shape:
            continue
        if one.ndim != other.ndim and one.squeeze().shape == other.squeeze().shape:
            if one.ndim < other.ndim:
                return "Does a squeeze() or an index such as [0] drop an axis of size 1?"
            return "Is there an axis of size 1 too many? squeeze(-1) or [:, 0] removes it."
    return ""


def stopped(what: str, error: Exception) -> str:
    """That something stopped with an error; in a self-check also in which line."""
    said = f"{what} stopped with {error_in_words(error_kind(error), str(error))}."
    return f"{said} {line_of(error)}".strip()


def _difference(got: Any, expected: Any, parts: Sequence[str]) -> tuple[str, bool]:
    """How two results differ, in words, and whether they differ in a shape."""
    ones, others = flatten(got), flatten(expected)
    grouped = isinstance(got, (tuple, list)) == isinstance(expected, (tuple, list))
    plain = all(
        isinstance(item, Tensor) if isinstance(want, Tensor) else type(item) is type(want)
        for item, want in zip(ones, others, strict=False)
    )
    if not grouped or len(ones) != len(others) or not plain:
        return f"expected {describe(expected)}, got {describe(got)}.", False
    for index, (one, other) in enumerate(zip(ones, others, strict=True)):
        part = f"part {index + 1} of the result" if len(ones) > 1 else "the result"
        part = parts[index] if parts and len(ones) > 1 else part
        if not isinstance(one, Tensor):
            if one != other and is_discreet():
                return f"{part} is not the right one.", False
            if one != other:
                return f"{part} should be {other!r}, but is {one!r}.", False
        elif one.shape != other.shape:
            return f"the shape of {part} should be {_sizes(other)}, but is {_sizes(one)}.", True
        elif one.is_floating_point() and one.isnan().any() and not other.isnan().any():
            return f"{part} holds NaN (not a number).", False
        elif not _is_close(one, other, None):
            wrong = (
                f"the shape of {part} is right, the numbers are not."
                if one.ndim
                else (f"{part} is a number, but not the right one.")
            )
            return f"{wrong} {_first_difference(one.detach(), other.detach())}".strip(), False
    return "the result differs.", False
