"""What every self-check does: call a student's function, compare, name the likely mistake.

Two people use this module. The self-checks of an assignment (`seqcourse.check.ps1`, ...) call
`check_function`, which a student sees. The hidden checks call `record` and `calls`
beside the student's code (the probe), `judge` and `forbid` elsewhere (the verdict).
"""

from __future__ import annotations

import contextlib
import io
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor


class Mistake(AssertionError):
    """A self-check found something; the message is a sentence a student can act on."""


class Stopped(Exception):
    """The error that a student's call stopped with, told again in plain text."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Likely:
    """A mistake that people really make.

    question: asks about the mistake ("Did you forget b_hh?").
    answer: a function that makes it; it gets the arguments of the exercise. When a student's
        function returns the same thing, or stops with the same error, the question is asked.
    """

    question: str
    answer: Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One call of a student's function.

    label: goes into "works for the first example, but not for LABEL".
    make: makes the arguments anew at every call, by name, in the order of the signature.
    hint: a question for the case that this call fails and no likely mistake explains it.
    """

    label: str
    make: Callable[[], dict[str, Any]]
    hint: str = ""


# -- inputs ---------------------------------------------------------------------------------------


def normal(
    sizes: Mapping[str, Sequence[int]], seed: int = 0, dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Tensors of normal numbers by name; the global random state stays as it is."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(tuple(size), generator=generator, dtype=torch.float64).to(dtype)
        for name, size in sizes.items()
    }


def noncontiguous(value: Any) -> Any:
    """The same numbers in a tensor whose entries do not lie side by side in memory."""
    if isinstance(value, Tensor) and value.ndim > 0:
        wide = value.new_zeros((*value.shape[:-1], 2 * value.shape[-1]))
        wide[..., ::2] = value
        return wide[..., ::2]
    if isinstance(value, tuple):
        return tuple(noncontiguous(item) for item in value)
    return value


def standard_cases(
    make: Callable[..., dict[str, Any]], batch: Mapping[str, int], other: Mapping[str, int]
) -> list[Case]:
    """The five calls that most exercises share.

    make(dtype=..., **sizes) returns the arguments; `batch` is the first example's sizes (with the
    key "batch"), `other` are quite different sizes.
    """
    single = {**batch, "batch": 1}
    return [
        Case("the first example", lambda: make(**batch)),
        Case("other sizes", lambda: make(**other), "Is a size written into your code?"),
        Case("a batch of 1", lambda: make(**single), "Does a squeeze() or [0] drop the batch?"),
        Case(
            "tensors that are not contiguous (a transpose or a slice makes such tensors)",
            lambda: {name: noncontiguous(value) for name, value in make(**batch).items()},
            "Use reshape instead of view.",
        ),
        Case(
            "float32",
            lambda: make(**batch, dtype=torch.float32),
            "Create new tensors like the old ones: x.new_zeros(...), torch.zeros_like(x).",
        ),
    ]


# -- what came back -------------------------------------------------------------------------------


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in _flat(part)]
    return [torch.from_numpy(value) if isinstance(value, numpy.ndarray) else value]


def describe(value: Any) -> str:
    """A value in a few words: "a tensor (2, 3)", "a tuple of 2", "None"."""
    if isinstance(value, (Tensor, numpy.ndarray)):
        return f"a tensor {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(describe(item) for item in value)
        return f"a {type(value).__name__} of {len(value)} ({inside})"
    if callable(value):
        return "a function"
    if isinstance(value, torch.Generator):
        return "a generator"
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return "None" if value is None else f"{value!r}, of type {type(value).__name__}"


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
    ones, others = _flat(one), _flat(other)
    if isinstance(one, (tuple, list)) != isinstance(other, (tuple, list)):
        return False
    return len(ones) == len(others) and all(
        _close(a, b, tolerance) for a, b in zip(ones, others, strict=True)
    )


def _outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The result of a call, or the exception that it stopped with."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments)
    except NotImplementedError:
        raise
    except Exception as error:  # a student's code may stop with anything
        return error


def _kind(value: Any) -> str:
    return getattr(value, "kind", type(value).__name__)


def _explain(got: Any, arguments: Sequence[Any], likely: Iterable[Likely], tolerance) -> str:
    """The question of the first likely mistake with the same outcome, or an empty string."""
    for mistake in likely:
        wrong = _outcome(mistake.answer, copy(tuple(arguments)))
        if isinstance(got, Exception) or isinstance(wrong, Exception):
            if _kind(got) == _kind(wrong) and str(got) == str(wrong):
                return mistake.question
        elif same(got, wrong, tolerance):
            return mistake.question
    return ""


def copy(value: Any) -> Any:
    """A copy of tensors in tuples, lists and dicts; anything else is passed through."""
    if isinstance(value, Tensor):
        fresh = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
        return fresh.copy_(value.detach()).requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(copy(item) for item in value)
    if isinstance(value, dict):
        return {name: copy(item) for name, item in value.items()}
    return value


def _first_difference(got: Tensor, expected: Tensor) -> str:
    gap = (got.double() - expected.double()).abs()
    gap = torch.where(gap.isnan(), torch.inf, gap)
    place = numpy.unravel_index(int(gap.argmax()), tuple(gap.shape))
    place = tuple(int(index) for index in place)
    where = f"At index {place}" if place else "It"
    return f"{where} expected {expected[place].item():.6g}, got {got[place].item():.6g}."


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
    if isinstance(got, Exception):
        question = _explain(got, tuple(arguments), likely, tolerance) or hint
        sizes = ", ".join(describe(value) for value in arguments)
        raise Mistake(
            f"{name} stopped with {_kind(got)}: {got}. It was called with {sizes}. {question}".strip()
        ) from got
    if got is None:
        raise Mistake(f"{name} returned None. Is the return statement missing?")
    if not same(got, expected, tolerance):
        question = _squeezed(got, expected) or _explain(got, tuple(arguments), likely, tolerance)
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
        if one.squeeze().shape == other.squeeze().shape:
            if one.ndim < other.ndim:
                return "Does a squeeze() or an index such as [0] drop an axis of size 1?"
            return "Is there an axis of size 1 too many? squeeze(-1) or [:, 0] removes it."
    return ""


def _difference(got: Any, expected: Any) -> str:
    ones, others = _flat(got), _flat(expected)
    grouped = isinstance(got, (tuple, list)) == isinstance(expected, (tuple, list))
    plain = all(
        isinstance(item, Tensor) == isinstance(want, Tensor)
        for item, want in zip(ones, others, strict=False)
    )
    if not grouped or len(ones) != len(others) or not plain:
        return f"expected {describe(expected)}, got {describe(got)}."
    for index, (one, other) in enumerate(zip(ones, others, strict=True)):
        part = f"part {index + 1} of the result" if len(ones) > 1 else "the result"
        if not isinstance(one, Tensor):
            if one != other:
                return f"{part} should be {other!r}, but is {one!r}."
        elif one.shape != other.shape:
            return f"the shape of {part} should be {tuple(other.shape)}, but is {tuple(one.shape)}."
        elif one.is_floating_point() and one.isnan().any() and not other.isnan().any():
            return f"{part} holds NaN (not a number)."
        elif not _close(one, other, None):
            return f"the shape of {part} is right, the numbers are not. " + _first_difference(
                one.detach(), other.detach()
            )
    return "the result differs."


# -- the self-check a student sees ----------------------------------------------------------------


def check_function(
    name: str,
    student: Callable[..., Any],
    reference: Callable[..., Any],
    cases: Sequence[Case],
    likely: Sequence[Likely] = (),
    *,
    gradient: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    tolerance: float | None = None,
) -> None:
    """Call `student` on every case and compare with `reference`; print a line when all is well.

    gradient: names of arguments that the gradient must reach, compared with the reference's.
    forbidden: names the exercise may not use, because they are its answer.

    Raises Mistake with the likeliest reason. NotImplementedError passes through: an exercise that
    is not solved yet is not a mistake.
    """
    if not callable(student):
        raise Mistake(f"{name} should be a function, but is {describe(student)}.")
    forbid(name, calls(student), forbidden)
    for index, case in enumerate(cases):
        given, kept = case.make(), case.make()
        got = _outcome(student, tuple(given.values()))
        unchanged(name, after(given), kept)
        compare(
            name if index == 0 else f"{name} (right for the first example, wrong for {case.label})",
            got,
            reference(*case.make().values()),
            tuple(kept.values()),
            likely,
            hint=case.hint,
            tolerance=tolerance,
        )
    if gradient:
        given = cases[0].make()
        right = gradients(reference, given, gradient)
        _compare_gradients(name, gradients(student, given, gradient), right)
    labels = "gradients, " if gradient else ""
    print(f"✓ {name}: {len(cases)} calls, {labels}unchanged inputs: all as expected.")


def gradients(
    function: Callable[..., Any], given: Mapping[str, Any], wanted: Sequence[str]
) -> dict[str, Tensor | None]:
    """The gradient of a fixed weighted sum of the results, for the wanted arguments by name.

    None stands for an argument that no gradient reaches.
    """
    given = copy(dict(given))
    for argument in wanted:
        given[argument].requires_grad_()
    results = [item for item in _flat(function(*given.values())) if item.is_floating_point()]
    weights = [normal({"w": item.shape}, 7 + k)["w"] for k, item in enumerate(results)]
    total = sum((item * w).sum() for item, w in zip(results, weights, strict=True))
    if not total.requires_grad:
        return dict.fromkeys(wanted)
    leaves = [given[argument] for argument in wanted]
    return dict(zip(wanted, torch.autograd.grad(total, leaves, allow_unused=True), strict=True))


def _compare_gradients(
    name: str, got: Mapping[str, Tensor | None], expected: Mapping[str, Tensor | None]
) -> None:
    for argument, right in expected.items():
        if got[argument] is None:
            raise Mistake(
                f"{name}: the numbers are right, but no gradient reaches {argument}. "
                "Did you use .detach(), .data, .item(), NumPy or torch.no_grad() on the way?"
            )
        if not same(got[argument], right):
            raise Mistake(
                f"{name}: the numbers are right, but the gradient of {argument} is not. "
                "Did a .detach() or .data cut off one of several paths?"
            )


# -- what an exercise may not use -----------------------------------------------------------------


def calls(function: Callable[..., Any]) -> numpy.ndarray:
    """The names that a function's code uses, its own helpers included, as an array of strings."""
    found, seen, waiting = {str(getattr(function, "__module__", ""))}, set(), [function]
    while waiting:
        item = waiting.pop()
        code = item if isinstance(item, types.CodeType) else getattr(item, "__code__", None)
        if code is None or id(code) in seen:
            continue
        seen.add(id(code))
        found.update(code.co_names)
        waiting.extend(part for part in code.co_consts if isinstance(part, types.CodeType))
        scope = getattr(item, "__globals__", {})
        helpers = (scope.get(used) for used in code.co_names)
        waiting.extend(
            helper
            for helper in helpers
            if isinstance(helper, types.FunctionType)
            and helper.__module__ == getattr(function, "__module__", None)
        )
    return numpy.array(sorted(found), dtype=str)


def forbid(name: str, used: Iterable[str], forbidden: Iterable[str]) -> None:
    """Raise Mistake when the names `used` by an answer hold one that is the answer itself."""
    forbidden = set(forbidden)
    for item in (str(word) for word in used):
        if forbidden and (item in forbidden or item.startswith("seqcourse.")):
            raise Mistake(
                f"{name} uses {item}, which is the thing to build here. "
                "Write it from matrix products and elementwise functions."
            )


# -- hidden checks: a probe beside the student's code, a verdict elsewhere ------------------------


def drawn(
    rng: numpy.random.Generator,
    sizes: Mapping[str, Sequence[int]],
    dtype: torch.dtype = torch.float64,
) -> dict[str, Tensor]:
    """Tensors of normal numbers by name, drawn from the generator of a hidden check."""
    return {
        name: torch.from_numpy(rng.normal(size=tuple(size))).to(dtype) for name, size in sizes.items()
    }


def arrays(**values: Any) -> dict[str, numpy.ndarray]:
    """Results as plain NumPy arrays by name: all that a probe hands over.

    Tuples become one array per part (NAME.0, NAME.1), an error its kind and message (NAME.error),
    None the word "None"; `result` undoes all of it.
    """
    plain = {}
    for name, value in values.items():
        if isinstance(value, (tuple, list)):
            plain.update(arrays(**{f"{name}.{k}": item for k, item in enumerate(value)}))
        elif isinstance(value, Exception):
            plain[f"{name}.error"] = numpy.array([_kind(value), str(value)])
        elif isinstance(value, Tensor):
            plain[name] = value.detach().cpu().numpy().copy()
        else:
            plain[name] = numpy.asarray("None" if value is None else value)
    return plain


def result(found: Mapping[str, numpy.ndarray], name: str) -> Any:
    """The result that went into `arrays` under this name: a tensor, or a tuple of tensors."""
    if name in found:
        value = numpy.array(found[name])
        if value.dtype.kind == "U":
            return None if str(value) == "None" else str(value)
        return torch.from_numpy(value)
    if f"{name}.error" in found:
        return Stopped(*(str(part) for part in found[f"{name}.error"]))
    parts = [key for key in found if key.startswith(f"{name}.")]
    if not parts:
        raise Mistake(f"The probe handed over no {name}.")
    numbers = sorted({int(key.removeprefix(f"{name}.").split(".")[0]) for key in parts})
    return tuple(result(found, f"{name}.{number}") for number in numbers)


def after(given: Mapping[str, Any], prefix: str = "") -> dict[str, numpy.ndarray]:
    """The inputs as they are after the call, for `unchanged` (functions are left out)."""
    left = {name: value for name, value in given.items() if _has_numbers(value)}
    flags = {
        f"{prefix}asks.{name}": value.requires_grad
        for name, value in left.items()
        if isinstance(value, Tensor)
    }
    return arrays(**{f"{prefix}after.{name}": value for name, value in left.items()}, **flags)


def _has_numbers(value: Any) -> bool:
    return not callable(value) and not isinstance(value, torch.Generator)


def unchanged(
    name: str, found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str = ""
) -> None:
    """Raise Mistake when the inputs that came back in `after` are not those of `given`."""
    for key, before in after(given, prefix).items():
        floating = before.dtype.kind == "f"
        if key in found and numpy.array_equal(found[key], before, equal_nan=floating):
            continue
        kind, argument = key.removeprefix(prefix).split(".")[:2]
        raise Mistake(f"{name} changes its input {argument}: {_CHANGED[kind]}")


_CHANGED = {
    "after": "whoever calls it still needs the old numbers. Did you write += or an operation that "
    "ends in _ (add_, mul_)? Make a new tensor.",
    "asks": "it switches requires_grad on for the caller's tensor. Make a copy first: "
    "h.detach().clone().requires_grad_().",
}


def record(
    student: Callable[..., Any],
    given: Mapping[str, Any],
    prefix: str = "",
    gradient: Sequence[str] = (),
) -> dict[str, numpy.ndarray]:
    """One call of a student's function for a probe: result, inputs afterwards, gradients."""
    kept = copy(dict(given))
    got = _outcome(student, tuple(given.values()))
    found = arrays(**{f"{prefix}result": got}) | after(given, prefix)
    if gradient:
        reached = _outcome(gradients, (student, kept, gradient))
        if isinstance(reached, Exception):
            reached = dict.fromkeys(gradient)
        found |= arrays(**{f"{prefix}gradient.{name}": item for name, item in reached.items()})
    return found


def judge(
    name: str,
    found: Mapping[str, numpy.ndarray],
    given: Mapping[str, Any],
    reference: Callable[..., Any],
    likely: Iterable[Likely] = (),
    prefix: str = "",
    gradient: Sequence[str] = (),
    *,
    hint: str = "",
    tolerance: float | None = None,
) -> None:
    """Judge for a verdict what `record` wrote down under the same prefix; raise Mistake."""
    unchanged(name, found, given, prefix)
    got = result(found, f"{prefix}result")
    expected = reference(*copy(tuple(given.values())))
    compare(name, got, expected, given.values(), likely, hint=hint, tolerance=tolerance)
    if gradient:
        reached = {key: result(found, f"{prefix}gradient.{key}") for key in gradient}
        _compare_gradients(name, reached, gradients(reference, given, gradient))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow warnings and what is written to stderr: nbgrader gives 0 for either."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def hidden(
    probe: Callable[[Any, numpy.random.Generator], dict[str, numpy.ndarray]],
    verdict: Callable[[dict[str, numpy.ndarray], numpy.random.Generator], None],
    student: Any,
    seed: int,
) -> None:
    """Run the two halves of a hidden check one after the other.

    Raises Mistake (from the verdict, or when the student's code stops with an error) and
    NotImplementedError for an exercise that is not solved.
    """
    with quiet():
        try:
            found = probe(student, numpy.random.default_rng(seed))
        except (AssertionError, NotImplementedError):
            raise
        except Exception as error:
            raise Mistake(f"The answer stopped with {type(error).__name__}: {error}.") from error
    for name, value in found.items():
        if not isinstance(value, numpy.ndarray) or value.dtype.hasobject:
            raise Mistake(f"The answer should be made of numbers, but {name} is {describe(value)}.")
    with quiet():
        verdict(found, numpy.random.default_rng(seed))


# -- polls ----------------------------------------------------------------------------------------


def polls(options: Mapping[str, str], answers: Mapping[str, Any]) -> None:
    """Say which polls are answered, and never which are right.

    options: the letters of each poll, such as {"poll_1": "abc"}.

    Raises Mistake for an answer that is not one of the letters.
    """
    for name, letters in options.items():
        answer = answers.get(name)
        listed = ", ".join(f'"{letter}"' for letter in letters)
        if answer is None:
            print(f"{name}: no answer yet.")
        elif not isinstance(answer, str) or answer not in tuple(letters):
            raise Mistake(f"{name} should be one of {listed}, but is {answer!r}.")
        else:
            print(f"{name}: answered.")


def poll_verdict(name: str, answer: numpy.ndarray, right: str) -> None:
    """Raise Mistake unless the answer to a poll is the right letter (None is no answer)."""
    if str(answer) == "None":
        raise Mistake(f"{name} is not answered.")
    if str(answer) != right:
        raise Mistake(f"{name}: the answer {str(answer)!r} is not the right one.")
