"""The cut-out photographs that scenes are composed of, with their names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy

from seqcourse.data.readers import FILES, read_rows
from seqcourse.errors import CourseError

COLUMNS = ("file", "name", "plural", "name_es", "plural_es", "gender", "colour", "part", "stamp")
_HOW = "Take the file from the repository again: git checkout -- seqcourse/data/files/pictures"


@dataclass(frozen=True)
class Kind:
    """The names of a thing in both languages, and its colour if the data names one.

    name, plural: English, "tiger" and "tigers".
    name_es, plural_es: Spanish, "tigre" and "tigres"; feminine: its gender.
    colour: an English colour word or None.
    """

    name: str
    plural: str
    name_es: str
    plural_es: str
    feminine: bool
    colour: str | None = None


@dataclass(frozen=True)
class Picture:
    """One photograph without its background.

    kind: its names; pixels: (height, width, 4) red, green, blue and opacity, 0 to 255, uint8;
    part: "train", or "unseen" if no training scene shows it; file: its file.
    """

    kind: Kind
    pixels: numpy.ndarray
    part: str
    file: str

    @property
    def name(self) -> str:
        """The English name."""
        return self.kind.name

    @property
    def colour(self) -> str | None:
        """The colour that the data names, or None."""
        return self.kind.colour


@cache
def load_pictures(folder: Path | None = None) -> tuple[Picture, ...]:
    """Load the cut-out photographs in the order of their index, ``pictures.tsv``.

    Raises:
        CourseError: the index or a picture is missing or malformed.
    """
    folder = folder or FILES / "pictures"
    rows = read_rows(folder / "pictures.tsv", len(COLUMNS), ", ".join(COLUMNS), _HOW)
    header = next(rows, [])
    if tuple(header) != COLUMNS:
        raise CourseError(
            f"{folder / 'pictures.tsv'}: expected a first line with {', '.join(COLUMNS)}, but found "
            f"{', '.join(header) or 'none'}. {_HOW}"
        )
    return tuple(_read(folder, dict(zip(COLUMNS, row, strict=True))) for row in rows)


def kinds(part: str | None = None) -> tuple[Kind, ...]:
    """The kinds of all pictures, each once, in the order of the index; ``part`` as in Picture."""
    found = (picture for picture in load_pictures() if part in (None, picture.part))
    return tuple(dict.fromkeys(picture.kind for picture in found))


def names(part: str | None = None) -> tuple[str, ...]:
    """The English names of the things, each once, sorted."""
    return tuple(sorted({kind.name for kind in kinds(part)}))


def _read(folder: Path, row: dict[str, str]) -> Picture:
    from PIL import Image

    path = folder / row["file"]
    if row["gender"] not in ("f", "m") or row["part"] not in ("train", "unseen"):
        raise CourseError(
            f"{folder / 'pictures.tsv'}: expected 'f' or 'm' and 'train' or 'unseen' for "
            f"{row['file']}, but found {row['gender']!r} and {row['part']!r}. {_HOW}"
        )
    try:
        with Image.open(path) as image:
            pixels = numpy.array(image.convert("RGBA"))
    except OSError as error:
        raise CourseError(f"{path}: expected a PNG picture, but {error}. {_HOW}") from error
    pixels.flags.writeable = False
    kind = Kind(
        row["name"],
        row["plural"],
        row["name_es"],
        row["plural_es"],
        row["gender"] == "f",
        row["colour"] or None,
    )
    return Picture(kind, pixels, row["part"], row["file"])
