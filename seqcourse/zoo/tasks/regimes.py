"""What should a decoder hear while it trains? Four regimes, one budget, several seeds (chapter 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import Batches, Pronunciation, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import (
    Trainer,
    TrainingConfig,
    inverse_sigmoid_decay,
    scheduled_sampling_loss,
)

#: Regime -> (the share of the model's own words at a step, how it chooses them).
REGIMES: dict[str, tuple[Callable[[int], float], str]] = {
    "teacher": (lambda step: 0.0, "sample"),
    "scheduled": (lambda step: 1 - inverse_sigmoid_decay(step, 75), "sample"),
    "own samples": (lambda step: 1.0, "sample"),
    "relaxed draws": (lambda step: 1.0, "gumbel"),
}
TRAINED_ON, TESTED_ON = 6000, 1000  # words


def short_words(split: str, most: int) -> list[Pronunciation]:
    """Words of 3 to 6 letters with their pronunciations, evenly over the alphabet."""
    found = [e for e in data.load_pronunciations(split) if 3 <= len(e.word) <= 6]
    return found[:: max(1, len(found) // most)][:most]


class Lesson:
    """The task of every regime: the same short words of CMUdict, letters to phonemes."""

    def __init__(self) -> None:
        learn, self.held_out = short_words("train", TRAINED_ON), short_words("test", TESTED_ON)
        words, phones = [list(e.word) for e in learn], [list(e.phones[0]) for e in learn]
        self.letters, self.phones = Vocabulary.build(words), Vocabulary.build(phones)
        self.sources = [self.letters.encode(word, eos=False) for word in words]
        self.targets = [self.phones.encode(said, eos=False) for said in phones]

    def model(self) -> nn.Module:
        """A small attention model, freshly initialised."""
        return models.AttentionSeq2Seq(len(self.letters), len(self.phones), 32, 64).to(device())

    def phoneme_error(self, model: nn.Module) -> float:
        """Phonemes wrong (%) when the model says the held-out words alone, greedily."""
        ids, lengths = data.pad([self.letters.encode(list(e.word)) for e in self.held_out])
        with torch.inference_mode():
            memory = model.encode(ids.to(device()), lengths.to(device()))
        said = [self.phones.decode(h.tokens) for h in decode.greedy(model, memory, max_len=12)]
        found = metrics.pronunciation_error(said, [e.phones for e in self.held_out])
        return 100 * found.phoneme_error

    def train(self, regime: str, seed: int, steps: int, every: int) -> list[float]:
        """Train a new model in a regime: its phoneme error (%) after each ``every`` steps.

        Args:
            regime: a key of :data:`REGIMES`.
            seed: of the start, the order of the batches and the draws.
        """
        own_share, choose = REGIMES[regime]
        seed_everything(seed)
        model, errors, count = self.model(), [], iter(range(steps))

        def loss(model: nn.Module, batch) -> torch.Tensor:
            step = next(count)
            if step % every == 0 and step > 0:
                model.eval()
                errors.append(self.phoneme_error(model))
                model.train()
            return scheduled_sampling_loss(model, batch, own_share(step), choose)

        config = TrainingConfig(epochs=steps, max_steps=steps, learning_rate=5e-3)
        Trainer(model, loss, config).fit(Batches(self.sources, self.targets, 64, seed=seed))
        model.eval()
        return [*errors, self.phoneme_error(model)]


def measure(seeds: Sequence[int], steps: int, every: int) -> dict[str, list[list[float]]]:
    """Phoneme errors (%) of every regime: a list per seed, a number per ``every`` steps."""
    lesson = Lesson()
    return {
        regime: [[round(e, 2) for e in lesson.train(regime, seed, steps, every)] for seed in seeds]
        for regime in REGIMES
    }
