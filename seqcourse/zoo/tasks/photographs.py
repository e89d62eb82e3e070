"""The captioners of the composed scenes, trained on real photographs: COCO or Flickr8k."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy

from seqcourse import data, metrics
from seqcourse.data import CaptionBatches, CaptionedPhotograph, Vocabulary
from seqcourse.data.photographs import stack
from seqcourse.errors import CourseError
from seqcourse.zoo.recipes import Recipe
from seqcourse.zoo.system import System
from seqcourse.zoo.tasks.captions import TEST, VALID, CaptionTask

MIN_COUNT = 5  # rarer words are left out, as in Xu et al. (2015)


def on_photographs(recipe: Recipe, folder: Path | str) -> Recipe:
    """The recipe of a captioner, with the photographs of a folder instead of the composed scenes.

    Args:
        recipe: of a captioner.
        folder: what :func:`seqcourse.data.load_captioned` reads.

    Raises:
        CourseError: the recipe is not for a captioner.
    """
    if recipe.task != "captions":
        raise CourseError(
            f"Only captioners can be trained on photographs, but {recipe.name} is trained for "
            f"{recipe.task}."
        )
    return replace(recipe, task="photographs", data=str(folder))


class PhotographTask(CaptionTask):
    """Photographs with captions by people; ``recipe.data`` is their folder.

    The vocabulary has the words that occur at least ``min_count`` times (an option, by default 5).
    Every epoch draws one caption of each photograph. Full stops are left out.
    """

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The frequent words of the training captions."""
        captions = (_words(text) for one in self.photographs("train") for text in one.captions)
        vocabulary = Vocabulary.build(captions, self.recipe.options.get("min_count", MIN_COUNT))
        return vocabulary, vocabulary

    def photographs(self, split: str) -> list[CaptionedPhotograph]:
        """The photographs of a split, of validation and test the first few hundred."""
        found = data.load_captioned(self.recipe.data, split)
        return found[: {"valid": VALID, "test": TEST}.get(split)]

    def pairs(self, split: str) -> tuple[numpy.ndarray, list[tuple[str, ...]]]:
        """Pictures (N, S, S, 3) and the captions of each."""
        found = self.photographs(split)
        return _stacked(tuple(one.path for one in found), self.size), [one.captions for one in found]

    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> CaptionBatches:
        """Batches of a split; shuffled for training, each time with another of the captions."""
        pictures, captions = self.pairs(split)
        return CaptionBatches(
            pictures,
            [[target.encode(_words(text), eos=False) for text in known] for known in captions],
            batch_size=self.recipe.batch_size,
            shuffle=split == "train",
            seed=self.recipe.seed,
        )

    def measure(self, system: System) -> dict[str, Any]:
        """BLEU and CIDEr-D on the test photographs, against all captions of each."""
        pictures, captions = self.pairs("test")
        texts = [each.text for each in self.caption(system, list(pictures))]
        known = [[" ".join(_words(text)) for text in each] for each in captions]
        return {
            "bleu": metrics.bleu(texts, known).score,
            "cider": metrics.cider(texts, known).score,
            "photographs": len(texts),
        }


def _words(text: str) -> list[str]:
    return [token for token in data.tokenize(text) if token != "."]


@cache
def _stacked(paths: tuple[Path, ...], size: int) -> numpy.ndarray:
    return stack(paths, size)
