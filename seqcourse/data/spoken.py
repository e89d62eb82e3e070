"""Batches of spoken digit strings: frames in, letters out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy
import torch

from seqcourse.data.batching import Loader, TargetBatch, cut, pad_targets
from seqcourse.data.digits import DigitString, Recording, digit_strings, join_digits, load_digits
from seqcourse.data.vocabulary import Vocabulary
from seqcourse.errors import CourseError


@dataclass(frozen=True)
class SpokenBatch(TargetBatch):
    """Utterances and their letters as tensors, ready for teacher forcing."""

    src: torch.Tensor  # (B, T, D) frames, zeros at padding
    src_lengths: torch.Tensor  # (B,)
    tgt_in: torch.Tensor  # (B, T'), <sos> and the letters
    tgt_out: torch.Tensor  # (B, T'), the letters and <eos>


def pad_frames(utterances: Sequence[numpy.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack utterances (T, D) of different lengths to (B, T, D) float32 and lengths (B,) int64.

    Raises:
        CourseError: the list is empty, an utterance is empty, or their frames differ in size.
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
    """Strings as one batch, with their text letter by letter."""
    src, lengths = pad_frames([string.frames for string in strings])
    spelt = [vocabulary.encode(list(string.text), eos=False) for string in strings]
    return SpokenBatch(src, lengths, *pad_targets(spelt))


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
    """A variation of a recording: faster or slower, with noise.

    Args:
        recording: the original.
        rng: for the draws.
        speed: the tempo is multiplied by a number from 1 - speed to 1 + speed.
        noise: standard deviation of the noise added to each coefficient, as a share of that
            coefficient's own standard deviation in the recording. The same amount of noise, drawn once,
            is added to all frames (another microphone, another distance).
    """
    frames = change_speed(recording.frames, 1 + speed * rng.uniform(-1, 1))
    spread = recording.frames.std(0)
    frames = frames + noise * spread * rng.normal(size=frames.shape).astype(numpy.float32)
    frames = frames + noise * spread * rng.normal(size=spread.shape).astype(numpy.float32)
    return replace(recording, frames=frames.astype(numpy.float32))


class SpokenBatches(Loader):
    """Batches of digit strings; for training, new strings and variations in every epoch.

    Args:
        vocabulary: of letters.
        split: where the recordings come from.
        count: strings in an epoch.
        batch_size: strings in a batch.
        seed: of the draws; epoch n depends only on the seed and n.
        variation: speed and noise of :func:`vary`: new strings in every epoch, each recording varied.
            None: always the same strings, as they are.
        most: digits in a string.
        grow: begin with strings of one digit and allow one more every ``grow`` epochs, up to ``most``;
            0 allows all lengths from the beginning.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        split: str = "train",
        count: int = 2048,
        batch_size: int = 32,
        seed: int = 0,
        variation: tuple[float, float] | None = (0.0, 0.0),
        most: int = 5,
        grow: int = 0,
    ) -> None:
        fresh = variation is not None
        known = {r.number: r for r in load_digits(split)} if fresh else {}

        def varied(string: DigitString, rng: numpy.random.Generator) -> DigitString:
            return join_digits([vary(known[number], rng, *variation) for number in string.recordings])

        def plan(epoch: int) -> list[list[DigitString]]:
            seeds = [seed, epoch if fresh else 0]
            longest = min(most, 1 + epoch // grow) if grow else most
            strings = digit_strings(split, count, 1, longest, seeds)
            rng = numpy.random.default_rng([*seeds, 1])
            if fresh:
                strings = [varied(string, rng) for string in strings]
            # group strings of similar length, to reduce padding
            groups = cut(sorted(strings, key=lambda string: len(string.frames)), batch_size)
            return [groups[i] for i in rng.permutation(len(groups))] if fresh else groups

        super().__init__(plan, partial(spoken_batch, vocabulary=vocabulary))
