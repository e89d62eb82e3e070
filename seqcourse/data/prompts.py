"""Spoken prompts: one voice in telephone quality, with transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy

from seqcourse.data.digits import DIGITS
from seqcourse.data.readers import FILES, read_array, read_rows

RATE = 8000  # samples a second


@dataclass(frozen=True)
class Prompt:
    """One recording.

    Attributes:
        name: its file name in the source, without suffix.
        text: the transcript, lower-case without punctuation.
        sound: samples between -1 and 1, (N,) float32, ``RATE`` of them a second.
    """

    name: str
    text: str
    sound: numpy.ndarray

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.sound) / RATE


def load_prompts() -> list[Prompt]:
    """Sentences of a telephone system, spoken by one professional speaker.

    The ten digits by the same voice are :func:`prompt_digits`.

    Raises:
        CourseError: if the files are missing or damaged.
    """
    return [prompt for prompt in _load_all() if not prompt.name.startswith("digits/")]


def prompt_digits() -> list[Prompt]:
    """The digits from zero to nine, in this order, spoken by the voice of the prompts."""
    found = {prompt.text: prompt for prompt in _load_all() if prompt.name.startswith("digits/")}
    return [found[word] for word in DIGITS]


def compress(sound: numpy.ndarray) -> numpy.ndarray:
    r"""Compress samples x between -1 and 1 to a byte each, with finer steps for quiet sound (mu-law).

    .. math:: F(x) = \mathrm{sign}(x) \, \frac{\ln(1 + 255 |x|)}{\ln 256}, \qquad
        \mathrm{byte} = \mathrm{round}(127 F(x)) + 128
    """
    level = numpy.sign(sound) * numpy.log1p(255 * numpy.abs(sound)) / numpy.log(256)
    return (numpy.rint(127 * level) + 128).astype("u1")


def expand(stored: numpy.ndarray) -> numpy.ndarray:
    """The inverse of :func:`compress`: bytes to samples, float32."""
    level = (numpy.arange(256) - 128.0) / 127
    table = numpy.sign(level) * numpy.expm1(numpy.abs(level) * numpy.log(256)) / 255
    return table.astype(numpy.float32)[stored]


@lru_cache(maxsize=1)
def _load_all() -> tuple[Prompt, ...]:
    folder = FILES / "prompts"
    how = (
        "It belongs to the course: install the package again, or in a checkout run "
        "`python -m seqcourse.data.build prompts --source FOLDER`."
    )
    rows = list(read_rows(folder / "prompts.tsv", 3, "name, samples, text", how))
    edges = list(accumulate((int(size) for _, size, _ in rows), initial=0))
    sound = expand(read_array(folder / "sound.npy", (edges[-1],), how))
    sound.setflags(write=False)
    return tuple(
        Prompt(name, text, sound[begin:end])
        for (name, _, text), (begin, end) in zip(rows, pairwise(edges), strict=True)
    )
