"""The published EfficientNet-lite0 in our own module: photographs to features and to classes."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor

from seqcourse.data.readers import FILES, read_rows, write_beside
from seqcourse.errors import CourseError
from seqcourse.models.efficientnet import EfficientNetLite0, from_published
from seqcourse.settings import device
from seqcourse.zoo.published.packages import found, package

SIDE = 224  # pixels, as in training
BATCH = 16  # photographs at a time
CACHE_VARIABLE = "SEQCOURSE_CACHE"


@dataclass(frozen=True)
class KnownPhotograph:
    """A photograph that came with the course, and the classes of ImageNet that are right for it.

    name: in plain English; label: ImageNet's name of the first class; pixels: (224, 224, 3), uint8.
    """

    name: str
    label: str
    classes: tuple[int, ...]
    pixels: numpy.ndarray


class PictureEncoder:
    """EfficientNet-lite0 with the preparation of its pictures.

    Args:
        model: in evaluation mode.
        name: of the folder of its features on the disk; other weights need another name.
    """

    def __init__(self, model: EfficientNetLite0, name: str) -> None:
        self.model, self.name = model, name

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.model.classifier.weight.device

    def prepare(self, pictures: Sequence[numpy.ndarray]) -> Tensor:
        """Pictures (H, W, 3) of type uint8 to (B, 3, 224, 224): middle squares, (x - 127) / 128.

        Raises:
            CourseError: the list is empty, or a picture has another form.
        """
        if len(pictures) == 0:
            raise CourseError("Expected at least one picture, but the list is empty.")
        squares = numpy.stack([square(picture) for picture in pictures])
        return (torch.from_numpy(squares).permute(0, 3, 1, 2).float() - 127) / 128

    def compute(self, pictures: Sequence[numpy.ndarray]) -> Tensor:
        """The last feature map of each picture, (B, 1280, 7, 7) on the CPU, without the disk."""
        with torch.inference_mode():
            return self.model.features(self.prepare(pictures).to(self.device)).float().cpu()

    def features(self, pictures: Sequence[numpy.ndarray], folder: Path | None = None) -> Tensor:
        """The same, but no picture is computed twice: (B, 1280, 7, 7) in 16 bits, kept on the disk.

        Every picture has a file of its own, named after the sha256 of its pixels and written whole or
        not at all. So a killed run loses at most one batch, and an unreadable file is made again.

        Args:
            pictures: (H, W, 3) of type uint8 each.
            folder: of the files; :func:`cache_folder` if not given.
        """
        if len(pictures) == 0:
            raise CourseError("Expected at least one picture, but the list is empty.")
        folder = folder or cache_folder()
        paths = [folder / self.name / f"{_key(picture)}.npy" for picture in pictures]
        known = {path: _read(path) for path in dict.fromkeys(paths)}
        first = {path: picture for path, picture in zip(paths, pictures, strict=True)}
        missing = [path for path, features in known.items() if features is None]
        for at in range(0, len(missing), BATCH):
            batch = missing[at : at + BATCH]
            computed = self.compute([first[path] for path in batch]).half().numpy()
            for path, features in zip(batch, computed, strict=True):
                _write(path, features)
                known[path] = features
        return torch.from_numpy(numpy.stack([known[path] for path in paths]))

    def classify(
        self, pictures: Sequence[numpy.ndarray], count: int = 1
    ) -> list[list[tuple[int, float]]]:
        """For each picture the most likely of ImageNet's 1000 classes and their probabilities."""
        found = []
        for at in range(0, len(pictures), BATCH):
            with torch.inference_mode():
                logits = self.model(self.prepare(pictures[at : at + BATCH]).to(self.device))
                best = logits.float().softmax(-1).topk(count)
            rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
            found += [list(zip(*row, strict=True)) for row in rows]
        return found


def square(picture: numpy.ndarray, side: int = SIDE) -> numpy.ndarray:
    """The middle square of a picture (H, W, 3) of type uint8 in (side, side, 3).

    Raises:
        CourseError: if it has another form.
    """
    picture = numpy.asarray(picture)
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != numpy.uint8:
        raise CourseError(
            f"A picture should be (height, width, 3) of type uint8, as data.read_photograph gives it, "
            f"but it is {picture.shape} of type {picture.dtype}."
        )
    if picture.shape[:2] == (side, side):
        return picture
    from PIL import Image, ImageOps

    return numpy.array(ImageOps.fit(Image.fromarray(picture), (side, side), Image.Resampling.BICUBIC))


def load_efficientnet() -> PictureEncoder:
    """Load the published EfficientNet-lite0 on the course's device.

    Raises:
        CourseError: the file is not there, or is not the one that was published.
    """
    wanted = package("efficientnet")
    path = found("efficientnet") / wanted.inside[0]
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
        model = EfficientNetLite0()
        model.load_state_dict(from_published(weights))
    except (RuntimeError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
        raise CourseError(
            f"{path}: expected the weights of {wanted.project} {wanted.version}, but they cannot be "
            f"read. Delete the file and get it again: seqcourse data fetch efficientnet"
        ) from error
    model.to(device()).eval().requires_grad_(False)
    return PictureEncoder(model, f"efficientnet-lite0-{wanted.version}")


def known_photographs() -> list[KnownPhotograph]:
    """The course's photographs of things that are among ImageNet's classes."""
    from seqcourse.data.photographs import read_photograph

    columns = ("file", "name", "classes", "label", "stamp")
    folder = FILES / "photographs"
    _, *rows = read_rows(folder / "photographs.tsv", len(columns), ", ".join(columns))
    return [
        KnownPhotograph(name, label, tuple(map(int, classes.split(","))), read_photograph(folder / file))
        for file, name, classes, label, _ in rows
    ]


def cache_folder() -> Path:
    """The folder of computed features: SEQCOURSE_CACHE, or seqcourse/features in the user's cache."""
    wanted = os.environ.get(CACHE_VARIABLE, "")
    if wanted:
        return Path(wanted).expanduser() / "features"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "seqcourse" / "features"


def _key(picture: numpy.ndarray) -> str:
    picture = numpy.ascontiguousarray(picture)
    form = f"{picture.shape} {picture.dtype}\n".encode()
    return hashlib.sha256(form + picture.tobytes()).hexdigest()


def _read(path: Path) -> numpy.ndarray | None:
    """The features in a file, or None if it cannot be read."""
    try:
        features = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return features if features.dtype == numpy.float16 and features.ndim == 3 else None


def _write(path: Path, features: numpy.ndarray) -> None:
    buffer = io.BytesIO()
    numpy.save(buffer, features, allow_pickle=False)
    write_beside(path, buffer.getvalue())
