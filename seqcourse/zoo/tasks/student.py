"""Pronunciation learned from a dictionary and from what a committee says of words outside it."""

from __future__ import annotations

from typing import Any

from torch import nn

from seqcourse import data
from seqcourse.data import Vocabulary
from seqcourse.settings import device
from seqcourse.zoo.labelling import LABELS, Labelled, label, load_labels
from seqcourse.zoo.recipes import Recipe
from seqcourse.zoo.reranking import Reranker, load_judges
from seqcourse.zoo.system import System
from seqcourse.zoo.tasks.pairs import PronunciationTask


class StudentTask(PronunciationTask):
    """CMUdict's training words, and unlisted words with the readings of a committee.

    The student begins as what it is taught by: with the weights of the recipe that the option
    ``teacher`` names. The committee are that model and its judges
    (:data:`seqcourse.zoo.reranking.JUDGES`).

    The last epoch's weights are stored. On validation words the student's loss stays about where it was
    after the first epoch (``valid_loss`` among its figures), while it comes to read more of them right:
    the loss does not tell which epoch is best.
    """

    keep = "last"

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.labelled: Labelled = []

    @property
    def teacher(self) -> str:
        """Whose committee it is."""
        return self.recipe.options["teacher"]

    def gather(self) -> None:
        """The unlisted words with their readings; where none are kept, the committee reads them now."""
        from accelerate import PartialState

        from seqcourse import zoo

        words, path = data.load_unlisted(), LABELS / f"{self.recipe.name}.tsv.gz"
        # Of several processes the first reads, the others load what it has kept.
        with PartialState(cpu=device().type == "cpu").main_process_first():
            if not path.is_file():
                label(words, zoo.reranker(self.teacher), path)
            self.labelled = load_labels(path, words)

    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Those of the teacher, whose embeddings the student begins with."""
        from seqcourse import zoo

        teacher = zoo.load(self.teacher)
        return teacher.source, teacher.target

    def prepare(
        self, model: nn.Module, source: Vocabulary, target: Vocabulary, short: int | None = None
    ) -> None:
        """Begin with the teacher's weights."""
        from seqcourse import zoo

        model.load_state_dict(zoo.load(self.teacher).model.state_dict())

    def token_pairs(self, split: str) -> list[tuple[list[str], list[str]]]:
        pairs = super().token_pairs(split)
        if split == "train":
            pairs += [(list(word), said.split()) for word, said in self.labelled]
        return pairs

    def measure(self, system: System) -> dict[str, Any]:
        """The student alone and with all judges; what these do alone is in the teacher's figures."""
        together = Reranker(system, load_judges(system.recipe.name))
        return self.errors(system.translate) | {"reranked": {"all": self.errors(together.translate)}}
