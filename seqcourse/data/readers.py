"""Reading and writing text files of rows, with errors that say which line is wrong."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from seqcourse.errors import CourseError

if TYPE_CHECKING:
    import numpy

FILES = Path(__file__).parent / "files"


def read_lines(path: Path, how_to_get: str = "") -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of a UTF-8 text file, plain or ending in .gz.

    Raises:
        CourseError: the file is missing, ends in .gz but is not a gzip file, or is not UTF-8.
    """
    path = Path(path)
    if not path.is_file():
        came = "a folder stands there" if path.is_dir() else "there is none"
        raise CourseError(f"Expected a file at {path}, but {came}. {how_to_get}".strip())
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                yield number, raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise CourseError(
            f"{path}, line {number}: expected text in UTF-8, but byte "
            f"0x{error.object[error.start]:02x} at position {error.start + 1} of the line is not. "
            f"Save the file again with the encoding UTF-8."
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CourseError(
            f"{path}: expected a complete gzip file because its name ends in .gz, but reading "
            f"stopped after line {number} ({error}). Fetch the file again, or drop the .gz from "
            f"its name if it is plain text."
        ) from error
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror or error}.") from error


def read_rows(path: Path, columns: int, what: str, how_to_get: str = "") -> Iterator[list[str]]:
    """Yield the fields of every line of a tab-separated file with a fixed number of columns."""
    for number, line in read_lines(path, how_to_get):
        fields = line.split("\t")
        if len(fields) != columns:
            raise CourseError(
                f"{path}, line {number}: expected {columns} columns separated by tabs ({what}), "
                f"but found {len(fields)}."
            )
        yield fields


def read_array(path: Path, shape: tuple[int, ...], how_to_get: str = "") -> numpy.ndarray:
    """Read one numpy array (.npy) of a known shape.

    Raises:
        CourseError: the file is missing, or does not hold one plain array of that shape.
    """
    import numpy

    if not path.is_file():
        raise CourseError(f"Expected a file at {path}, but there is none. {how_to_get}".strip())
    try:
        array = numpy.load(path, allow_pickle=False)
        came = f"an array {array.shape}" if isinstance(array, numpy.ndarray) else "several arrays"
    except (OSError, ValueError) as error:
        array, came = None, f"something that numpy cannot read ({error})"
    if getattr(array, "shape", None) != shape:
        raise CourseError(
            f"{path}: expected a numpy array {shape}, but found {came}. {how_to_get}".strip()
        )
    return array


def pack_array(array: numpy.ndarray) -> bytes:
    """An array as the bytes of a .npy file."""
    import numpy

    buffer = io.BytesIO()
    numpy.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def write_beside(path: Path, content: bytes) -> None:
    """Write a whole file or nothing: write a temporary file, then move it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def pack(lines: Iterable[str]) -> bytes:
    """Gzip lines of text; the same lines give the same bytes (no date, no name inside)."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())
    return buffer.getvalue()


def write_text(path: Path, text: str) -> None:
    """Write lines of text, whole or not at all, packed if the name ends in .gz."""
    lines = text.removesuffix("\n").split("\n")  # splitlines would end lines elsewhere, too
    write_beside(path, pack(lines) if path.suffix == ".gz" else text.encode())
