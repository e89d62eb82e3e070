"""Photographs to the feature maps of EfficientNet-lite0, in 8 bits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy

from seqcourse.data.build import familiar
from seqcourse.data.readers import FILES, write_beside
from seqcourse.zoo.published.efficientnet import BATCH, cache_folder, load_efficientnet, square

THROUGH = 128  # pixels: the course's cut-outs are not sharper, so photographs are not either
HIGHEST = 6.0  # of a feature after ReLU6


def grids(pictures: Sequence[numpy.ndarray]) -> numpy.ndarray:
    """The last feature map of each picture in whole numbers from 0 to 255, for 0 to 6.

    A picture's middle square is first made 128 pixels wide, then as wide as the network wants it.

    Args:
        pictures: (H, W, 3) of type uint8 each.

    Returns:
        (B, 7, 7, 1280) of type uint8.

    Raises:
        CourseError: a picture has another form, or the weights are not there.
    """
    encoder = load_efficientnet()
    found = numpy.empty((len(pictures), 7, 7, 1280), numpy.uint8)
    for at in range(0, len(pictures), BATCH):
        squares = [square(square(one, THROUGH)) for one in pictures[at : at + BATCH]]
        features = encoder.compute(squares).permute(0, 2, 3, 1).numpy()  # (B, 7, 7, 1280)
        found[at : at + BATCH] = numpy.round(numpy.clip(features, 0, HIGHEST) * (255 / HIGHEST))
    return found


def kept_grids(pictures: numpy.ndarray, folder: Path | None = None) -> numpy.ndarray:
    """The same for many pictures (N, H, W, 3), computed once and kept in one file on the disk.

    Args:
        pictures: as above.
        folder: of the file, which is named after the pictures' sha256; the cache if not given.
    """
    import io

    key = hashlib.sha256(f"{pictures.shape}".encode() + pictures.tobytes()).hexdigest()
    path = (folder or cache_folder() / "grids") / f"{key}.npy"
    try:
        known = numpy.load(path, allow_pickle=False)
        if known.shape == (len(pictures), 7, 7, 1280) and known.dtype == numpy.uint8:
            return known
    except (OSError, ValueError, EOFError):
        pass  # not there, or not whole
    found, buffer = grids(pictures), io.BytesIO()
    numpy.save(buffer, found, allow_pickle=False)
    write_beside(path, buffer.getvalue())
    return found


def rebuild_familiar(source: Path, target: Path = FILES) -> None:
    """Rebuild the photographs of familiar things together with their features.

    Args:
        source, target: as for :func:`seqcourse.data.build.familiar.build`.
    """
    familiar.build(source, target, grids)
