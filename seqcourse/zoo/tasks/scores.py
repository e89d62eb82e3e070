"""Translators that compare two states in different ways (chapter 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqcourse import models
from seqcourse.data import Vocabulary
from seqcourse.settings import device
from seqcourse.zoo.tasks import positions, race

LONGEST = 10  # English words of a sentence
SIZES: dict[str, Any] = {"embed_size": 64, "hidden_size": 80, "bidirectional": False, "dropout": 0.1}
KINDS: dict[str, dict[str, Any]] = {
    "none": {"context": "average"},
    "dot": {"score": "dot"},
    "general": {"score": "general"},
    "additive": {"score": "additive"},
    "mlp": {"score": "mlp"},
}


class Class(positions.Class):
    """The task of all: English-Spanish pairs of at most ``LONGEST`` English words, judged on "test".

    The encoder reads in one direction, so that its states are as wide as the decoder's and the dot
    product is defined. "none" is the dumbest contestant: every word of the source weighs the same, at
    every step.
    """

    exams = ("test",)

    def __init__(self) -> None:
        self.pairs = {split: race.short_pairs(split, LONGEST) for split in ("train", "valid", "test")}
        self.english, self.spanish = (
            Vocabulary.build([pair[k] for pair in self.pairs["train"]], min_count=5) for k in (0, 1)
        )

    def model(self, kind: str) -> models.Seq2Seq:
        """A translator that compares states in this way, freshly initialised."""
        made = {**SIZES, **KINDS[kind]}
        family = models.EncoderDecoder if "context" in made else models.AttentionSeq2Seq
        return family(len(self.english), len(self.spanish), **made).to(device())


def measure(
    rates: Sequence[float], choose: Sequence[int], seeds: Sequence[int], steps: int
) -> list[dict[str, Any]]:
    """Each way to compare, see :func:`seqcourse.zoo.tasks.positions.tuned_alike`."""
    return positions.tuned_alike(Class(), KINDS, rates, choose, seeds, steps)
