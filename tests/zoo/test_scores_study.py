"""Translators that compare two states in different ways: a trial of the study."""

import pytest

from seqcourse import data, models
from seqcourse.zoo.tasks import scores


@pytest.fixture(scope="module")
def lessons():
    return scores.Class()


def test_no_sentence_is_longer_than_asked_and_none_is_in_two_splits(lessons):
    sources = {
        split: {" ".join(source) for source, _ in pairs} for split, pairs in lessons.pairs.items()
    }
    assert max(data.count_words(source) for source, _ in lessons.pairs["train"]) == scores.LONGEST
    assert not sources["test"] & (sources["train"] | sources["valid"])


def test_only_the_score_differs(lessons):
    """The four have all other parameters in common; no score at all has as many as the dot product."""
    built = {kind: lessons.model(kind) for kind in scores.KINDS}
    size = {kind: models.number_of_parameters(model) for kind, model in built.items()}
    for kind in ("dot", "general", "additive", "mlp"):
        of_score = models.number_of_parameters(built[kind].attention.score)
        assert size[kind] - of_score == size["dot"] == size["none"]


def test_a_trial_of_the_study(lessons, monkeypatch):
    monkeypatch.setattr(scores, "KINDS", {kind: scores.KINDS[kind] for kind in ("none", "dot")})
    monkeypatch.setattr(scores, "Class", lambda: lessons)
    monkeypatch.setattr(lessons, "pairs", {split: pairs[:40] for split, pairs in lessons.pairs.items()})
    found = scores.measure([1e-3, 1e-2], [9], [0, 1], steps=3)
    assert [row["kind"] for row in found] == ["none", "dot"]
    for row in found:
        assert row["rate"] == float(min(row["tried"], key=row["tried"].get))
        assert len({exam["test"]["loss"] for exam in row["exams"]}) == 2  # two seeds
