"""Your own photographs: any picture file, turned the right way up, in red, green and blue."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
SMALLEST = 16  # pixels of the shorter side; networks need at least this
LARGEST = 100_000_000  # pixels; more is a mistake or an attack


@dataclass(frozen=True)
class Photograph:
    """A picture file and what it shows: path, (height, width, 3) of type uint8."""

    path: Path
    pixels: numpy.ndarray


def read_photograph(path: Path | str, size: int | None = None) -> numpy.ndarray:
    """Read a picture file of any usual kind.

    The EXIF orientation is applied. Palettes, grey, CMYK and 16 bits become red, green and blue of
    8 bits. Transparent parts become white. If there are several frames, the first is read.

    Args:
        path: a picture file.
        size: if given, the middle square is scaled to this side in pixels.

    Returns:
        (height, width, 3), or (size, size, 3), of type uint8.

    Raises:
        CourseError: the file is missing, is not a picture, is damaged, too small or too large.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    path = Path(path)
    if not path.is_file():
        came = "a folder stands there" if path.is_dir() else "there is none"
        raise CourseError(f"Expected a picture at {path}, but {came}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unusual EXIF data; _check_size checks the size
            with Image.open(path) as opened:
                _check_size(path, opened.size)
                image = _eight_bits(ImageOps.exif_transpose(opened))
    except UnidentifiedImageError as error:
        raise CourseError(f"{path}: expected a picture, but no picture format fits the file.") from error
    except Image.DecompressionBombError as error:
        raise CourseError(
            f"{path}: expected at most {LARGEST:,} pixels, but it has many more."
        ) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise CourseError(
            f"{path}: the picture is damaged ({error}). Copy it again, or leave it out."
        ) from error
    if size is not None:
        image = ImageOps.fit(image, (size, size), Image.Resampling.LANCZOS)
    return numpy.array(image)


def load_photographs(
    folder: Path | str, count: int | None = 5, size: int | None = None
) -> list[Photograph]:
    """The pictures of a folder, in the order of their names.

    Other files are skipped. A picture that cannot be read is skipped with a warning that says why.

    Args:
        folder: of the pictures (folders inside it are not searched).
        count: how many to read at most; None reads all.
        size: as in :func:`read_photograph`.

    Raises:
        CourseError: there is no such folder, or no picture in it that can be read.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        came = "is a file" if folder.exists() else "does not exist"
        raise CourseError(f"Expected a folder with pictures, but {folder} {came}.")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    found: list[Photograph] = []
    for path in paths:
        if len(found) == count:
            break
        try:
            found.append(Photograph(path, read_photograph(path, size)))
        except CourseError as error:
            warnings.warn(str(error), stacklevel=2)
    if not found:
        kinds = ", ".join(SUFFIXES)
        raise CourseError(
            f"Expected pictures in {folder}, but of its files {len(paths)} have the name of a picture "
            f"({kinds}), and none can be read."
        )
    return found


def stack(paths: Sequence[Path], size: int) -> numpy.ndarray:
    """The middle squares of many pictures: (N, size, size, 3) of type uint8.

    Raises:
        CourseError: as :func:`read_photograph`, for the first file that cannot be read.
    """
    pixels = numpy.empty((len(paths), size, size, 3), numpy.uint8)
    for row, path in enumerate(paths):
        pixels[row] = read_photograph(path, size)
    return pixels


def _check_size(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if min(size) < SMALLEST:
        raise CourseError(
            f"{path}: expected a picture of at least {SMALLEST} x {SMALLEST} pixels, but it has "
            f"{width} x {height}."
        )
    if width * height > LARGEST:
        raise CourseError(f"{path}: expected at most {LARGEST:,} pixels, but it has {width} x {height}.")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Any mode to RGB, transparent parts white."""
    from PIL import Image

    if image.mode.startswith(("I", "F")):  # 16 or 32 bits of grey, which Pillow would clip
        values = numpy.asarray(image, dtype=float)
        low, high = values.min(), values.max()
        if image.mode.startswith("I;16"):
            low, high = 0, 65535
        scaled = (values - low) * (255 / (high - low)) if high > low else values * 0
        return Image.fromarray(scaled.round().astype(numpy.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")
