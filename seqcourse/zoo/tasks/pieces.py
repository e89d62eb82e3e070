"""Vocabularies of several sizes at equal compute: how well does a model of each foretell the books?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from seqcourse import models
from seqcourse.data import SPECIALS, DrawnTexts, SubwordVocabulary
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, TrainingConfig, language_model_loss
from seqcourse.zoo.tasks.evaluation import bits, mean_loss

SIZES: dict[str, Any] = {"width": 64, "heads": 4, "layers": 2}
LENGTH, BATCH = 64, 16  # tokens of a text, and texts in a step


class Vocabularies:
    """Texts cut into pieces by a vocabulary of one size.

    Args:
        texts: paragraphs by split.
        size: entries; 0 for single characters.
    """

    def __init__(self, texts: dict[str, Sequence[str]], size: int) -> None:
        train = texts["train"]
        alphabet = {letter for text in train for letter in text.lower() if not letter.isspace()} | {"▁"}
        self.vocabulary = SubwordVocabulary.train(train, size or len(alphabet) + len(SPECIALS))
        pieces = {
            split: [self.vocabulary.tokenize(text) for text in some] for split, some in texts.items()
        }
        self.characters = {
            split: sum(len(piece) for text in some for piece in text) for split, some in pieces.items()
        }
        self.ids = {
            split: torch.tensor([i for text in some for i in self.vocabulary.encode(text)])
            for split, some in pieces.items()
        }

    def model(self) -> models.GPT:
        """A small GPT for this vocabulary, freshly initialised."""
        made = models.GPT(len(self.vocabulary), longest=LENGTH, soft_start=True, **SIZES)
        return made.to(device())

    def steps(self, budget: float) -> int:
        """How many steps of training the budget of multiplications pays for.

        A token costs 6 multiplications for each weight that it meets: those of the blocks, and the
        table of embeddings once, as the last layer.
        """
        return round(budget / (6 * models.number_of_parameters(self.model()) * LENGTH * BATCH))

    def train(self, rate: float, seed: int, steps: int) -> models.GPT:
        """A trained model.

        Args:
            rate: the highest learning rate.
            seed: of the start and the texts.
        """
        seed_everything(seed)
        model = self.model()
        config = TrainingConfig(epochs=1, learning_rate=rate, warmup_steps=50, decay="linear")
        texts = DrawnTexts(self.ids["train"], LENGTH, BATCH, steps, seed)
        Trainer(model, language_model_loss, config).fit(texts)
        model.eval()
        return model

    def bits(self, model: models.GPT, split: str) -> float:
        """Bits per character of a split: those of all its tokens, over its characters."""
        with torch.inference_mode():
            nats = mean_loss(model, self.ids[split]) * (len(self.ids[split]) - 1)
        return bits(nats) / self.characters[split]


def measure(
    texts: dict[str, Sequence[str]],
    entries: Sequence[int],
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    budget: float,
) -> list[dict[str, Any]]:
    """Bits per character of vocabularies of every size, each at its best learning rate.

    Args:
        texts: paragraphs of "train", "valid" and "test".
        entries: sizes of the vocabularies; 0 for characters.
        rates: learning rates, tried for all.
        choose: seeds with which the best of them is chosen, on "valid".
        seeds: seeds with which it is judged, on "test".
        budget: multiplications of a training.

    Returns:
        For each size: ``entries``, ``parameters``, ``steps``, ``characters`` per token, ``tried``,
        ``rate`` and ``bits``, one for each of ``seeds``.
    """
    found = []
    for size in entries:
        cut = Vocabularies(texts, size)
        steps = cut.steps(budget)
        tried = {
            rate: sum(cut.bits(cut.train(rate, seed, steps), "valid") for seed in choose) / len(choose)
            for rate in rates
        }
        best = min(tried, key=tried.__getitem__)
        found.append(
            {
                "entries": len(cut.vocabulary),
                "parameters": models.number_of_parameters(cut.model()),
                "steps": steps,
                "characters": round(cut.characters["test"] / len(cut.ids["test"]), 3),
                "tried": {f"{rate:g}": round(value, 4) for rate, value in tried.items()},
                "rate": best,
                "bits": [round(cut.bits(cut.train(best, seed, steps), "test"), 4) for seed in seeds],
            }
        )
        print(found[-1], flush=True)
    return found
