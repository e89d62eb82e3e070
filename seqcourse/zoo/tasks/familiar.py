"""Captions of real photographs, from the features of a frozen network; trained on composed scenes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from seqcourse import data
from seqcourse.data import CaptionBatches, Vocabulary
from seqcourse.data.familiar import load_familiar, load_familiar_features, photographed
from seqcourse.data.scenes import Scene, compose
from seqcourse.errors import CourseError
from seqcourse.zoo.published.efficientnet import load_efficientnet
from seqcourse.zoo.published.grids import THROUGH, grids, kept_grids
from seqcourse.zoo.system import System
from seqcourse.zoo.tasks.captions import CaptionTask, pointing, said

FIRST = {"train": 0, "valid": 100_000, "test": 200_000}  # number of the first scene
COUNT = {"valid": 400, "test": 400}


class FamiliarTask(CaptionTask):
    """Scenes of cut-outs on photographs of ground; validation and test have grounds of their own.

    Training and the captions of new pictures need the weights of EfficientNet-lite0.
    """

    def pairs(self, split: str) -> tuple[numpy.ndarray, list[str]]:
        """Features (N, 7, 7, 1280) of type uint8 and captions of a split."""
        found = self.scenes(split)
        pictures = numpy.stack([scene.image for scene in found])
        return kept_grids(pictures), [scene.caption for scene in found]

    def scenes(self, split: str) -> list[Scene]:
        """The scenes of a split."""
        count = COUNT.get(split, self.recipe.options["scenes"])
        return _scenes(split, count)

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> CaptionBatches:
        """Batches of a split; shuffled for training."""
        features, captions = self.pairs(split)
        return CaptionBatches(
            self.inputs(features),
            [[target.encode(data.tokenize(text), eos=False)] for text in captions],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """Take the fixed directions from the published network's classifier."""
        model.encoder.look_along(load_efficientnet().model.classifier.weight.cpu())

    def inputs(self, pictures: Sequence[numpy.ndarray]) -> Tensor:
        """What the model reads: features, (B, 1280, 7, 7). They are computed from pictures (H, W, 3), or
        given, (7, 7, 1280) of type uint8.

        Raises:
            CourseError: some have another form, or are of both forms.
        """
        shapes = {numpy.asarray(picture).shape for picture in pictures}
        if shapes == {(7, 7, 1280)}:
            features = numpy.stack(pictures)
        elif shapes and all(len(shape) == 3 and shape[-1] == 3 for shape in shapes):
            features = grids(pictures)
        else:
            raise CourseError(
                "Expected pictures (height, width, 3), or features (7, 7, 1280), of type uint8, but "
                f"their shapes are {sorted(shapes)}."
            )
        return torch.from_numpy(features).permute(0, 3, 1, 2)

    def measure(self, system: System) -> dict[str, Any]:
        """On composed scenes with other grounds: exact matches and the pointing game. On the photographs
        of familiar things: how many captions are true."""
        scenes = self.scenes("test")
        features, _ = self.pairs("test")
        found = self.caption(system, list(features))
        photographs = load_familiar()
        captions = [each.text for each in self.caption(system, list(load_familiar_features()))]
        true = [text in one.captions for text, one in zip(captions, photographs, strict=True)]
        return {
            **said([each.text for each in found], [scene.references for scene in scenes]),
            "pointing": pointing(found, scenes),
            "scenes": len(scenes),
            "photographs": {
                "true": sum(true),
                "of": len(true),
                "captions": {one.name: text for one, text in zip(photographs, captions, strict=True)},
            },
        }


@cache
def _scenes(split: str, count: int) -> list[Scene]:
    style = photographed("train" if split == "train" else "valid")
    return [compose(FIRST[split] + number, "train", THROUGH, style) for number in range(count)]
