"""Pre-training on captions, small: what is hidden, what is asked, and what fine-tuning begins with."""

import pytest
import torch

from seqcourse.data import SPECIALS, EncodedQuestion, Vocabulary
from seqcourse.data.masking import NOT_ASKED
from seqcourse.data.questions import QUESTION_KINDS
from seqcourse.tokens import MASK
from seqcourse.zoo.tasks import captioned

SIZES = {"width": 16, "heads": 2, "layers": 1, "hidden": 16}
CAPTIONS = ["a cat left of a dog", "a dog", "two cats", "a cat right of a cat"] * 40
WORDS = Vocabulary([MASK, *sorted({word for caption in CAPTIONS for word in caption.split()})])


@pytest.fixture(scope="module")
def lesson():
    draw = torch.Generator().manual_seed(0)
    grids = torch.randn(len(CAPTIONS), 9, 16, generator=draw)
    shown = torch.rand(len(CAPTIONS), 9, 5, generator=draw).softmax(-1)
    asked = [
        [EncodedQuestion(WORDS.encode(["a", "cat"], eos=False), k % 3, QUESTION_KINDS[k % 3])]
        for k in range(160)
    ]
    part = captioned.GridSplit(grids, shown, torch.zeros(160, 9, dtype=torch.long), asked)
    parts = dict.fromkeys(("train", "valid", "test"), part)
    return captioned.CaptionLesson(parts, CAPTIONS, WORDS, 7, SIZES)


@pytest.fixture(scope="module")
def batches(lesson):
    train = lesson.parts["train"]
    loader = captioned.Captions(
        train.grids, train.shown, lesson.captions, WORDS.id(MASK), len(WORDS), seed=1
    )
    return list(loader)


def test_hidden_places_are_zeros_and_half_of_the_captions_fit(batches):
    hidden = torch.cat([batch.hidden for batch in batches])
    fits = torch.cat([batch.fits for batch in batches]).float()
    assert 0.11 < hidden.float().mean() < 0.19 and 0.35 < fits.mean() < 0.65
    for batch in batches:
        assert not batch.grids[batch.hidden].any() and batch.grids[~batch.hidden].any(-1).all()


def test_some_words_are_asked_and_none_of_the_specials(batches):
    asked = torch.cat([(batch.targets != NOT_ASKED).flatten() for batch in batches])
    words = torch.cat([batch.targets[batch.targets != NOT_ASKED] for batch in batches])
    assert 0.03 < asked.float().mean() < 0.2 and words.min() >= len(SPECIALS)


def test_words_and_places_count_only_where_the_caption_is_the_pictures_own(lesson, batches):
    torch.manual_seed(0)
    model = captioned.Pretraining(lesson.model(), len(WORDS), 5).eval()
    batch = batches[0]
    whole = captioned.pretraining_loss(model, batch)
    batch.targets[batch.fits == 0] = 5  # of other pictures' captions
    torch.testing.assert_close(captioned.pretraining_loss(model, batch), whole)


def test_fine_tuning_begins_with_what_was_learned_but_for_the_answers(lesson, monkeypatch):
    begun = []
    monkeypatch.setattr(
        captioned.Trainer,
        "fit",
        lambda self, loader: begun.append({k: v.clone() for k, v in self.model.state_dict().items()}),
    )
    weights = {key: torch.full_like(value, 3.0) for key, value in lesson.model().state_dict().items()}
    lesson.fine_tune(weights, 20, 1e-3, seed=1, steps=2)
    lesson.fine_tune(None, 20, 1e-3, seed=1, steps=2)
    pretrained, new = begun
    for key, value in pretrained.items():
        assert torch.equal(value, weights[key]) != ("answer" in key)
        assert not torch.equal(new[key], weights[key])


def test_a_trial_of_the_study(lesson):
    tuning = [{"steps": 2, "rates": [1e-3, 1e-2]}, {"steps": 3, "rates": [2e-3]}]
    found = captioned.measure(lesson, [20], tuning, [9], [0, 1], pretraining={"epochs": 1, "rate": 1e-3})
    kinds = [(row["steps"], row["start"]) for row in found]
    assert kinds == [(2, "new"), (2, "pre-trained"), (3, "new"), (3, "pre-trained")]
    for row in found:
        assert row["rate"] == float(max(row["tried"], key=row["tried"].get))
        assert len(row["right"]) == 2 and 0 <= row["right"][0]["all"] <= 1
    assert found[2]["rate"] == 2e-3
