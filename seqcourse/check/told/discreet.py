"""Keep hidden inputs out of messages: name the mistake and shapes, never an input or expected value.

Student code sees the hidden inputs while it is probed, and could leak them through any text it controls:
an exception's message, a class name, a returned string. So verdicts run inside `discreet()`. There,
values are left out, and text from the student's process is replaced by known messages, in which the only
numbers are sizes that the student may know.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from cellgrader.printable import printable

_discreet: ContextVar[bool] = ContextVar("discreet", default=False)
_known_sizes: ContextVar[frozenset[int]] = ContextVar("known", default=frozenset())

LONGEST = 700
# Numbers that do not occur in our own sentences: with several decimals, or with many digits.
_LEAKING_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.\d{2,}(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d{5,})(?!\w)")
# Student code can raise any text. These patterns admit only sizes and known names.
_SIZES = r"\d{1,4}x\d{1,4}"
_SCALAR = r"(?:Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool|ComplexFloat|ComplexDouble)"
_TYPE = (
    r"(?:NoneType|Tensor|Parameter|tuple|list|dict|set|str|int|float|bool|function|method|type|range|"
    r"generator|builtin_function_or_method|torch\.Size|ndarray|ellipsis|module)"
)
# Helpful messages of Python and PyTorch that contain only shapes, dtypes and names.
_KNOWN_MESSAGES = [
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"mat1 and mat2 shapes cannot be multiplied \({_SIZES} and {_SIZES}\)",
        rf"mat1 and mat2 must have the same dtype, but got {_SCALAR} and {_SCALAR}",
        r"The size of tensor a \(\d{1,4}\) must match the size of tensor b \(\d{1,4}\) at "
        r"non-singleton dimension \d",
        r"[Ss]izes of tensors must match except in dimension \d",
        r"Expected size for first two dimensions of batch2 tensor to be: \[\d{1,4}, \d{1,4}\] but "
        r"got: \[\d{1,4}, \d{1,4}\]",
        r"Dimension out of range \(expected to be in range of \[-?\d, -?\d\], but got -?\d{1,3}\)",
        r"index -?\d{1,4} is out of bounds for dimension \d with size \d{1,4}",
        r"index out of range in self",
        r"shape '\[-?\d{1,4}(?:, -?\d{1,4}){0,3}\]' is invalid for input of size \d{1,5}",
        r"shape mismatch: indexing tensors could not be broadcast together",
        rf"expected scalar type {_SCALAR} but found {_SCALAR}",
        r"(?:batch1|batch2) must be a 3D tensor",
        r"a leaf Variable that requires grad is being used in an in-place operation",
        r"element 0 of tensors does not require grad and does not have a grad_fn",
        r"tensors used as indices must be long, int, byte or bool tensors",
        r"Boolean value of Tensor with more than one value is ambiguous",
        r"list index out of range",
        r"tuple index out of range",
        r"division by zero",
        r"maximum recursion depth exceeded",
        r"too many values to unpack \(expected \d{1,3}\)",
        r"not enough values to unpack \(expected \d{1,3}, got \d{1,3}\)",
        r"too many indices for tensor of dimension \d",
        rf"unsupported operand type\(s\) for (?:\*\* or pow\(\)|[-+*/%@|&^]|//|<<|>>)=?: "
        rf"'{_TYPE}' and '{_TYPE}'",
        rf"'{_TYPE}' object is not (?:callable|iterable|subscriptable)",
        rf"'{_TYPE}' object has no attribute",
    )
]
# Group 1 matches their variable numbers; fixed ones are mat1, batch2, BFloat16, element 0 and 3D.
_NUMBER = re.compile(r"(?:mat|batch|Float|element )\d+|\dD|(\d+)", re.ASCII)
_BUILTIN_ERRORS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


@contextlib.contextmanager
def discreet() -> Iterator[None]:
    """Context manager: sentences about results contain no values."""
    token = _discreet.set(True)
    try:
        yield
    finally:
        _discreet.reset(token)


def is_discreet() -> bool:
    """Whether the current sentence is about hidden inputs."""
    return _discreet.get()


@contextlib.contextmanager
def sizes_told(*values: Any) -> Iterator[None]:
    """Context manager: sentences may mention sizes in these values (the call's arguments and result)."""
    token = _known_sizes.set(frozenset(size for value in values for size in _sizes_of(value)))
    try:
        yield
    finally:
        _known_sizes.reset(token)


def _sizes_of(value: Any) -> Iterator[int]:
    """Yield every size in a value: lengths, numbers of axes, axis sizes, and integers."""
    if hasattr(value, "shape") and hasattr(value, "ndim"):
        yield from (*value.shape, *range(value.ndim + 1), math.prod(value.shape))
    elif isinstance(value, (tuple, list)):
        yield len(value)
        yield from (size for part in value if not isinstance(part, int) for size in _sizes_of(part))
    elif isinstance(value, Mapping):
        yield from (size for part in value.values() for size in _sizes_of(part))
    elif isinstance(value, int):
        yield abs(value)


def size_in_words(size: int) -> str:
    """A size chosen by student code; "…" if discreet and `sizes_told` does not allow it."""
    return str(size) if not is_discreet() or size in _known_sizes.get() else "…"


def error_in_words(kind: str, message: str) -> str:
    """An error of a student's call: in full for a self-check, otherwise only as a known message.

    Without a trailing full stop, for use inside a sentence.
    """
    if not is_discreet():
        return f"{kind}: {message}".rstrip().removesuffix(".")
    if kind not in _BUILTIN_ERRORS:
        return "an error of its own"
    for pattern in _KNOWN_MESSAGES:
        found = pattern.match(message)
        if found:
            return f"{kind}: {_NUMBER.sub(_number_in_words, found.group())}"
    return kind


def _number_in_words(found: re.Match[str]) -> str:
    return size_in_words(int(found[1])) if found[1] else found[0]


def public(sentence: str) -> str:
    """Sanitise a message to a student: hide leaking numbers, drop control characters, limit length."""
    sentence = _LEAKING_NUMBER.sub("…", sentence)
    sentence = printable(" ".join(sentence.split()))
    return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"
