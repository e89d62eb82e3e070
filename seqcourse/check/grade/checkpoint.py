"""Read a checkpoint that a student hands in: a safetensors file, checked before anything uses it.

The file is untrusted. It is eight bytes with the header's length, the header as JSON, and the numbers of
all tensors one after the other. Nothing in it is run, and nothing is allocated that the header merely
claims. The limits are also those of the self-check.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from cellgrader.printable import printable
from seqcourse.errors import CourseError

FILE, HEADER = 16_000_000, 1_000_000  # bytes
PARAMETERS, TENSORS, AXES = 4_000_000, 2_000, 8
# name -> NumPy's type. NumPy has no bfloat16: its bits are read as whole numbers.
DTYPES = {
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "U8": "u1",
    "I8": "i1",
    "BOOL": "?",
}
# How files begin that are no safetensors: torch.save's archive, a pickle.
_PICKLES = (b"PK\x03\x04", b"\x80")
HOW = "The cell that trains writes it (own.trained); by hand, own.save(path, tensors, notes) does."


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was found to be well-formed.

    data: the whole file. notes: the strings of its header. tensors: name -> values; bfloat16 as float32.
    """

    data: bytes
    notes: dict[str, str]
    tensors: dict[str, numpy.ndarray]

    @property
    def parameters(self) -> int:
        """How many numbers all tensors hold."""
        return sum(tensor.size for tensor in self.tensors.values())


def read_checkpoint(path: Path) -> Checkpoint:
    """Read and check a file.

    Raises:
        CourseError: there is no such file, or something in it is not as it should be.
    """
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        what = "is a link" if path.is_symlink() else "is not there"
        raise CourseError(f"{path.name} should lie beside the notebook, but {what}. {HOW}")
    size = path.stat().st_size
    if size > FILE:
        raise CourseError(
            f"{path.name} should have at most {FILE // 1_000_000} MB, but has {size / 1e6:.1f} MB. "
            f"Store half floats, or make the model smaller."
        )
    try:
        return parse(path.read_bytes())
    except ValueError as error:
        raise CourseError(f"{path.name} {error} {HOW}") from None
    except OSError as error:
        raise CourseError(f"{path.name} cannot be read: {error.strerror}.") from None


def parse(data: bytes) -> Checkpoint:
    """Check the bytes of a file.

    Raises:
        ValueError: the rest of a sentence that begins with the file's name.
    """
    if len(data) < 8:
        raise ValueError("should be a safetensors file, but breaks off in its first bytes.")
    length = int.from_bytes(data[:8], "little")
    if length > HEADER and data.startswith(_PICKLES):
        raise ValueError("should be a safetensors file, but is a pickle, which could run code.")
    if length > HEADER:
        raise ValueError(f"should have a header of at most {HEADER:,} bytes, but claims {length:,}.")
    if 8 + length > len(data):
        raise ValueError(f"breaks off: its header claims {length:,} bytes.")
    header = _header(data[8 : 8 + length])
    notes = header.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(each, str) for each in notes.values()):
        raise ValueError("should have notes that are all strings. Use json.dumps for the others.")
    if len(header) > TENSORS:
        raise ValueError(f"should have at most {TENSORS:,} tensors, but has {len(header):,}.")
    tensors, left = {}, PARAMETERS
    layout = {name: _entry(name, entry) for name, entry in header.items()}
    at = 0
    for name, (dtype, shape, begin, end) in sorted(layout.items(), key=lambda item: item[1][2:]):
        size = math.prod(shape)
        left -= size
        if left < 0:
            raise ValueError(f"should have at most {PARAMETERS:,} numbers, but has more.")
        if begin != at or end - begin != size * numpy.dtype(DTYPES[dtype]).itemsize:
            raise ValueError(f"is damaged: the numbers of {_shown(name)} do not lie where they should.")
        at = end
        tensors[name] = (dtype, shape, begin, end)
    if 8 + length + at != len(data):
        raise ValueError(
            f"should have {at:,} bytes after its header, but has {len(data) - 8 - length:,}."
        )
    body = memoryview(data)[8 + length :]
    return Checkpoint(data, notes, {name: _values(name, body, *each) for name, each in tensors.items()})


def _header(text: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name twice")
        return dict(pairs)

    try:
        header = json.loads(text, object_pairs_hook=once)
        if isinstance(header, dict):
            return header
    except (ValueError, RecursionError):
        pass
    raise ValueError("should have a header in JSON with every name once, but has another.")


def _entry(name: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    """dtype, shape, begin and end of a tensor."""
    try:
        dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = [*shape, begin, end]
        good = dtype in DTYPES and len(entry) == 3 and len(shape) <= AXES
        good = good and all(type(number) is int and 0 <= number <= FILE for number in whole)
    except (KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(
            f"should say type, shape and place of every tensor, but says it wrongly of "
            f"{_shown(name)}. The types are {', '.join(DTYPES)}."
        )
    return dtype, tuple(shape), begin, end


def _values(
    name: str, body: memoryview, dtype: str, shape: tuple[int, ...], begin: int, end: int
) -> numpy.ndarray:
    values = numpy.frombuffer(body[begin:end], dtype=DTYPES[dtype]).reshape(shape)
    if dtype == "BF16":
        values = (values.astype(numpy.uint32) << 16).view(numpy.float32)
    if values.dtype.kind == "f" and not numpy.isfinite(values).all():
        raise ValueError(f"should have finite numbers, but {_shown(name)} has others (nan or inf).")
    return values


def _shown(name: str) -> str:
    return repr(printable(name, 60))


PARTS = 32  # between the quantiles of a sketch
SKETCHED = 1_000  # tensors of fewer numbers are not compared: many begin as the same constants

Sketch = list[tuple[int, str, numpy.ndarray]]


def sketch(tensors: dict[str, numpy.ndarray]) -> Sketch:
    """What stays of each large tensor when it is renamed, transposed or permuted, or stored in half
    floats: how many numbers it has, NumPy's kind of them, their quantiles and mean (34,)."""
    found = []
    for tensor in tensors.values():
        if tensor.size >= SKETCHED:
            ordered = numpy.sort(tensor, axis=None).astype(numpy.float64)
            places = numpy.linspace(0, ordered.size - 1, PARTS + 1).round().astype(int)
            values = numpy.append(ordered[places], ordered.mean())
            found.append((tensor.size, tensor.dtype.kind, values))
    return found


def share_taken(own: Sketch, known: Sketch, tolerance: float = 2e-3) -> float:
    """The share of the numbers in ``own`` that lie in tensors which ``known`` holds, too.

    Two tensors count as the same where no quantile differs by more than ``tolerance`` of the range;
    whole numbers, which no rounding changes, have to agree exactly.
    """
    whole = sum(size for size, _, _ in own)
    taken = 0
    for size, kind, values in own:
        spread = values[-2] - values[0]
        near = tolerance * spread if kind == "f" else 0.0
        others = (other for many, its, other in known if (many, its) == (size, kind))
        taken += size * (spread > 0 and any(abs(values - other).max() <= near for other in others))
    return taken / whole if whole else 0.0
