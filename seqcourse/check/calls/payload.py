"""Serialise plain arrays: the payload between the student's process and the grader.

The format is safetensors: a header with names, dtypes and sizes, then the numbers. Reading it runs no
code. Text (an error message, the letter of a poll) is stored as JSON in an array of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load, save

from cellgrader import bounds

TEXT = "text:"


def pack(found: Mapping[str, numpy.ndarray]) -> bytes:
    """Serialise arrays by name. Only the dtype of an array of objects is kept, not its content."""
    plain = {}
    for name, value in found.items():
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            plain[name] = numpy.ascontiguousarray(value).reshape(value.shape)
            continue
        words = value.tolist() if value.dtype.kind == "U" else f"an array of {value.dtype}"
        text = json.dumps(words, ensure_ascii=True)[: bounds.TEXT]
        plain[TEXT + name] = numpy.frombuffer(text.encode(), dtype=numpy.uint8)
    return save(plain)


def unpack(data: bytes) -> dict[str, numpy.ndarray]:
    """Read untrusted bytes.

    Raises:
        ValueError: for anything that `pack` did not produce.
    """
    if len(data) > bounds.RESULT:
        raise ValueError(f"more than {bounds.RESULT >> 20} MiB")
    try:
        plain = load(data)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise ValueError("not plain arrays") from error
    if len(plain) > bounds.ARRAYS:
        raise ValueError("too many arrays")
    found, left = {}, bounds.LETTERS
    for name, value in plain.items():
        if name.startswith(TEXT):
            value = _text(value, left)
            name = name.removeprefix(TEXT)
            left -= value.nbytes // 4
        found[name] = value
    return found


def _text(value: numpy.ndarray, most: int) -> numpy.ndarray:
    """A string or an array of strings, of at most so many letters, from its bytes."""
    try:
        words = json.loads(value.tobytes()[: bounds.TEXT])
    except (ValueError, RecursionError) as error:
        raise ValueError("unreadable text") from error
    parts = words if isinstance(words, list) else [words]
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("not text")
    if len(parts) * max(map(len, parts), default=0) > most:
        raise ValueError("very long text")
    return numpy.array(words, dtype=str)
