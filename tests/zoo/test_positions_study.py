"""Translators with several kinds of positions: a trial of the study."""

import pytest

from seqcourse import data, models
from seqcourse.zoo.tasks import positions


@pytest.fixture(scope="module")
def lessons():
    return positions.Class()


def test_long_sentences_are_longer_than_all_that_was_learned(lessons):
    words = {
        split: {data.count_words(source) for source, _ in pairs}
        for split, pairs in lessons.pairs.items()
    }
    assert max(words["train"]) == max(words["valid"]) == max(words["short"]) == positions.SHORT
    assert min(words["long"]) == positions.SHORT + 1 and max(words["long"]) == 2 * positions.SHORT
    assert len(lessons.pairs["short"]) > 1000 < len(lessons.pairs["long"])


def test_kinds_of_positions_have_equally_many_parameters(lessons):
    sizes = {models.number_of_parameters(lessons.model(kind)) for kind in positions.KINDS}
    assert len(sizes) == 1


def test_a_trial_of_the_study(lessons, monkeypatch):
    monkeypatch.setattr(positions, "KINDS", ("sinusoidal", "rotary"))
    monkeypatch.setattr(positions, "Class", lambda: lessons)
    few = {split: pairs[:40] for split, pairs in lessons.pairs.items()}
    monkeypatch.setattr(lessons, "pairs", few)
    found = positions.measure([1e-3, 1e-2], [9], [0, 1], steps=3)
    assert [row["kind"] for row in found] == ["sinusoidal", "rotary"]
    for row in found:
        assert row["rate"] == float(min(row["tried"], key=row["tried"].get))
        losses = [exam["long"]["loss"] for exam in row["exams"]]
        assert len(set(losses)) == 2  # two seeds; after three steps a model may write nothing
        assert all(exam["short"]["length"] >= 0 < exam["short"]["loss"] for exam in row["exams"])
