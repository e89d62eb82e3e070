"""An LSTM and a Transformer spell what one and the same listener hears (chapter 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import DigitString, SpokenBatches, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, teacher_forcing_loss
from seqcourse.zoo.system import NO_OUTPUT, mean_over

LISTEN = 64  # width of the listener's LSTMs
DIGITS = range(1, 9)  # in a test string; at most 5 in training
TESTED = 100  # strings of each length


def spellers(letters: int) -> dict[str, nn.Module]:
    """Both, about 0.59 million parameters each, freshly initialised."""
    made = {
        "LSTM": models.Speller(letters, listen_size=LISTEN, spell_size=128, dropout=0.1),
        "Transformer": models.TransformerSpeller(
            letters, 96, 4, 2, hidden=160, listen_size=LISTEN, dropout=0.1
        ),
    }
    return {name: model.to(device()) for name, model in made.items()}


class School:
    """The task of both: strings of one to five digits, other ones in every epoch.

    Args:
        letters: the vocabulary.
        frames: of all recordings for training, (N, D), for the scale of what is heard.
        batches: from a split and a seed to batches; strings of "valid" are always the same.
    """

    def __init__(
        self, letters: Vocabulary, frames: torch.Tensor, batches: Callable[[str, int], SpokenBatches]
    ) -> None:
        self.letters, self.frames, self.batches = letters, frames, batches
        self.loss = mean_over(
            list(batches("valid", 0)), teacher_forcing_loss, lambda batch: batch.tokens
        )
        self.tests = {n: data.digit_strings("test", TESTED, n, n, seed=n) for n in DIGITS}

    def train(self, name: str, rate: float, seed: int, epochs: int) -> nn.Module:
        """A new speller of this name, trained.

        Args:
            rate: the highest learning rate.
            seed: of the start, the strings and dropout.
        """
        seed_everything(seed)
        model = spellers(len(self.letters))[name]
        model.set_scale(self.frames)
        config = TrainingConfig(epochs=epochs, learning_rate=rate, warmup_steps=50, decay="linear")
        Trainer(model, teacher_forcing_loss, config).fit(self.batches("train", seed))
        model.eval()
        return model

    def spell(self, model: nn.Module, strings: Sequence[DigitString]) -> list[str]:
        """What a model writes, greedily."""
        src, lengths = data.pad_frames([string.frames for string in strings])
        with torch.inference_mode():
            memory = model.encode(src.to(device()), lengths.to(device()))
        found = decode.greedy(model, memory, max_len=80, forbid=NO_OUTPUT)
        return ["".join(self.letters.decode(one.tokens)) for one in found]

    def exam(self, model: nn.Module) -> dict[str, Any]:
        """By the number of digits: word errors, as one share and by kind; and what it writes for the
        first string of eight.
        """
        found: dict[str, Any] = {"error": {}, "kinds": {}}
        for n, strings in self.tests.items():
            texts = self.spell(model, strings)
            error = metrics.word_error_rate(texts, [string.text for string in strings])
            found["error"][str(n)] = round(error.rate, 4)
            found["kinds"][str(n)] = [error.substitutions, error.deletions, error.insertions]
        found["says"] = texts[0]
        return found


def measure(
    school: School, rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int], epochs: int
) -> dict[str, Any]:
    """Word errors of both spellers, each with the learning rate that suits it best.

    Args:
        rates: learning rates, tried for both.
        choose: seeds with which the best of them is chosen, by the loss on "valid".
        seeds: seeds with which it is judged on strings of "test".

    Returns:
        ``tried``, the mean loss of every rate (nats per letter); ``chosen``, the best rate;
        ``exams``, one of :meth:`School.exam` for each of ``seeds``; each by name.
    """
    sizes = {k: models.number_of_parameters(m) for k, m in spellers(len(school.letters)).items()}
    found: dict[str, Any] = {"parameters": sizes, "tried": {}, "chosen": {}, "exams": {}}
    for name in sizes:
        tried = {
            rate: sum(school.loss(school.train(name, rate, seed, epochs)) for seed in choose)
            / len(choose)
            for rate in rates
        }
        best = min(tried, key=tried.__getitem__)
        found["tried"][name] = {f"{rate:g}": round(loss, 4) for rate, loss in tried.items()}
        found["chosen"][name] = best
        found["exams"][name] = [school.exam(school.train(name, best, seed, epochs)) for seed in seeds]
    found["said"] = school.tests[DIGITS[-1]][0].text
    return found
