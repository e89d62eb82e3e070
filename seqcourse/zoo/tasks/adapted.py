"""A pre-trained model adapted to other texts: all of it, its table, or low-rank changes (chapter 12)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from seqcourse import data, models, nn
from seqcourse.data import DrawnTexts, SubwordVocabulary
from seqcourse.settings import seed_everything
from seqcourse.train import Trainer, TrainingConfig, language_model_loss
from seqcourse.zoo.system import System
from seqcourse.zoo.tasks.evaluation import bits, mean_loss

SENTENCES = 4000  # everyday sentences to learn from
LENGTH, BATCH = 64, 16  # tokens of a text, and texts in a step


def sentences(vocabulary: SubwordVocabulary, split: str, most: int | None = None) -> Tensor:
    """English sentences of everyday life one after another, as ids (N,): all of a split or so many
    drawn.
    """
    found = sorted({pair.source.lower() for pair in data.load_pairs("en-es", split)})
    drawn = random.Random(f"sentences of {split}").sample(found, min(most or len(found), len(found)))
    return torch.tensor([i for sentence in drawn for i in vocabulary.encode(sentence)])


def everything(model: models.GPT) -> None:
    """All parameters learn."""


def table(model: models.GPT) -> None:
    """Only the table of embeddings learns, which is the last layer too."""
    model.requires_grad_(False)
    model.embedding.requires_grad_(True)


def low_rank(rank: int) -> Callable[[models.GPT], None]:
    """Only low-rank changes of the blocks' matrices learn."""

    def prepare(model: models.GPT) -> None:
        nn.adapt(model, rank)

    return prepare


class Adaptation:
    """A pre-trained model, new texts to learn, and the old ones, of which some may be forgotten.

    Args:
        model: pre-trained; each training begins with a copy.
        train: ids of the texts to learn from, (N,).
        held_out: ids of other texts to judge by, (M,) by name.
    """

    def __init__(self, model: models.GPT, train: Tensor, held_out: dict[str, Tensor]) -> None:
        self.model, self.train, self.held_out = model, train, held_out

    def adapted(
        self, prepare: Callable[[models.GPT], None], rate: float, seed: int, steps: int
    ) -> tuple[models.GPT, int]:
        """A model adapted to the new texts, and how many numbers were learned for it."""
        seed_everything(seed)
        model = deepcopy(self.model)
        prepare(model)
        learned = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
        config = TrainingConfig(epochs=1, learning_rate=rate, warmup_steps=steps // 10, decay="linear")
        texts = DrawnTexts(self.train, LENGTH, BATCH, steps, seed)
        Trainer(model, language_model_loss, config).fit(texts)
        return nn.merge(model.eval()), learned

    def bits(self, model: models.GPT, name: str) -> float:
        """Bits per token of held-out texts."""
        with torch.inference_mode():
            return round(bits(mean_loss(model, self.held_out[name])), 4)


def measure(
    system: System,
    ranks: Sequence[int],
    rates: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
    steps: int,
) -> list[dict[str, Any]]:
    """Bits per token of everyday sentences and of the books, before and after adapting the model.

    Args:
        system: of the pre-trained model.
        ranks: of the low-rank changes.
        rates: learning rates, tried in every way.
        choose: seeds with which the best of them is chosen, on "valid".
        seeds: seeds with which it is judged, on "test".

    Returns:
        For the model as it was, and each way: ``learned``, how many numbers; ``tried``, bits of new
        texts by rate; ``rate``; ``new`` and ``old``, bits of both texts, one for each of ``seeds``.
    """
    vocabulary = system.target
    held_out = {split: sentences(vocabulary, split) for split in ("valid", "test")}
    books = "\n".join(data.load_books("test").values()).lower()
    held_out["old"] = torch.tensor(
        [i for part in data.paragraphs(books) for i in vocabulary.encode(part)]
    )
    lesson = Adaptation(system.model, sentences(vocabulary, "train", SENTENCES), held_out)
    ways = {"everything": everything, "table": table}
    ways |= {f"rank {rank}": low_rank(rank) for rank in ranks}
    before = {"new": [lesson.bits(system.model, "test")], "old": [lesson.bits(system.model, "old")]}
    rows = [{"way": "before", "learned": 0, **before}]
    for way, prepare in ways.items():
        tried = {
            rate: sum(
                lesson.bits(lesson.adapted(prepare, rate, seed, steps)[0], "valid") for seed in choose
            )
            / len(choose)
            for rate in rates
        }
        best = min(tried, key=tried.__getitem__)
        runs = [lesson.adapted(prepare, best, seed, steps) for seed in seeds]
        rows.append(
            {
                "way": way,
                "learned": runs[0][1],
                "tried": {f"{rate:g}": round(value, 4) for rate, value in tried.items()},
                "rate": best,
                "new": [lesson.bits(model, "test") for model, _ in runs],
                "old": [lesson.bits(model, "old") for model, _ in runs],
            }
        )
        print(rows[-1], flush=True)
    return rows
