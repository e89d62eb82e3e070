"""What a recipe holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seqcourse.train import TrainingConfig


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a checkpoint.

    Attributes:
        name: the argument of ``zoo.load``.
        about: one sentence for people.
        task: "translation", "pronunciation", "characters" ..., see :mod:`seqcourse.zoo.tasks`.
        data: what the task should load.
        model: name of a class of :mod:`seqcourse.models`.
        sizes: its arguments besides the vocabularies' sizes.
        training: how long and how fast.
        batch_size: sentences, or pieces of text, per step.
        label_smoothing: epsilon of the loss.
        seed: of the start, the order of the batches and dropout.
        options: settings of this task only: ``length`` of a piece of text for language models, size of
            a subword ``vocabulary``, ``beams`` to measure a translator with.
    """

    name: str
    about: str
    task: str
    data: str
    model: str
    sizes: dict[str, Any]
    training: TrainingConfig
    batch_size: int
    label_smoothing: float = 0.0
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
