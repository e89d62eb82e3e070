"""Photographs of familiar things, with author and licence each, and scenes on photographed ground."""

from __future__ import annotations

import random
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from seqcourse.data.photographs import read_photograph
from seqcourse.data.readers import FILES, read_rows
from seqcourse.data.scenes import Style
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

COLUMNS = ("file", "use", "captions", "from", "author", "licence", "page")
_HOW = "Take the file from the repository again: git checkout -- seqcourse/data/files/familiar"
FEATURES = "features.npz"
KEPT = 5  # one ground in so many is kept for validation


@dataclass(frozen=True)
class Familiar:
    """A photograph of one familiar thing.

    name: what it shows; captions: those of the scenes' grammar that are true, written down before any
    captioner was trained; pixels: (224, 224, 3), uint8; author, licence, page: of the original.
    """

    name: str
    captions: tuple[str, ...]
    pixels: numpy.ndarray
    author: str
    licence: str
    page: str


def load_familiar(folder: Path | None = None) -> list[Familiar]:
    """The photographs of familiar things, in the order of their names.

    Raises:
        CourseError: the index or a photograph is missing or malformed.
    """
    folder = folder or FILES / "familiar"
    return [
        Familiar(
            Path(row["file"]).stem,
            tuple(row["captions"].split("; ")),
            read_photograph(folder / row["file"]),
            row["author"],
            row["licence"],
            row["page"],
        )
        for row in _rows(folder, "thing")
    ]


def load_grounds(folder: Path | None = None) -> dict[str, numpy.ndarray]:
    """Name -> photograph of ground, (192, 192, 3) of type uint8, without any thing that scenes show.

    Raises:
        CourseError: the index or a photograph is missing or malformed.
    """
    folder = folder or FILES / "familiar"
    return {
        Path(row["file"]).stem.removeprefix("ground_"): read_photograph(folder / row["file"])
        for row in _rows(folder, "ground")
    }


def load_familiar_features(folder: Path | None = None) -> numpy.ndarray:
    """What EfficientNet-lite0 computes from :func:`load_familiar`, in the same order.

    Returns:
        (photographs, 7, 7, 1280) of type uint8, 255 for a feature of 6; see
        :func:`seqcourse.zoo.published.grids.grids`.

    Raises:
        CourseError: the file is missing or damaged.
    """
    path = (folder or FILES / "familiar") / FEATURES
    try:
        with numpy.load(path, allow_pickle=False) as stored:
            return stored["features"]
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise CourseError(
            f"{path}: expected features of the photographs, but {error}. {_HOW}"
        ) from error


def photographed(part: str) -> Style:
    """Mostly one thing, large, on a photograph of ground, with some blur and another brightness.

    Args:
        part: "train", or "valid" for grounds that no training scene has.

    Raises:
        CourseError: there is no such part.
    """
    if part not in ("train", "valid"):
        raise CourseError(f"Grounds are for 'train' or 'valid', not {part!r}.")
    return Style(
        patterns={(1,): 70, (2,): 6, (1, 1): 24},
        sides={1: (0.45, 0.95), 2: (0.3, 0.5)},
        ground=_train_ground if part == "train" else _valid_ground,
        finish=_finish,
    )


def _train_ground(rng: random.Random, size: int) -> numpy.ndarray:
    return _ground(rng, size, [one for place, one in enumerate(_grounds()) if place % KEPT])


def _valid_ground(rng: random.Random, size: int) -> numpy.ndarray:
    return _ground(rng, size, _grounds()[::KEPT])


def _ground(rng: random.Random, size: int, grounds: list[Image.Image]) -> numpy.ndarray:
    """A random square of a ground, at least half of its side, perhaps mirrored."""
    from PIL import Image

    ground = rng.choice(grounds)
    whole = ground.width
    side = rng.randint(whole // 2, whole)
    left, top = rng.randint(0, whole - side), rng.randint(0, whole - side)
    if rng.random() < 0.5:
        ground = ground.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    box = (left, top, left + side, top + side)
    return numpy.array(ground.resize((size, size), Image.Resampling.BILINEAR, box))


@cache
def _grounds() -> list[Image.Image]:
    from PIL import Image

    return [Image.fromarray(pixels) for pixels in load_grounds().values()]


def _finish(rng: random.Random, image: Image.Image) -> Image.Image:
    from PIL import ImageEnhance, ImageFilter

    image = ImageEnhance.Brightness(image).enhance(rng.uniform(0.7, 1.25))
    image = ImageEnhance.Contrast(image).enhance(rng.uniform(0.8, 1.2))
    image = ImageEnhance.Color(image).enhance(rng.uniform(0.6, 1.3))
    return image.filter(ImageFilter.GaussianBlur(rng.choice((0, 0, 0.4, 0.8))))


def _rows(folder: Path, use: str) -> list[dict[str, str]]:
    header, *rows = read_rows(folder / "familiar.tsv", len(COLUMNS), ", ".join(COLUMNS), _HOW)
    if tuple(header) != COLUMNS:
        raise CourseError(
            f"{folder / 'familiar.tsv'}: expected a first line with {', '.join(COLUMNS)}, but found "
            f"{', '.join(header)}. {_HOW}"
        )
    named = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
    return [row for row in named if row["use"] == use]
