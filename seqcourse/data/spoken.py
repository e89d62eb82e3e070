"""Batches of spoken digit strings: frames in, letters out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy
import torch

from seqcourse.data.batching import pad
from seqcourse.data.digits import DigitString, Recording, digit_strings, join_digits, load_digits
from seqcourse.data.vocabulary import EOS, PAD, SOS, Vocabulary
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class SpokenBatch:
    """Utterances as tensors, ready for teacher forcing; ``tgt_in`` and ``tgt_out`` as in ``Batch``."""

    src: torch.Tensor  # (B, T, D) frames, zeros at padding
    src_lengths: torch.Tensor  # (B,)
    tgt_in: torch.Tensor  # (B, T'), <sos> and the letters
    tgt_out: torch.Tensor  # (B, T'), the letters and <eos>

    def __len__(self) -> int:
        return self.src.shape[0]

    @property
    def tokens(self) -> int:
        """How many letters the loss is taken over (padding does not count)."""
        return int((self.tgt_out != PAD).sum())

    def to(self, device: torch.device | str) -> SpokenBatch:
        """The same batch with every tensor on ``device``."""
        parts = (self.src, self.src_lengths, self.tgt_in, self.tgt_out)
        return SpokenBatch(*(part.to(device) for part in parts))


def pad_frames(utterances: Sequence[numpy.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack utterances (T, D) of different lengths to (B, T, D) float32 and lengths (B,) int64.

    Raises:
        CourseError: if there is none, one is empty, or their frames differ in size.
    """
    if len(utterances) == 0:
        raise CourseError("Expected at least one utterance, but the list is empty.")
    shapes = [numpy.shape(frames) for frames in utterances]
    if any(len(shape) != 2 or shape[0] == 0 or shape[1] != shapes[0][1] for shape in shapes):
        raise CourseError(
            f"Every utterance should be (T, D) with at least one frame and one D, but they are "
            f"{sorted(set(shapes))}."
        )
    lengths = torch.tensor([shape[0] for shape in shapes])
    table = torch.zeros(len(shapes), int(lengths.max()), shapes[0][1])
    for row, frames in enumerate(utterances):
        table[row, : len(frames)] = torch.from_numpy(numpy.array(frames, numpy.float32))
    return table, lengths


def spoken_batch(strings: Sequence[DigitString], vocabulary: Vocabulary) -> SpokenBatch:
    """Strings as one batch, their text spelt letter by letter."""
    src, lengths = pad_frames([string.frames for string in strings])
    spelt = [vocabulary.encode(list(string.text), eos=False) for string in strings]
    tgt_in, _ = pad([[SOS, *ids] for ids in spelt])
    tgt_out, _ = pad([[*ids, EOS] for ids in spelt])
    return SpokenBatch(src, lengths, tgt_in, tgt_out)


def change_speed(frames: numpy.ndarray, factor: float) -> numpy.ndarray:
    """Frames (T, D) as if spoken ``factor`` times as fast: (round(T / factor), D), at least one.

    Frames in between are interpolated linearly.
    """
    size = max(1, round(len(frames) / factor))
    at = numpy.linspace(0, len(frames) - 1, size)
    low = numpy.floor(at).astype(int)
    high = numpy.minimum(low + 1, len(frames) - 1)
    share = (at - low)[:, None].astype(numpy.float32)
    return (1 - share) * frames[low] + share * frames[high]


def vary(recording: Recording, rng: numpy.random.Generator, speed: float, noise: float) -> Recording:
    """A recording as it might have been spoken: faster or slower, louder or quieter, in some noise.

    Args:
        recording: what was said.
        rng: where the draws come from.
        speed: the tempo is multiplied by a number from 1 - speed to 1 + speed.
        noise: standard deviation of what is added to each coefficient, in shares of that
            coefficient's own standard deviation in the recording; and of the constant that is added
            to all frames (another microphone, another distance).
    """
    frames = change_speed(recording.frames, 1 + speed * rng.uniform(-1, 1))
    spread = recording.frames.std(0)
    frames = frames + noise * spread * rng.normal(size=frames.shape).astype(numpy.float32)
    frames = frames + noise * spread * rng.normal(size=spread.shape).astype(numpy.float32)
    return replace(recording, frames=frames.astype(numpy.float32))


class SpokenBatches:
    """Batches of digit strings; for training, other strings and other variations in every epoch.

    Args:
        vocabulary: of letters.
        split: where the recordings come from.
        count: strings in an epoch.
        batch_size: strings in a batch.
        seed: where the draws come from; epoch n depends on nothing but the seed and n.
        fresh: other strings in every epoch, each recording varied; else always the same ones.
        speed, noise: see :func:`vary`; used if ``fresh``.
        least, most: digits in a string.
        grow: begin with strings of ``least`` digits, and allow one more every ``grow`` epochs, up to
            ``most``; 0 allows all from the beginning.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        split: str = "train",
        count: int = 2048,
        batch_size: int = 32,
        seed: int = 0,
        fresh: bool = True,
        speed: float = 0.0,
        noise: float = 0.0,
        least: int = 1,
        most: int = 5,
        grow: int = 0,
    ) -> None:
        self.vocabulary, self.split, self.count, self.batch_size = vocabulary, split, count, batch_size
        self.seed, self.fresh, self.speed, self.noise = seed, fresh, speed, noise
        self.least, self.most, self.grow = least, most, grow
        self._known = {r.number: r for r in load_digits(split)} if fresh else {}
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Compose the strings of epoch ``epoch``."""
        self.epoch = epoch
        seed = [self.seed, epoch if self.fresh else 0]
        most = min(self.most, self.least + epoch // self.grow) if self.grow else self.most
        strings = digit_strings(self.split, self.count, self.least, most, seed)
        rng = numpy.random.default_rng([*seed, 1])
        if self.fresh:
            strings = [self._varied(string, rng) for string in strings]
        # about equally long ones together, so that little is padding
        order = sorted(range(self.count), key=lambda i: len(strings[i].frames))
        groups = [order[at : at + self.batch_size] for at in range(0, self.count, self.batch_size)]
        if self.fresh:
            groups = [groups[i] for i in rng.permutation(len(groups))]
        self.strings = [[strings[i] for i in group] for group in groups]

    def _varied(self, string: DigitString, rng: numpy.random.Generator) -> DigitString:
        known = (self._known[number] for number in string.recordings)
        return join_digits([vary(recording, rng, self.speed, self.noise) for recording in known])

    def __len__(self) -> int:
        return len(self.strings)

    def __iter__(self) -> Iterator[SpokenBatch]:
        for strings in self.strings:
            yield spoken_batch(strings, self.vocabulary)
