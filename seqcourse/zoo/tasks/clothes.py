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
    only_measured = studies = ("few",)
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
        """Accuracy on the test pictures."""
        test = data.load_fashion("test")
        began = time.perf_counter()
        right = accuracy(system.model, test)
        seconds = time.perf_counter() - began
        return {
            "accuracy": right,
            "pictures": len(test),
            "chance": 1 / len(data.CLOTHES),
            "pictures_per_second": len(test) / seconds,
        }

    def study(self, system: System, name: str) -> dict[str, Any]:
        """New models of this recipe, trained on the first few pictures of each kind, all for the same
        number of steps.

        Returns:
            For each number of pictures the accuracy on the validation pictures that each rate ``tried``
            led to, the best ``rate``, and the ``accuracy`` on the test pictures for each seed.
        """
        options, found = self.recipe.options[name], {}
        valid, test = data.load_fashion("valid"), data.load_fashion("test")
        for each in options["pictures"]:

            def right(rate: float, seed: int, clothes: Clothes, each: int = each) -> float:
                training = replace(self.recipe.training, learning_rate=rate)
                recipe = replace(self.recipe, training=training, seed=seed)
                return accuracy(train_on(recipe, each, options["steps"]), clothes)

            tried = {
                rate: sum(right(rate, seed, valid) for seed in options["choose"])
                / len(options["choose"])
                for rate in options["rates"]
            }
            best = max(tried, key=tried.__getitem__)
            found[str(each)] = {
                "tried": {f"{rate:g}": round(share, 4) for rate, share in tried.items()},
                "rate": best,
                "accuracy": [right(best, seed, test) for seed in options["seeds"]],
            }
            print(self.recipe.name, each, found[str(each)], flush=True)
        return found

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
