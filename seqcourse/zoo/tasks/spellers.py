"""LSTMs, a Transformer and CTC spell what they hear (chapter 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from seqcourse import data, decode, metrics, models
from seqcourse.data import DigitString, SpokenBatches, Vocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, ctc_loss, teacher_forcing_loss
from seqcourse.zoo.system import NO_OUTPUT
from seqcourse.zoo.tasks.evaluation import mean_over

LISTEN = 64  # width of the listener's LSTMs
DIGITS = range(1, 9)  # in a test string; at most 5 in training
TESTED = 100  # strings of each length
SHOWN = 4  # digits of the string for which all of CTC's probabilities are kept


def spellers(letters: int) -> dict[str, nn.Module]:
    """All, about 0.59 million parameters each, freshly initialised.

    CTC needs a state for each letter, so its pyramid has one layer less. The finer LSTM has that
    pyramid too.
    """
    made = {
        "LSTM": models.Speller(letters, listen_size=LISTEN, spell_size=128, dropout=0.1),
        "Transformer": models.TransformerSpeller(
            letters, 96, 4, 2, hidden=160, listen_size=LISTEN, dropout=0.1
        ),
        "LSTM, finer": models.Speller(letters, listen_size=83, spell_size=128, layers=1, dropout=0.1),
        "CTC": models.CTCSpeller(letters, listen_size=109, layers=1, dropout=0.1),
    }
    return {name: model.to(device()) for name, model in made.items()}


def loss_of(model: nn.Module) -> Callable:
    """What a speller learns from: its next letter, or all ways to spread a text over time."""
    return ctc_loss if isinstance(model, models.CTCSpeller) else teacher_forcing_loss


class School:
    """The task of all: strings of one to five digits, other ones in every epoch.

    Args:
        letters: the vocabulary.
        frames: of all recordings for training, (N, D), for the scale of what is heard.
        batches: from a split and a seed to batches; strings of "valid" are always the same.
    """

    def __init__(
        self, letters: Vocabulary, frames: torch.Tensor, batches: Callable[[str, int], SpokenBatches]
    ) -> None:
        self.letters, self.frames, self.batches = letters, frames, batches
        self.valid = list(batches("valid", 0))
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
        Trainer(model, loss_of(model), config).fit(self.batches("train", seed))
        model.eval()
        return model

    def loss(self, model: nn.Module) -> float:
        """Mean loss per letter on strings of "valid"."""
        return mean_over(self.valid, loss_of(model), lambda batch: batch.tokens)(model)

    def spell(self, model: nn.Module, strings: Sequence[DigitString]) -> list[str]:
        """What a model writes, greedily."""
        src, lengths = data.pad_frames([string.frames for string in strings])
        with torch.inference_mode():
            if isinstance(model, models.CTCSpeller):
                found = decode.best_path(*model(src.to(device()), lengths.to(device())))
            else:
                memory = model.encode(src.to(device()), lengths.to(device()))
                greedy = decode.greedy(model, memory, max_len=80, forbid=NO_OUTPUT)
                found = [one.tokens for one in greedy]
        return ["".join(self.letters.decode(tokens)) for tokens in found]

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

    def when(self, model: models.CTCSpeller) -> dict[str, list[float]]:
        """When a model of CTC writes what: for the first string of four digits the probability of each
        symbol that is ever likely, state by state; the blank is "".
        """
        src, lengths = data.pad_frames([self.tests[SHOWN][0].frames])
        with torch.inference_mode():
            chances = model(src.to(device()), lengths.to(device()))[0][0].softmax(-1).cpu()
        often = (chances > 0.1) | (chances == chances.amax(-1, keepdim=True))
        seen = often.any(0).nonzero()[:, 0].tolist()
        return {
            "" if symbol == decode.BLANK else self.letters.tokens[symbol]: [
                round(chance, 2) for chance in chances[:, symbol].tolist()
            ]
            for symbol in seen
        }


def measure(
    school: School, rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int], epochs: int
) -> dict[str, Any]:
    """Word errors of all spellers, each with the learning rate that suits it best.

    Args:
        rates: learning rates, tried for all.
        choose: seeds with which the best of them is chosen, by the loss on "valid".
        seeds: seeds with which it is judged on strings of "test".

    Returns:
        ``tried``, the mean loss of every rate (nats per letter); ``chosen``, the best rate;
        ``exams``, one of :meth:`School.exam` for each of ``seeds``; each by name. Also ``when``, of
        CTC's first model.
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
        trained = [school.train(name, best, seed, epochs) for seed in seeds]
        found["exams"][name] = [school.exam(model) for model in trained]
        if name == "CTC":
            found["when"] = school.when(trained[0])
    found["said"] = school.tests[DIGITS[-1]][0].text
    return found
