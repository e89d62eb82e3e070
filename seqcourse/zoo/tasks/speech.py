"""Digit strings, spoken: frames in, letters out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy
import torch
from torch import nn

from seqcourse import data, decode, metrics
from seqcourse.data import DigitString, SpokenBatches, Vocabulary
from seqcourse.errors import CourseError
from seqcourse.train import teacher_forcing_loss
from seqcourse.zoo.system import NO_OUTPUT, System, Task
from seqcourse.zoo.tasks import spellers
from seqcourse.zoo.tasks.evaluation import mean_over

TEST_STRINGS = 1000
LONGER = (6, 7, 8)  # digits: more than the recipe trains on
SPEEDS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)


@dataclass
class Spelling:
    """The model's output for an utterance.

    Attributes:
        text: the best output.
        score: its log-probability per letter (length-normalised).
        weights: attention, (letters, states): a row for every letter and space of the text, a column
            for every state of the listener.
        n_best: the best outputs with their scores, best first.
    """

    text: str
    score: float
    weights: numpy.ndarray
    n_best: list[tuple[str, float]]


class SpeechTask(Task):
    """Strings of digits joined from recordings, spelt in letters.

    The recipe's options: ``count`` strings in an epoch, ``speed`` and ``noise`` of their variation,
    ``grow`` epochs per additional digit, ``watch``: the epochs after which attention is stored.
    """

    use = "spell(utterances)"
    only_measured = studies = ("spellers",)
    why_not_translate = "reads no text but frames of sound: use spell"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The letters of the ten words, and the space between two words."""
        letters = Vocabulary(sorted({" ", *"".join(data.DIGITS)}))
        return letters, letters

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """Set the model's shift and scale of frames from the recordings of the training split."""
        model.set_scale(self._frames())

    def _frames(self) -> torch.Tensor:
        """All frames of the recordings for training, (N, D)."""
        return torch.from_numpy(
            numpy.concatenate([recording.frames for recording in data.load_digits("train")])
        )

    def study(self, system: System, name: str) -> dict[str, Any]:
        letters = self.vocabularies()[1]
        school = spellers.School(letters, self._frames(), partial(self._strings, letters))
        return spellers.measure(school, **self.recipe.options[name])

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> SpokenBatches:
        """Batches of a split; for training, other strings in every epoch."""
        return self._strings(target, split, self.recipe.seed)

    def _strings(self, target: Vocabulary, split: str, seed: int) -> SpokenBatches:
        options = self.recipe.options
        if split != "train":
            return SpokenBatches(target, split, 300, self.recipe.batch_size, variation=None)
        varied = {"variation": (options["speed"], options["noise"]), "grow": options["grow"]}
        return SpokenBatches(target, split, options["count"], self.recipe.batch_size, seed, **varied)

    def loss(self) -> Callable:
        """Teacher forcing with the recipe's label smoothing."""
        return partial(teacher_forcing_loss, label_smoothing=self.recipe.label_smoothing)

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss per letter on strings of the validation split."""
        return mean_over(
            list(self.batches(source, target, "valid")), teacher_forcing_loss, lambda batch: batch.tokens
        )

    def watched(self) -> DigitString:
        """The string whose attention is stored during training: four digits, held out."""
        return data.digit_strings("valid", 1, least=4, most=4, seed=4)[0]

    def watch(self, model: nn.Module, epoch: int) -> dict[str, Any] | None:
        """After the chosen epochs: the attention for one string under teacher forcing."""
        if epoch not in self.recipe.options["watch"]:
            return None
        batch = data.spoken_batch([self.watched()], self.vocabularies()[1])
        batch = batch.to(next(model.parameters()).device)
        model.eval()
        with torch.inference_mode():
            weights = model(batch.src, batch.src_lengths, batch.tgt_in).weights[0]
        rows = [[round(w, 3) for w in row] for row in weights.tolist()]
        return {"epoch": epoch, "weights": rows}

    def spell(
        self, system: System, utterances: Sequence[numpy.ndarray], beam: int = 5, n_best: int = 1
    ) -> list[Spelling]:
        """See :meth:`seqcourse.zoo.System.spell`."""
        width = system.model.mean.shape[0]
        for frames in utterances:
            shape = numpy.shape(frames)
            if len(shape) != 2 or shape[0] == 0 or shape[1] != width:
                raise CourseError(
                    f"An utterance should be frames of {width} coefficients, (T, {width}) with at "
                    f"least one frame, but it is {shape}."
                )
        order = sorted(range(len(utterances)), key=lambda i: len(utterances[i]))
        found: list[Spelling | None] = [None] * len(utterances)
        for at in range(0, len(order), 64):
            rows = order[at : at + 64]
            src, lengths = data.pad_frames([utterances[i] for i in rows])
            with torch.inference_mode():
                memory = system.model.encode(src.to(system.device), lengths.to(system.device))
            longest = int(lengths.max()) + 10  # nobody speaks more than a letter every 25 ms
            best = decode.beam_search(
                system.model, memory, beam, n_best, max_len=longest, forbid=NO_OUTPUT
            )
            states = memory.mask.sum(1).tolist()
            for i, size, hypotheses in zip(rows, states, best, strict=True):
                texts = ["".join(system.target.decode(h.tokens)) for h in hypotheses]
                scored = [(t, h.score) for t, h in zip(texts, hypotheses, strict=True)]
                weights = hypotheses[0].weights[:, :size].float().cpu().numpy()
                found[i] = Spelling(*scored[0], weights, scored)
        return found

    def measure(self, system: System) -> dict[str, Any]:
        """On strings of unseen recordings: errors in words and letters, beam 5, by length and greedy;
        the accuracy of attention; errors on longer strings and at other speeds than in training."""
        strings = data.digit_strings("test", TEST_STRINGS, seed=15)
        frames, truth = [s.frames for s in strings], [s.text for s in strings]
        began = time.perf_counter()
        found = self.spell(system, frames)
        seconds = time.perf_counter() - began
        texts = [f.text for f in found]
        right = [(f, s) for f, s in zip(found, strings, strict=True) if f.text == s.text]
        score = metrics.segment_score(
            [f.weights for f, _ in right],
            [s.text for _, s in right],
            [s.bounds for _, s in right],
            2**system.model.pyramid.num_layers,
        )
        error = metrics.word_error_rate(texts, truth)
        greedy = [f.text for f in self.spell(system, frames, beam=1)]
        return {
            "word_error": error.rate,
            "edits": str(error),
            "character_error": metrics.character_error_rate(texts, truth).rate,
            "word_error_greedy": metrics.word_error_rate(greedy, truth).rate,
            "strings_right": len(right) / len(strings),
            "by_digits": _by_digits(texts, strings) | self._longer(system),
            "by_speed": self._by_speed(system, strings[:300]),
            "attention": asdict(score),
            "strings": len(strings),
            "spoken_seconds_per_second": sum(s.seconds for s in strings) / seconds,
        }

    def _longer(self, system: System) -> dict[str, float]:
        strings = [s for n in LONGER for s in data.digit_strings("test", 100, n, n, seed=n)]
        return _by_digits([f.text for f in self.spell(system, [s.frames for s in strings])], strings)

    def _by_speed(self, system: System, strings: Sequence[DigitString]) -> dict[str, float]:
        truth = [s.text for s in strings]
        found = {}
        for factor in SPEEDS:
            spelt = self.spell(system, [data.change_speed(s.frames, factor) for s in strings])
            found[str(factor)] = metrics.word_error_rate([f.text for f in spelt], truth).rate
        return found


def _by_digits(texts: Sequence[str], strings: Sequence[DigitString]) -> dict[str, float]:
    """Word error of the strings of each length."""
    pairs = [(len(s.digits), text, s.text) for text, s in zip(texts, strings, strict=True)]
    return {
        str(size): metrics.word_error_rate(
            [text for n, text, _ in pairs if n == size], [true for n, _, true in pairs if n == size]
        ).rate
        for size in sorted({n for n, _, _ in pairs})
    }
