"""Compare a student's result with the expected one and name the mistake that explains a difference."""

from __future__ import annotations

import dis
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

from seqcourse.check.discreet import error_in_words, is_discreet, size_in_words, sizes_told
from seqcourse.check.finding import Finding
from seqcourse.check.inputs import copied, copy, each_tensor, floating, normal
from seqcourse.check.libraries import LIBRARIES
from seqcourse.check.lines import line_of, note_line
from seqcourse.check.margin import note

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


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        # A student's tuple subclass may be infinite.
        return [item for part in itertools.islice(value, 100_000) for item in _flatten(part)]
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
    ones, others = _flatten(one), _flatten(other)
    return len(ones) == len(others) and all(
        _is_close(a, b, tolerance) for a, b in zip(ones, others, strict=True)
    )


def is_right(got: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Whether a result is the same as the right one; notes how far the two are apart, see `margin`."""
    for one, other in zip(_flatten(got), _flatten(expected), strict=False):
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


def is_unsolved(error: BaseException) -> bool:
    """Whether an exercise's stub raised this error: a NotImplementedError raised outside libraries.

    PyTorch also raises NotImplementedError, for unsupported operations.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if not isinstance(error, NotImplementedError) or trace is None:
        return False
    code = trace.tb_frame.f_code
    if code.co_filename.startswith(LIBRARIES):
        return False
    # Raised in this line of the answer, not by compiled code that it calls.
    return any(
        step.offset == trace.tb_lasti and step.opname == "RAISE_VARARGS"
        for step in dis.get_instructions(code)
    )


def error_kind(value: Any) -> str:
    return getattr(value, "kind", type(value).__name__)


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


def _signature_question(name: str, got: Exception) -> str:
    """A question if the function does not accept the arguments it was called with, otherwise ""."""
    if error_kind(got) == "TypeError" and str(got).startswith(f"{name.split()[0]}() "):
        return "Does it take the arguments that the text lists, in that order?"
    return ""


# What to ask of an error that no likely mistake explains.
_OF_ERRORS = {
    r"shapes cannot be multiplied|Expected size for first two dimensions": (
        "Is a transpose missing, or one too many? In a @ b the columns of a meet the rows of b."
    ),
    r"must match the size of tensor": (
        "Is an axis missing, such as [:, None]? Or was only one of two sequences shortened? "
        "Sizes are compared from the last axis on."
    ),
    r"[Ii]ndex -?\d+ is out of bounds|[Ii]ndex out of range": (
        "Is an index larger than its axis? argmax() without dim counts through the whole tensor, and a "
        "row number that is computed may need a limit."
    ),
    "A mask should fit": (
        "Which axis of the mask belongs to which of the scores? They are lined up from the last one on."
    ),
    "unexpected keyword argument": (
        "Which function is called in that line, and do its arguments have these names? The table above "
        "the exercise has them."
    ),
    "values to unpack": (
        "Is a shape taken apart into too many axes, or too few? shape[-1] counts from the end."
    ),
    r"Dimension out of range": (
        "Does squeeze() or an index drop an axis, or are axes counted from the front? -1 is the last."
    ),
}
# What to ask of errors that have nothing to do with shapes, whatever the input.
_OF_KINDS = {
    "NameError": "Is the name misspelt, or was the cell that defines it not run?",
    "UnboundLocalError": "Is the name given a value on every way to that line?",
    "ModuleNotFoundError": "Is the module's name misspelt? torch, numpy and math are there.",
    "ZeroDivisionError": "Which number can be 0 there? Ask first, or divide by at least 1.",
    "AttributeError": "What stands before the dot there? print(type(...)) says what it is.",
    "KeyError": "Which keys does it have? Print them just before that line.",
    "RecursionError": "When does the function stop calling itself?",
}
_SHAPES = "What meets in that line? Print the shapes just before it."
_WITH_SHAPES = ("RuntimeError", "IndexError", "ValueError", "TypeError")
_LIKE_THE_OLD = "Create new tensors like the old ones: x.new_zeros(...), torch.zeros_like(x)."


def _error_question(got: Exception, hint: str) -> str:
    """What to ask of an error: about its kind, then the case's own hint, then about its message."""
    kind, told = error_kind(got), str(got)
    if kind in _OF_KINDS:
        return _OF_KINDS[kind]
    if hint and "Dimension out of range" not in told:
        return hint
    known = next((words for part, words in _OF_ERRORS.items() if re.search(part, told)), hint)
    return known or (_SHAPES if kind in _WITH_SHAPES and not is_discreet() else "")


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
            question = _explain(got, arguments, likely, tolerance) or _signature_question(name, got)
            sizes = ", ".join(describe(value) for value in arguments)
            raise Mistake(
                f"{stopped(name, got)} It was called with {sizes}.",
                question or _error_question(got, hint),
                sized=True,
            ) from got
        if got is None:
            raise Mistake(f"{name} returned None.", "Is the return statement missing?")
        if not is_right(got, expected, tolerance):
            question = _explain(got, arguments, likely, tolerance) or _squeeze_question(got, expected)
            told, sized = _difference(got, expected, parts)
            raise Mistake(f"{name}: {told}", question or hint, sized=sized)
        for one, other in zip(_flatten(got), _flatten(expected), strict=True):
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
    tensors = [value for value in _flatten(arguments) if isinstance(value, Tensor)]
    return {value.dtype for value in tensors if value.is_floating_point()}


def _squeeze_question(got: Any, expected: Any) -> str:
    """A question if the shapes differ only by axes of size 1, otherwise ""."""
    for one, other in zip(_flatten(got), _flatten(expected), strict=False):
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
    ones, others = _flatten(got), _flatten(expected)
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


def gradients(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> dict[str, Tensor | None]:
    """The gradients of `traced` alone."""
    return traced(function, given, wanted)[0]


def traced(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> tuple[dict[str, Tensor | None], Any, dict[str, Any]]:
    """One call: the gradients of a fixed weighted sum of the results, the results, and the arguments
    that it was called with.

    The gradients are those of all floating tensors in the wanted arguments, also in tuples and in what
    a function holds, by their places ("x", "state.0", "step.table"); None where no gradient arrives.
    """
    leaves, held = {}, []

    def follow(place: str, tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor
        leaves[place] = tensor.detach().requires_grad_()
        return copied(leaves[place])  # not the leaf: an answer may change it in place

    handed = {}
    for name, value in copy(dict(given)).items():
        if name in wanted and callable(value):  # what it holds is the caller's: on for this call only
            mine = floating(value, name)
            held += [leaf for leaf in mine.values() if not leaf.requires_grad]
            leaves |= mine
        elif name in wanted:
            value = each_tensor(follow, value, name)
        handed[name] = value
    for leaf in held:
        leaf.requires_grad_()
    try:
        with torch.enable_grad():  # a notebook cell may have disabled gradients globally
            results = function(*handed.values())
            return reached_from(results, leaves), results, handed
    finally:
        for leaf in held:
            leaf.requires_grad_(False)


def reached_from(results: Any, leaves: Mapping[str, Tensor]) -> dict[str, Tensor | None]:
    """The gradients of a fixed weighted sum of all floating results, by the leaves' names."""
    if not leaves:
        return {}
    total = sum(
        (part * normal({"w": part.shape}, 7 + k)["w"].to(part)).sum()
        for k, part in enumerate(_flatten(results))
        if isinstance(part, Tensor) and part.is_floating_point()
    )
    if not isinstance(total, Tensor) or not total.requires_grad:
        return dict.fromkeys(leaves)
    reached = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return dict(zip(leaves, reached, strict=True))


def compare_gradients(
    name: str,
    got: Mapping[str, Tensor | Exception | None],
    expected: Mapping[str, Tensor | None],
    tolerance: float | None = None,
) -> None:
    """Raise Mistake if a gradient is wrong or missing (None), or computing it raised an error.

    Nobody can ask for one that the right answer has none of.
    """
    for argument, right in expected.items():
        if right is None:
            continue
        reached = got[argument]
        if reached is None and not right.any():
            continue
        if isinstance(reached, Exception):
            with sizes_told(*expected.values()):
                words = error_in_words(error_kind(reached), str(reached))
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}: on the way it "
                f"stops with {words}.",
                "Did you use NumPy, or change a tensor in place?",
            )
        if reached is None:
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}.",
                "Did you use .detach(), .data, .item(), NumPy or torch.no_grad() on the way?",
            )
        if not is_right(reached, right, tolerance):
            raise Mistake(
                f"{name}: the numbers are right, but the gradient of {argument} is not.",
                "Did a .detach(), .data or .item() cut off one of several paths?",
            )


def place_in_words(place: str) -> str:
    """ "state.0" as "part 1 of state", "step.table" as "the table of step"."""
    argument, _, inside = place.partition(".")
    if not inside:
        return argument
    return f"part {int(inside) + 1} of {argument}" if inside.isdigit() else f"the {inside} of {argument}"
