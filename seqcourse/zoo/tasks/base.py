"""What every task of the zoo has, and what most of them do in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from torch import nn

from seqcourse import data
from seqcourse.data import Vocabulary
from seqcourse.errors import CourseError
from seqcourse.zoo.recipes import Recipe

if TYPE_CHECKING:
    from seqcourse.zoo.system import System


class Task(ABC):
    """What a recipe trains for: data, loss, what is measured, and how a trained system is used.

    Args:
        recipe: the recipe to serve.

    Attributes:
        vocabulary_sizes: how many sizes of vocabularies the model is made with: 2 for input and output,
            1 where they are the same or only one is text, 0 where neither is.
        translates: reads a text and writes another one, for :meth:`seqcourse.zoo.System.translate`.
        in_sentences: what it reads are sentences, and a longer text has to be cut into them.
        goes_on: a language model, for :meth:`seqcourse.zoo.System.generate`.
        fills_gaps: for :meth:`seqcourse.zoo.System.fill`.
        use: how a trained system is called, such as ``caption(pictures)``.
        instead: what to do with such a system in place of translating, the end of a sentence.
    """

    vocabulary_sizes = 1
    translates = in_sentences = goes_on = fills_gaps = False
    use = "model"
    instead = "has nothing to translate"

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    @abstractmethod
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Vocabularies of input and output; the same one twice where there is one."""

    @abstractmethod
    def batches(self, source: Vocabulary, target: Vocabulary, split: str = "train") -> Any:
        """Batches of a split; shuffled for training."""

    @abstractmethod
    def loss(self) -> Callable:
        """What the trainer minimises, ``loss(model, batch)``."""

    @abstractmethod
    def validate(self, source: Vocabulary, target: Vocabulary) -> Callable[[nn.Module], float]:
        """A function from a model to a number on held-out data, lower is better."""

    @abstractmethod
    def measure(self, system: System) -> dict[str, Any]:
        """The figures that are kept beside a checkpoint."""

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """What a model has to know before it learns the task; nothing, for most.

        Args:
            short: at most so many steps, in a trial.
        """
        return None

    def watch(self, model: nn.Module, epoch: int) -> dict[str, Any] | None:
        """What is kept of a model as it is after an epoch; nothing, for most."""
        return None

    def read(self, text: str, vocabulary: Vocabulary) -> list[str]:
        """A text in the pieces that the model reads: words, unless the task says otherwise."""
        return data.tokenize(text)

    def write(self, tokens: list[str], vocabulary: Vocabulary) -> str:
        """The pieces that the model writes, as a text: English, unless the task says otherwise."""
        return data.detokenize(tokens, language="en")

    def spell(
        self, system: System, utterances: Sequence[numpy.ndarray], beam: int, n_best: int
    ) -> list[Any]:
        """See :meth:`seqcourse.zoo.System.spell`."""
        raise CourseError(f"{self.recipe.name} hears nothing; digits-speller does.")

    def caption(
        self, system: System, pictures: Sequence[numpy.ndarray], beam: int, n_best: int
    ) -> list[Any]:
        """See :meth:`seqcourse.zoo.System.caption`."""
        raise CourseError(f"{self.recipe.name} tells no pictures; captions-soft does.")
