"""Who wrote this passage? Fine-tuning with few labels, with and without pre-training."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from seqcourse import data, models
from seqcourse.settings import seed_everything
from seqcourse.train import Trainer, TrainingConfig, fine_tuning_loss
from seqcourse.zoo.system import System

LABELS = 24  # labelled passages of each author
HELD_OUT = 24  # of each author, from "valid" and again from "test"
SEEDS = (0, 1, 2)
AUXILIARY = 0.5  # lambda of Radford et al. (2018)
LONGEST = 96
TRAINING = TrainingConfig(epochs=12, learning_rate=1e-3, warmup_steps=12, decay="linear")
KINDS = {
    "full": {"pretrained": True, "auxiliary": AUXILIARY},
    "no auxiliary loss": {"pretrained": True, "auxiliary": 0.0},
    "no pre-training": {"pretrained": False, "auxiliary": AUXILIARY},
    "neither": {"pretrained": False, "auxiliary": 0.0},
}


def ablation(system: System) -> dict[str, Any]:
    """Accuracy on held-out passages of each kind of fine-tuning, one figure per seed."""
    return {
        "labels_of_each_author": LABELS,
        "held_out": len(held_out()),
        "chance": 1 / len(data.CHILDREN),
        "accuracy": {
            kind: [accuracy(fine_tune(system, seed=seed, **how), system) for seed in SEEDS]
            for kind, how in KINDS.items()
        },
    }


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


def accuracy(model: models.Classifier, system: System) -> float:
    """Share of the held-out passages with the right author."""
    right = total = 0
    with torch.inference_mode():
        for batch in labelled(system, held_out(), shuffle=False):
            batch = batch.to(system.device)
            found = model(batch.tokens, batch.lengths).classes.argmax(-1)
            right += int((found == batch.labels).sum())
            total += len(found)
    return right / total


def held_out() -> list[data.Passage]:
    """Passages from the ends of the books, as many of each author."""
    splits = ("valid", "test")
    return [passage for split in splits for passage in data.load_passages(split, each=HELD_OUT)]


def labelled(
    system: System, passages: list[data.Passage], shuffle: bool, seed: int = 0
) -> data.LabelledBatches:
    """Passages as batches; each ends with <eos>, where the classifier reads its state."""
    texts = [system.target.encode(p.text.lower(), eos=False)[: LONGEST - 1] for p in passages]
    ids = [[*text, data.EOS] for text in texts]
    authors = [passage.author for passage in passages]
    return data.LabelledBatches(ids, authors, batch_size=16, shuffle=shuffle, seed=seed)
