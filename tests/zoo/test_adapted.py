"""A pre-trained model adapted to other texts: what learns, and a trial of the study."""

import pytest
import torch

from seqcourse import models, zoo
from seqcourse.zoo.tasks import adapted


@pytest.fixture(scope="module")
def system():
    return zoo.load("books-gpt")


@pytest.fixture
def lesson():
    torch.manual_seed(0)
    model = models.GPT(20, width=16, heads=2, layers=1, longest=64).eval()
    train = torch.arange(400) % 7 + 5  # a row that is easy to learn
    return adapted.Adaptation(model, train, {"test": train[:100], "old": torch.randint(5, 20, (100,))})


def test_sentences_of_a_split_are_drawn_and_none_twice(system):
    some = adapted.sentences(system.target, "valid", 50)
    assert torch.equal(some, adapted.sentences(system.target, "valid", 50))
    every = adapted.sentences(system.target, "valid")
    assert len(every) > 10 * len(some) / 2
    texts = system.target.detokenize(system.target.decode(some.tolist()))
    assert texts == texts.lower()


@pytest.mark.parametrize(
    ("prepare", "learned"),
    [
        (adapted.everything, None),
        (adapted.table, 20 * 16),
        (adapted.low_rank(2), 2 * (16 + 48 + 16 + 16 + 16 + 64 + 64 + 16)),
    ],
)
def test_only_what_should_learn_learns(lesson, prepare, learned):
    model, count = lesson.adapted(prepare, 1e-2, seed=1, steps=20)
    whole = models.number_of_parameters(lesson.model)
    assert count == (whole if learned is None else learned)
    assert models.number_of_parameters(model) == whole  # merged
    assert lesson.bits(model, "test") < lesson.bits(lesson.model, "test")
    moved = not torch.equal(model.embedding, lesson.model.embedding)
    assert moved == (prepare in (adapted.everything, adapted.table))


@pytest.mark.nightly
def test_a_trial_of_the_study(system, monkeypatch):
    monkeypatch.setattr(adapted, "mean_loss", lambda model, ids: model.embedding.abs().mean().item())
    rows = adapted.measure(system, [1], [1e-3, 1e-2], [7], [0, 1], steps=2)
    assert [row["way"] for row in rows] == ["before", "everything", "table", "rank 1"]
    assert rows[1]["learned"] > rows[2]["learned"] > rows[3]["learned"] > rows[0]["learned"] == 0
    for row in rows[1:]:
        assert row["rate"] == float(min(row["tried"], key=row["tried"].get))
        assert len(row["new"]) == len(row["old"]) == 2
