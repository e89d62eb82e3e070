"""Classification of pictures: ten kinds of clothes, with little data and with more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from seqcourse import data, models
from seqcourse.data import ImageBatches, Vocabulary
from seqcourse.data.fashion import Clothes
from seqcourse.settings import device, seed_everything
from seqcourse.train import Trainer, label_loss
from seqcourse.zoo.recipes import Recipe
from seqcourse.zoo.system import System, Task
from seqcourse.zoo.tasks.evaluation import mean_over


class ClothesTask(Task):
    """Pictures of Fashion-MNIST and their kinds; vocabularies only name the kinds."""

    vocabulary_sizes = 0
    why_not_translate = "sees pictures of clothes and reads no text"

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The names of the kinds, twice."""
        kinds = Vocabulary(data.CLOTHES)
        return kinds, kinds

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> ImageBatches:
        """Batches of a split of the course's cut; shuffled for training."""
        return self._batches(data.load_fashion(split), shuffle=split == "train")

    def loss(self) -> Callable:
        """Cross-entropy of the kinds."""
        return label_loss

    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to its mean loss on the validation split."""
        return mean_over(
            list(self.batches(source, target, "valid")), label_loss, lambda batch: len(batch.labels)
        )

    def measure(self, system: System) -> dict[str, Any]:
        """Accuracy on the test pictures; the same for new models of this recipe that are trained on the
        first few pictures of each kind, all for the same number of steps."""
        test = data.load_fashion("test")
        began = time.perf_counter()
        right = accuracy(system.model, test)
        seconds = time.perf_counter() - began
        options = self.recipe.options
        curve = {
            str(each): accuracy(train_on(self.recipe, each, options["curve_steps"]), test)
            for each in options["curve"]
        }
        return {
            "accuracy": right,
            "pictures": len(test),
            "chance": 1 / len(data.CLOTHES),
            "pictures_per_second": len(test) / seconds,
            "curve": curve,
        }

    def _batches(self, clothes: Clothes, shuffle: bool) -> ImageBatches:
        size, seed = self.recipe.batch_size, self.recipe.seed
        return ImageBatches(clothes.images, clothes.labels, size, shuffle=shuffle, seed=seed)


def train_on(recipe: Recipe, each: int, steps: int, clothes: Clothes | None = None) -> nn.Module:
    """A new model of a recipe, trained on the first pictures of every kind.

    Args:
        recipe: says which model and how fast.
        each: pictures of every kind.
        steps: of training, whatever the number of pictures.
        clothes: pictures to take them from; the training split of the course's cut if not given.
    """
    seed_everything(recipe.seed)
    clothes = data.load_fashion("train") if clothes is None else clothes
    model = getattr(models, recipe.model)(**recipe.sizes).to(device())
    batches = ClothesTask(recipe)._batches(clothes.first(each), shuffle=True)
    epochs = -(-steps // len(batches))
    training = replace(recipe.training, epochs=epochs, max_steps=steps)
    Trainer(model, label_loss, training).fit(batches)
    return model


def accuracy(model: nn.Module, clothes: Clothes) -> float:
    """Share of the pictures that a model classifies correctly."""
    model.eval()
    to, right = next(model.parameters()).device, 0
    with torch.inference_mode():
        for batch in ImageBatches(clothes.images, clothes.labels, 250, shuffle=False):
            right += int((model(batch.images.to(to)).argmax(-1).cpu() == batch.labels).sum())
    return right / len(clothes)
