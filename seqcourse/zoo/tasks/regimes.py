"""What should a decoder hear while it trains? Four regimes, one budget, several seeds (chapter 4)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import Batches, Pronunciation, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, inverse_sigmoid_decay, scheduled_sampling_loss

#: Regime -> (the share of the model's own words at a step, how it chooses them).
REGIMES: dict[str, tuple[Callable[[int], float], str]] = {
    "teacher": (lambda step: 0.0, "sample"),
    "scheduled": (lambda step: 1 - inverse_sigmoid_decay(step, 75), "sample"),
    "own samples": (lambda step: 1.0, "sample"),
    "relaxed draws": (lambda step: 1.0, "gumbel"),
}
TRAINED_ON, TESTED_ON = 6000, 1000  # words


def short_words(split: str, most: int) -> list[Pronunciation]:
    """So many words of 3 to 6 letters with their pronunciations, drawn from the dictionary."""
    found = [e for e in data.load_pronunciations(split) if 3 <= len(e.word) <= 6]
    return random.Random(f"short words of {split}").sample(found, min(most, len(found)))


class Lesson:
    """The task of every regime: the same short words of CMUdict, letters to phonemes."""

    def __init__(self) -> None:
        learn, self.tune, self.test = (
            short_words(split, most)
            for split, most in (("train", TRAINED_ON), ("valid", TESTED_ON), ("test", TESTED_ON))
        )
        words, phones = [list(e.word) for e in learn], [list(e.phones[0]) for e in learn]
        self.letters, self.phones = Vocabulary.build(words), Vocabulary.build(phones)
        self.sources = [self.letters.encode(word, eos=False) for word in words]
        self.targets = [self.phones.encode(said, eos=False) for said in phones]

    def model(self) -> nn.Module:
        """A small attention model, freshly initialised."""
        return models.AttentionSeq2Seq(len(self.letters), len(self.phones), 32, 64).to(device())

    def phoneme_error(self, model: nn.Module, held_out: Sequence[Pronunciation] | None = None) -> float:
        """Phonemes wrong (%) when the model says held-out words alone, greedily; by default those of
        "test".
        """
        held_out = held_out or self.test
        ids, lengths = data.pad([self.letters.encode(list(e.word)) for e in held_out])
        with torch.inference_mode():
            memory = model.encode(ids.to(device()), lengths.to(device()))
        said = [self.phones.decode(h.tokens) for h in decode.greedy(model, memory, max_len=12)]
        found = metrics.pronunciation_error(said, [e.phones for e in held_out])
        return 100 * found.phoneme_error

    def train(
        self, regime: str, rate: float, seed: int, steps: int, every: int | None = None
    ) -> tuple[nn.Module, list[float]]:
        """Train a new model in a regime; also its phoneme error (%) after each ``every`` steps.

        Args:
            regime: a key of :data:`REGIMES`.
            rate: the learning rate.
            seed: of the start, the order of the batches and the draws.
        """
        own_share, choose = REGIMES[regime]
        seed_everything(seed)
        model, errors, count = self.model(), [], iter(range(steps))

        def loss(model: nn.Module, batch) -> torch.Tensor:
            step = next(count)
            if every and step % every == 0 and step > 0:
                model.eval()
                errors.append(self.phoneme_error(model))
                model.train()
            return scheduled_sampling_loss(model, batch, own_share(step), choose)

        config = TrainingConfig(epochs=steps, max_steps=steps, learning_rate=rate)
        Trainer(model, loss, config).fit(Batches(self.sources, self.targets, 64, seed=seed))
        model.eval()
        return model, [*errors, self.phoneme_error(model)] if every else []


def measure(
    rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int], steps: int, every: int
) -> dict[str, Any]:
    """Phoneme errors (%) of every regime, each with the learning rate that suits it best.

    Args:
        rates: learning rates, tried in every regime.
        choose: seeds with which the best of them is chosen, by the words of "valid".
        seeds: seeds with which it is judged, on the words of "test".

    Returns:
        ``tried``, the mean error on "valid" of every rate; ``chosen``, the best rate; ``errors``, a list
        per seed, a number per ``every`` steps; each by regime.
    """
    lesson, found = Lesson(), {"tried": {}, "chosen": {}, "errors": {}}
    for regime in REGIMES:
        tried = {}
        for rate in rates:
            trained = [lesson.train(regime, rate, seed, steps)[0] for seed in choose]
            tried[rate] = sum(lesson.phoneme_error(model, lesson.tune) for model in trained) / len(
                choose
            )
        best = min(tried, key=tried.__getitem__)
        found["tried"][regime] = {f"{rate:g}": round(mean, 2) for rate, mean in tried.items()}
        found["chosen"][regime] = best
        found["errors"][regime] = [
            [round(e, 2) for e in lesson.train(regime, best, seed, steps, every)[1]] for seed in seeds
        ]
    return found
