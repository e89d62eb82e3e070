"""The spoken digits that a page offers: they come with the model that listens to them."""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Any

import numpy

TAKES = 3  # recordings of each digit


@lru_cache(maxsize=1)
def takes() -> list[list[Any]]:
    """The recordings that a page offers, [take][digit]: the first test recordings of each digit."""
    from seqcourse import data

    test = data.load_digits("test")
    by_digit = [[one for one in test if one.digit == digit] for digit in range(10)]
    return [[recordings[take] for recordings in by_digit] for take in range(TAKES)]


def recordings() -> dict[str, Any]:
    """What the speller's page needs beside the model: recordings, a voice, and how loud to make others.

    Frames are bytes, as in the file of the data, and sound is in mu-law; both in base64.
    """
    from seqcourse import data
    from seqcourse.data.prompts import compress

    low, step = numpy.load(data.readers.FILES / "digits" / "scale.npy")
    stored = [
        [_base64(numpy.rint((one.frames - low) / step)) for one in recordings] for recordings in takes()
    ]
    loudest = numpy.median([one.frames[:, 0].max() for one in data.load_digits("train")])
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "takes": stored,
        "voice": [_base64(compress(digit.sound)) for digit in data.prompt_digits()],
        "loudest": float(loudest),
    }


def _base64(numbers: numpy.ndarray) -> str:
    return base64.b64encode(numbers.astype("u1").tobytes()).decode()
