"""Translators with several kinds of positions, on sentences longer than they learned (chapter 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import Batches, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, teacher_forcing_loss
from seqcourse.zoo.tasks import race

SHORT = 5  # English words of a sentence to learn
KINDS = ("sinusoidal", "rotary", "none")
SIZES: dict[str, Any] = {"width": 64, "heads": 4, "layers": 2, "hidden": 192, "dropout": 0.1}
BATCH = 64
LONGEST = 40  # words of a translation


class Class:
    """The task of all: English-Spanish pairs of at most ``SHORT`` English words.

    They are judged on the other sentences of "test": "short", as long as what they learned, and "long",
    of twice as many words.
    """

    exams: tuple[str, ...] = ("short", "long")

    def __init__(self) -> None:
        self.pairs = {split: race.short_pairs(split, SHORT) for split in ("train", "valid")}
        every = race.short_pairs("test", 2 * SHORT)
        self.pairs["short"] = [pair for pair in every if data.count_words(pair[0]) <= SHORT]
        self.pairs["long"] = [pair for pair in every if data.count_words(pair[0]) > SHORT]
        self.english, self.spanish = (
            Vocabulary.build([pair[k] for pair in self.pairs["train"]], min_count=5) for k in (0, 1)
        )

    def model(self, kind: str) -> nn.Module:
        """A translator with such positions, freshly initialised."""
        sizes = len(self.english), len(self.spanish)
        return models.Transformer(*sizes, positions=kind, **SIZES).to(device())

    def batches(self, split: str, seed: int | None = None) -> Batches:
        """Batches of a split; shuffled if a seed is given."""
        sources = [self.english.encode(s, eos=False) for s, _ in self.pairs[split]]
        targets = [self.spanish.encode(t, eos=False) for _, t in self.pairs[split]]
        return Batches(sources, targets, BATCH, shuffle=seed is not None, seed=seed or 0)

    def train(self, kind: str, rate: float, seed: int, steps: int) -> nn.Module:
        """A trained translator.

        Args:
            rate: the highest learning rate.
            seed: of the start, the order of the batches and dropout.
        """
        seed_everything(seed)
        model = self.model(kind)
        config = TrainingConfig(
            epochs=steps, max_steps=steps, learning_rate=rate, warmup_steps=50, decay="linear"
        )
        Trainer(model, race.SMOOTHED, config).fit(self.batches("train", seed))
        model.eval()
        return model

    @torch.inference_mode()
    def loss(self, model: nn.Module, split: str) -> float:
        """Nats per token of a split, without smoothing."""
        batches = [batch.to(device()) for batch in self.batches(split)]
        total = sum(teacher_forcing_loss(model, batch).item() * batch.tokens for batch in batches)
        return total / sum(batch.tokens for batch in batches)

    @torch.inference_mode()
    def translate(self, model: nn.Module, split: str) -> list[str]:
        """Greedy translations of a split."""
        texts = []
        for begin in range(0, len(self.pairs[split]), BATCH):
            rows = [self.english.encode(s) for s, _ in self.pairs[split][begin : begin + BATCH]]
            ids, lengths = data.pad(rows)
            memory = model.encode(ids.to(device()), lengths.to(device()))
            found = decode.greedy(model, memory, max_len=LONGEST)
            texts += [data.detokenize(self.spanish.decode(h.tokens), language="es") for h in found]
        return texts

    def exam(self, model: nn.Module) -> dict[str, dict[str, float]]:
        """For each of ``exams``: nats per token, BLEU, and words written per word of the reference."""
        found = {}
        for split in self.exams:
            references = [data.detokenize(t, language="es") for _, t in self.pairs[split]]
            score = metrics.bleu(self.translate(model, split), references)
            found[split] = {
                "loss": round(self.loss(model, split), 4),
                "bleu": round(score.score, 2),
                "length": round(score.output_length / score.reference_length, 4),
            }
        return found


def measure(
    rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int], steps: int
) -> list[dict[str, Any]]:
    """Each kind of positions, see :func:`tuned_alike`."""
    return tuned_alike(Class(), KINDS, rates, choose, seeds, steps)


def tuned_alike(
    lessons: Class,
    kinds: Iterable[str],
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    steps: int,
) -> list[dict[str, Any]]:
    """Each kind of translator at the learning rate that suits it best.

    Args:
        rates: learning rates, tried for all.
        choose: seeds with which the best of them is chosen, by the loss on "valid".
        seeds: seeds with which it is judged.

    Returns:
        For each kind: ``tried``, the mean loss of every rate; ``rate``, the best; ``exams``, one of
        :meth:`Class.exam` for each of ``seeds``.
    """
    found = []
    for kind in kinds:
        tried = {
            rate: sum(lessons.loss(lessons.train(kind, rate, seed, steps), "valid") for seed in choose)
            / len(choose)
            for rate in rates
        }
        best = min(tried, key=tried.__getitem__)
        found.append(
            {
                "kind": kind,
                "parameters": models.number_of_parameters(lessons.model(kind)),
                "tried": {f"{rate:g}": round(loss, 4) for rate, loss in tried.items()},
                "rate": best,
                "exams": [lessons.exam(lessons.train(kind, best, seed, steps)) for seed in seeds],
            }
        )
        print(found[-1], flush=True)
    return found
