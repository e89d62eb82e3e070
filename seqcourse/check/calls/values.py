"""Convert results of student functions to plain arrays by name, and back.

`arrays` runs in the student's process and must handle any value. `result` runs with the verdict; its
input is untrusted. The name of an array encodes the kind of value:

NAME                    numbers, text or None
NAME.error              an error: its type and message
NAME.tuple, NAME.list   the number of parts, which are NAME.0, NAME.1, ...
NAME.set                a set of whole numbers, or of tuples of them
NAME.other              a fixed phrase that describes anything else
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse.check.calls.compare import NOT_A_TENSOR, Mistake, Other, Stopped
from seqcourse.check.calls.errors import error_kind

Found = Mapping[str, numpy.ndarray]  # what a probe hands over: arrays by name
Given = Mapping[str, Any]  # what an answer is called with: arguments by name

MOST_PARTS = 2_000
MOST_LETTERS = 1_000
MOST_NUMBERS = 500_000
LARGEST = 1 << 40
SETS = "a set whose entries are not plain whole numbers or tuples of them (use .item() on tensors)"
MANY = "something with very many parts"
_KINDS: tuple[tuple[type, str], ...] = (
    (dict, "a dict"),
    (set, SETS),
    (frozenset, SETS),
    (Iterator, "a generator or iterator, which must be used up first"),
    (Tensor, "a tensor whose entries are not plain numbers"),
    (numpy.ndarray, "an array whose entries are not plain numbers"),
    (Callable, "a function"),
)
LARGE = "a tensor of very many numbers"
_WORDS = {words for _, words in _KINDS} | {MANY, LARGE, NOT_A_TENSOR}


def arrays(**values: Any) -> dict[str, numpy.ndarray]:
    """Convert results to plain NumPy arrays by name, the only output of a probe. `result` inverts it."""
    plain: dict[str, numpy.ndarray] = {}
    for name, value in values.items():
        if isinstance(value, Exception):
            plain[f"{name}.error"] = numpy.array([error_kind(value), str(value)[:MOST_LETTERS]])
        elif isinstance(value, (tuple, list)):
            plain.update(_parts(name, value))
        elif isinstance(value, (set, frozenset)) and (entries := _entries(value)) is not None:
            plain[f"{name}.set"] = entries
        elif (numbers := _numbers(value)) is not None:
            plain[name] = numbers
        else:
            plain[f"{name}.other"] = numpy.array(_words(value))
    return plain


def _parts(name: str, value: tuple | list) -> dict[str, numpy.ndarray]:
    """Convert a tuple or list, part by part."""
    parts = list(itertools.islice(value, MOST_PARTS + 1))  # a subclass may be infinite
    if len(parts) > MOST_PARTS:
        return {f"{name}.other": numpy.array(MANY)}
    kind = "list" if isinstance(value, list) else "tuple"
    inside = arrays(**{f"{name}.{k}": item for k, item in enumerate(parts)})
    return {f"{name}.{kind}": numpy.array(len(parts)), **inside}


def _numbers(value: Any) -> numpy.ndarray | None:
    """Numbers, text or None as an array; None if the value is something else."""
    if value is None:
        return numpy.array("None")
    if isinstance(value, Tensor):
        try:
            if value.numel() > MOST_NUMBERS:
                return None
            value = value.detach().cpu().numpy().copy()
        except (TypeError, RuntimeError):  # a dtype or layout that NumPy lacks
            return None
    if not isinstance(value, (bool, int, float, str, numpy.generic, numpy.ndarray)):
        return None
    array = numpy.asarray(value[:MOST_LETTERS] if isinstance(value, str) else value)
    if array.size > MOST_NUMBERS:
        return None
    plain = array.dtype.kind in "biuf" and array.dtype.itemsize <= 8
    return array if plain or array.dtype.kind == "U" else None


def _entries(value: set | frozenset) -> numpy.ndarray | None:
    """A set of whole numbers as a sorted array (N,), of K-tuples as (N, K); None for other sets."""
    entries = list(itertools.islice(value, MOST_PARTS + 1))
    if len(entries) > MOST_PARTS:
        return None
    rows = [tuple(itertools.islice(e, 10)) if isinstance(e, tuple) else (e,) for e in entries]
    alike = len({(isinstance(entry, tuple), len(row)) for entry, row in zip(entries, rows, strict=True)})
    if alike > 1 or not all(whole(number) for row in rows for number in row):
        return None
    # Clamp to int64. No right answer is as large as LARGEST, so a clamped value stays wrong.
    ordered = sorted(tuple(max(-LARGEST, min(LARGEST, int(n))) for n in row) for row in rows)
    array = numpy.array(ordered, dtype=numpy.int64)
    return array[:, 0] if entries and not isinstance(entries[0], tuple) else array


def whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy (and not a bool)."""
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def _words(value: Any) -> str:
    if isinstance(value, Tensor) and not value.is_nested or isinstance(value, numpy.ndarray):
        if math.prod(value.shape) > MOST_NUMBERS:
            return LARGE
    return next((words for kind, words in _KINDS if isinstance(value, kind)), NOT_A_TENSOR)


def result(found: Mapping[str, numpy.ndarray], name: str) -> Any:
    """Invert `arrays`: the value stored under this name.

    A number comes back as a tensor (), an error as Stopped, a value that arrays cannot represent as
    Other.

    Raises:
        Mistake: nothing is stored under this name.
    """
    if name in found:
        value = numpy.array(found[name])
        if value.dtype.kind == "U":
            return None if str(value) == "None" else str(value)
        return torch.from_numpy(value)
    if f"{name}.error" in found:
        return _error(found[f"{name}.error"])
    if f"{name}.set" in found:
        return _set(found[f"{name}.set"])
    if f"{name}.other" in found:
        words = str(found[f"{name}.other"])
        return Other(words if words in _WORDS else NOT_A_TENSOR)
    for kind in (tuple, list):
        if f"{name}.{kind.__name__}" in found:
            parts = range(min(MOST_PARTS, int(found[f"{name}.{kind.__name__}"])))
            return kind(result(found, f"{name}.{number}") for number in parts)
    raise Mistake(f"The probe handed over no {name}.")


def _error(words: numpy.ndarray) -> Stopped | Other:
    if words.dtype.kind != "U" or words.shape != (2,):
        return Other(NOT_A_TENSOR)
    return Stopped(*words.tolist())


def _set(entries: numpy.ndarray) -> set | Other:
    if entries.dtype.kind not in "iu" or entries.ndim > 2 or entries.size > 10 * MOST_PARTS:
        return Other(SETS)
    return set(entries.tolist() if entries.ndim < 2 else map(tuple, entries.tolist()))


def plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its results are converted to plain arrays and back."""
    return lambda *arguments: result(arrays(result=function(*arguments)), "result")
