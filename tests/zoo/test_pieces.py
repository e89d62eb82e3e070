"""Vocabularies of several sizes at equal compute: a trial of the study."""

import math

import pytest
import torch

from seqcourse import models
from seqcourse.zoo.tasks import pieces

LINES = [
    "The cat sat on the mat, and the dog sat on the log.",
    "The rat ran to the cat; the cat ran to the dog.",
    "A log is not a mat, and a mat is not a log.",
] * 20
TEXTS = {"train": LINES, "valid": LINES[:6], "test": LINES[:9]}


@pytest.mark.parametrize("size", [0, 40])
def test_a_token_costs_by_the_weights_that_it_meets(size):
    cut = pieces.Vocabularies(TEXTS, size)
    weights = models.number_of_parameters(cut.model())
    steps = cut.steps(1e12)
    assert steps * 6 * weights * pieces.LENGTH * pieces.BATCH == pytest.approx(1e12, rel=1e-3)


def test_characters_are_single_and_pieces_hold_more():
    letters, some = pieces.Vocabularies(TEXTS, 0), pieces.Vocabularies(TEXTS, 40)
    assert len(some.vocabulary) == 40 > len(letters.vocabulary)
    assert all(len(token) == 1 or token.startswith("<") for token in letters.vocabulary.tokens)
    assert letters.characters == some.characters  # of the same texts, however they are cut
    assert len(some.ids["test"]) < len(letters.ids["test"])


def test_bits_are_those_of_all_tokens_over_all_characters():
    torch.manual_seed(0)
    cut = pieces.Vocabularies(TEXTS, 40)
    model = cut.model().eval()
    with torch.no_grad():
        model.embedding.zero_()  # every token is as likely as every other
    expected = math.log2(40) * (len(cut.ids["valid"]) - 1) / cut.characters["valid"]
    assert cut.bits(model, "valid") == pytest.approx(expected, rel=1e-5)


def test_a_trial_of_the_study():
    found = pieces.measure(TEXTS, [0, 40], [1e-3, 3e-2], [9], [0, 1], budget=2e9)
    assert [row["entries"] for row in found][1] == 40
    for row in found:
        assert row["rate"] == float(min(row["tried"], key=row["tried"].get))
        assert len(set(row["bits"])) == 2 and min(row["bits"]) > 0
    assert found[0]["characters"] < found[1]["characters"]
