"""A Transformer and a recurrent translator of one size: one recipe, or one time (chapter 11)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import Batches, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, teacher_forcing_loss

BATCH = 64
SMOOTHED = partial(teacher_forcing_loss, label_smoothing=0.1)


class Track:
    """The task of both: English-Spanish pairs of at most ``longest`` English words."""

    def __init__(self, longest: int) -> None:
        self.lessons, self.exam, self.test = (
            short_pairs(split, longest) for split in ("train", "valid", "test")
        )
        self.english, self.spanish = (
            Vocabulary.build([pair[k] for pair in self.lessons], min_count=5) for k in (0, 1)
        )

    def models(self) -> dict[str, nn.Module]:
        """Both models, about 0.52 million parameters each, freshly initialised."""
        sizes = len(self.english), len(self.spanish)
        return {
            "transformer": models.Transformer(*sizes, 64, 4, 2, hidden=192, dropout=0.1).to(device()),
            "recurrent": models.AttentionSeq2Seq(*sizes, 64, 82, dropout=0.1).to(device()),
        }

    def batches(self, pairs: Sequence[tuple[list[str], list[str]]], seed: int | None = None) -> Batches:
        """Batches of pairs; shuffled if a seed is given."""
        sources = [self.english.encode(s, eos=False) for s, _ in pairs]
        targets = [self.spanish.encode(t, eos=False) for _, t in pairs]
        return Batches(sources, targets, BATCH, shuffle=seed is not None, seed=seed or 0)

    def seconds_per_step(self, steps: int = 60, warm: int = 10) -> dict[str, float]:
        """Processor time of a step; the models take turns, so that a busy machine slows both alike.

        Args:
            steps: of each model, on the same batches.
            warm: steps at the beginning that do not count.
        """
        racers = self.models()
        optimizers = {name: torch.optim.Adam(model.parameters()) for name, model in racers.items()}
        taken = dict.fromkeys(racers, 0.0)
        for step, batch in zip(range(steps), self.batches(self.lessons, seed=0), strict=False):
            for name, model in racers.items():
                began = time.process_time()
                optimizers[name].zero_grad()
                SMOOTHED(model, batch.to(device())).backward()
                optimizers[name].step()
                taken[name] += (time.process_time() - began) * (step >= warm)
        return {name: seconds / (steps - warm) for name, seconds in taken.items()}

    def train(self, name: str, seed: int, steps: int, rate: float) -> dict[str, float]:
        """Train a new model: its processor ``seconds``, ``loss`` on the validation split (nats per
        token) and greedy ``bleu`` on the test split.

        Args:
            name: "transformer" or "recurrent".
            seed: of the start, the order of the batches and dropout.
            rate: the highest learning rate.
        """
        seed_everything(seed)
        model = self.models()[name]
        config = TrainingConfig(
            epochs=steps, max_steps=steps, learning_rate=rate, warmup_steps=50, decay="linear"
        )
        began = time.process_time()
        Trainer(model, SMOOTHED, config).fit(self.batches(self.lessons, seed=seed))
        seconds = time.process_time() - began
        model.eval()
        return {"seconds": seconds, "loss": self.loss(model), "bleu": self.bleu(model)}

    @torch.inference_mode()
    def loss(self, model: nn.Module) -> float:
        """Mean loss per token of the validation split, without smoothing."""
        batches = [b.to(device()) for b in self.batches(self.exam)]
        total = sum(teacher_forcing_loss(model, b).item() * b.tokens for b in batches)
        return total / sum(b.tokens for b in batches)

    @torch.inference_mode()
    def bleu(self, model: nn.Module) -> float:
        """BLEU of greedy translations of the test split, against the first reference."""
        ids, lengths = data.pad([self.english.encode(s) for s, _ in self.test])
        found = decode.greedy(model, model.encode(ids.to(device()), lengths.to(device())), max_len=20)
        said = [data.detokenize(self.spanish.decode(h.tokens), language="es") for h in found]
        return metrics.bleu(said, [data.detokenize(t, language="es") for _, t in self.test]).score


def short_pairs(split: str, longest: int) -> list[tuple[list[str], list[str]]]:
    """Tokens of the pairs with at most that many English words."""
    pairs = [(data.tokenize(p.source), data.tokenize(p.target)) for p in data.load_pairs("en-es", split)]
    return [(s, t) for s, t in pairs if data.count_words(s) <= longest]


def measure(
    seeds: Sequence[int], longest: int, steps: int, rate: float, recurrent_rate: float | None = None
) -> dict[str, Any]:
    """Both models by one recipe; and the recurrent one at its own rate, for as long as the Transformer.

    Each run has a number per seed, see :meth:`Track.train`.

    Args:
        longest: English words in a pair.
        steps: of the one recipe.
        rate: the highest learning rate of the one recipe.
        recurrent_rate: that of the recurrent model where only the time is equal; None leaves this out.
    """
    track = Track(longest)
    runs = [("transformer", steps, rate), ("recurrent", steps, rate)]
    if recurrent_rate is not None:
        each = track.seconds_per_step()
        as_long = round(steps * each["transformer"] / each["recurrent"])
        runs.append(("recurrent", as_long, recurrent_rate))
    found = []
    for name, count, top in runs:
        each_seed = [track.train(name, seed, count, top) for seed in seeds]
        of_seeds = {key: [round(one[key], 4) for one in each_seed] for key in each_seed[0]}
        found.append({"model": name, "steps": count, "rate": top, **of_seeds})
    return {
        "pairs": len(track.lessons),
        "tested": len(track.test),
        "parameters": {k: models.number_of_parameters(m) for k, m in track.models().items()},
        "runs": found,
    }
