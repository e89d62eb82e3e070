"""Who wrote this passage? Few labels, with and without pre-training, and by counting words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import nn

from seqcourse import data, models
from seqcourse.settings import seed_everything
from seqcourse.train import Trainer, TrainingConfig, fine_tuning_loss
from seqcourse.zoo.system import System

LABELS = 24  # labelled passages of each author
HELD_OUT = 24  # passages of each author in a held-out part
AUXILIARY = 0.5  # lambda of Radford et al. (2018)
LONGEST = 96
TRAINING = TrainingConfig(epochs=12, learning_rate=1e-3, warmup_steps=12, decay="linear")
KINDS = {
    "full": {"pretrained": True, "auxiliary": AUXILIARY},
    "no auxiliary loss": {"pretrained": True, "auxiliary": 0.0},
    "no pre-training": {"pretrained": False, "auxiliary": AUXILIARY},
    "neither": {"pretrained": False, "auxiliary": 0.0},
}


def measure(
    system: System,
    rates: Sequence[float],
    alphas: Sequence[float],
    choose: Sequence[int],
    seeds: Sequence[int],
) -> dict[str, Any]:
    """Accuracy on the passages of "test" of each kind of fine-tuning and of counting words.

    Args:
        rates: learning rates, tried for every kind of fine-tuning.
        alphas: what counting adds to each count, tried like the rates.
        choose: draws of labels on which the best of them is chosen, by the passages of "valid".
        seeds: draws of labels on which it is judged.

    Returns:
        Besides sizes: ``tried``, the means on "valid"; ``chosen``, the best rate or alpha;
        ``accuracy``, a figure for each of ``seeds``; each by kind.
    """
    found: dict[str, Any] = {"tried": {}, "chosen": {}, "accuracy": {}}

    @cache
    def run(kind: str, setting: float, seed: int) -> tuple[float, float]:
        """Accuracy on "valid" and on "test"."""
        if kind == "counts":
            guess = counting(data.load_passages("train", each=LABELS, seed=seed), setting)
            return tuple(right(guess, held_out(split)) for split in ("valid", "test"))
        training = replace(TRAINING, learning_rate=setting)
        model = fine_tune(system, seed=seed, training=training, **KINDS[kind])
        return tuple(accuracy(model, system, held_out(split)) for split in ("valid", "test"))

    for kind, settings in {**dict.fromkeys(KINDS, rates), "counts": alphas}.items():
        tried = {
            each: sum(run(kind, each, seed)[0] for seed in choose) / len(choose) for each in settings
        }
        best = max(tried, key=tried.__getitem__)
        found["tried"][kind] = {f"{each:g}": round(mean, 3) for each, mean in tried.items()}
        found["chosen"][kind] = best
        found["accuracy"][kind] = [run(kind, best, seed)[1] for seed in seeds]
    sizes = {"labels_of_each_author": LABELS, "held_out": len(held_out("test"))}
    return {**sizes, "chance": 1 / len(data.CHILDREN), **found}


def counting(passages: Sequence[data.Passage], alpha: float = 1.0) -> Callable[[str], int]:
    r"""Naive Bayes: the author whose words are the likeliest, each word for itself.

    .. math:: \arg\max_y \sum_{w \in x} \ln \frac{n_{y,w} + \alpha}{\sum_v (n_{y,v} + \alpha)}

    Words that no labelled passage has are left out.
    """
    counts = [Counter() for _ in data.CHILDREN]
    for passage in passages:
        counts[passage.author].update(data.tokenize(passage.text.lower()))
    words = set().union(*counts)
    totals = [count.total() + alpha * len(words) for count in counts]

    def guess(text: str) -> int:
        known = [word for word in data.tokenize(text.lower()) if word in words]
        scores = [
            sum(math.log((count[word] + alpha) / total) for word in known)
            for count, total in zip(counts, totals, strict=True)
        ]
        return scores.index(max(scores))

    return guess


def right(guess: Callable[[str], int], passages: Sequence[data.Passage]) -> float:
    """The share of passages whose author is guessed."""
    return sum(guess(each.text) == each.author for each in passages) / len(passages)


def fine_tune(
    system: System,
    *,
    pretrained: bool = True,
    auxiliary: float = AUXILIARY,
    seed: int = 0,
    training: TrainingConfig = TRAINING,
) -> models.Classifier:
    """A classifier of passages on a copy of a language model's body.

    Args:
        system: the pre-trained language model.
        pretrained: begin with its weights; else with new ones.
        auxiliary: lambda of the language model's loss.
        seed: which passages are labelled, the order, the new weights and dropout.
        training: how long and how fast.
    """
    seed_everything(seed)
    body = getattr(models, system.recipe.model)(len(system.target), **system.recipe.sizes)
    if pretrained:
        body.load_state_dict(system.model.state_dict())
    model = models.Classifier(body, len(data.CHILDREN), dropout=0.1).to(system.device)
    passages = data.load_passages("train", each=LABELS, seed=seed)
    batches = labelled(system, passages, shuffle=True, seed=seed)

    def loss(model: nn.Module, batch: data.LabelledBatch) -> torch.Tensor:
        return fine_tuning_loss(model, batch, auxiliary)

    Trainer(model, loss, training).fit(batches)
    return model


def accuracy(
    model: models.Classifier, system: System, passages: Sequence[data.Passage] | None = None
) -> float:
    """Share of passages with the right author; those of "test" if none are given."""
    right = total = 0
    with torch.inference_mode():
        for batch in labelled(system, passages or held_out("test"), shuffle=False):
            batch = batch.to(system.device)
            found = model(batch.tokens, batch.lengths).classes.argmax(-1)
            right += int((found == batch.labels).sum())
            total += len(found)
    return right / total


def held_out(split: str) -> list[data.Passage]:
    """Passages from the ends of the books, as many of each author."""
    return data.load_passages(split, each=HELD_OUT)


def labelled(
    system: System, passages: Sequence[data.Passage], shuffle: bool, seed: int = 0
) -> data.LabelledBatches:
    """Passages as batches; each ends with <eos>, where the classifier reads its state."""
    texts = [system.target.encode(p.text.lower(), eos=False)[: LONGEST - 1] for p in passages]
    ids = [[*text, data.EOS] for text in texts]
    authors = [passage.author for passage in passages]
    return data.LabelledBatches(ids, authors, batch_size=16, shuffle=shuffle, seed=seed)
