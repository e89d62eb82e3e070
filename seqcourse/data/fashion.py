"""Fashion-MNIST: small grey pictures of clothes, ten kinds (Xiao, Rasul and Vollgraf 2017)."""

from __future__ import annotations

import gzip
import lzma
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy

from seqcourse.data.readers import FILES
from seqcourse.data.splits import SPLITS, check_split
from seqcourse.errors import CourseError

#: Names of the ten kinds; a label is an index into this tuple.
CLOTHES = (
    "T-shirt", "trousers", "pullover", "dress", "coat",
    "sandal", "shirt", "trainer", "bag", "ankle boot",
)  # fmt: skip
SIDE = 28  # pixels
VALID = 5_000  # the last of the published training pictures are for validation
PUBLISHED = {  # names of the published files, images and labels
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
_HOW = (
    "The full data set is the Debian package dataset-fashion-mnist, or the four files of "
    "https://github.com/zalandoresearch/fashion-mnist. Give the folder that holds them, or leave "
    "`path` out to use the cut that comes with the course."
)


@dataclass(frozen=True)
class Clothes:
    """Pictures (N, 28, 28), grey from 0 to 255 (uint8), and which of ``CLOTHES`` each shows (N,)."""

    images: numpy.ndarray
    labels: numpy.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, each: int) -> Clothes:
        """The first ``each`` pictures of every kind, in their order.

        Raises:
            CourseError: if a kind has fewer.
        """
        most = int(numpy.bincount(self.labels, minlength=len(CLOTHES)).min())
        if not 1 <= each <= most:
            raise CourseError(f"There are 1 to {most} pictures of every kind, not {each}.")
        rows = [numpy.flatnonzero(self.labels == kind)[:each] for kind in range(len(CLOTHES))]
        order = numpy.sort(numpy.concatenate(rows))
        return Clothes(self.images[order], self.labels[order])


def load_fashion(split: str = "train", path: str | Path | None = None) -> Clothes:
    """Load pictures of clothes with their kinds.

    The course's cut has 4,000 pictures to train on, 500 for validation and 1,000 for the test, as many
    of each kind. The full set has 55,000, 5,000 and 10,000; the cut's splits are parts of its splits.

    Args:
        split: "train", "valid" or "test".
        path: folder of the four published files, to open the full set instead of the course's cut.

    Raises:
        CourseError: unknown split; a file is missing or damaged.
    """
    check_split(split, SPLITS)
    if path is None:
        folder = FILES / "fashion-mnist"
        images = read_idx(folder / f"{split}-images.idx.xz")
        labels = read_idx(folder / f"{split}-labels.idx.xz")
        return _checked(images, labels, folder)
    folder = Path(path)
    names = PUBLISHED["test" if split == "test" else "train"]
    found = _checked(*(read_idx(folder / name, _HOW) for name in names), folder)
    if split == "test":
        return found
    cut = len(found) - min(VALID, len(found) // 10)
    rows = slice(cut) if split == "train" else slice(cut, None)
    return Clothes(found.images[rows], found.labels[rows])


def read_idx(path: Path, how_to_get: str = "") -> numpy.ndarray:
    """Read bytes in the IDX format of MNIST, packed (.gz, .xz) or plain.

    The format: two zeros, 8 for unsigned bytes, the number of axes; the size of each axis in four bytes,
    the highest first; then the numbers, the last axis fastest.

    Raises:
        CourseError: the file is missing, cannot be unpacked, or is in another format.
    """
    path = Path(path)
    if not path.is_file():
        raise CourseError(f"Expected a file at {path}, but there is none. {how_to_get}".strip())
    try:
        opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
        with opener(path, "rb") as stream:
            content = stream.read()
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise CourseError(
            f"{path} cannot be read as a whole ({error}). Fetch the file again. {how_to_get}".strip()
        ) from error
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise CourseError(
            f"{path}: expected the IDX format of MNIST with unsigned bytes, which begins with 0, 0, 8, "
            f"but it begins with {', '.join(map(str, content[:3])) or 'nothing'}."
        )
    axes = content[3]
    start = 4 + 4 * axes
    shape = tuple(numpy.frombuffer(content, ">u4", axes, 4).tolist()) if len(content) >= start else ()
    expected = int(numpy.prod(shape, dtype=numpy.int64))
    if len(content) < start or len(content) - start != expected:
        raise CourseError(
            f"{path}: expected {expected:,} numbers for the shape {shape}, but found "
            f"{max(0, len(content) - start):,}. Fetch the file again."
        )
    return numpy.frombuffer(content, numpy.uint8, offset=start).reshape(shape)


def write_idx(numbers: numpy.ndarray) -> bytes:
    """Unsigned bytes in the IDX format, packed with xz: the same numbers give the same bytes."""
    head = bytes([0, 0, 8, numbers.ndim]) + numpy.array(numbers.shape, ">u4").tobytes()
    content = head + numpy.ascontiguousarray(numbers, numpy.uint8).tobytes()
    return lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)


def _checked(images: numpy.ndarray, labels: numpy.ndarray, folder: Path) -> Clothes:
    if images.shape != (len(labels), SIDE, SIDE) or labels.ndim != 1 or labels.max() >= len(CLOTHES):
        raise CourseError(
            f"{folder}: expected pictures (N, {SIDE}, {SIDE}) and N labels from 0 to "
            f"{len(CLOTHES) - 1}, but found {images.shape} and {labels.shape}."
        )
    return Clothes(images, labels)
