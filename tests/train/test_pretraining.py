"""Losses of pre-training and fine-tuning, by hand and by the whole model."""

from __future__ import annotations

import functools

import pytest
import torch
from torch.nn.functional import cross_entropy

from seqcourse import data, models
from seqcourse.data import NOT_ASKED
from seqcourse.train import (
    Trainer,
    TrainingConfig,
    bert_loss,
    fine_tuning_loss,
    language_model_loss,
    masked_word_loss,
)
from seqcourse.train.processes import over_processes

TOKENS = torch.tensor([[1, 5, 6, 2, 7, 2], [1, 8, 2, 9, 2, 0]])
LENGTHS = torch.tensor([6, 5])


def test_only_hidden_words_count():
    logits = torch.zeros(1, 3, 4).double()
    logits[0, 1, 2] = torch.tensor(3.0).log()  # probability 3 / 6
    targets = torch.tensor([[NOT_ASKED, 2, NOT_ASKED]])
    assert masked_word_loss(logits, targets).item() == pytest.approx(torch.tensor(2.0).log().item())
    logits.requires_grad_()
    nothing = masked_word_loss(logits, torch.full((1, 3), NOT_ASKED))
    nothing.backward()
    assert nothing.item() == 0 and (logits.grad == 0).all()


def test_berts_loss_is_the_sum_of_both():
    torch.manual_seed(0)
    model = models.BERT(12, 8, 2, 1, longest=8).eval()
    segments = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]])
    targets = torch.full((2, 6), NOT_ASKED)
    targets[0, 1], targets[1, 3] = 5, 9
    batch = data.MaskedBatch(TOKENS, LENGTHS, segments, targets, torch.tensor([1, 0]))
    out = model(TOKENS, torch.arange(6)[None] < LENGTHS[:, None], segments)
    words = cross_entropy(out.words.flatten(0, 1), targets.flatten())
    follows = cross_entropy(out.follows, batch.follows)
    torch.testing.assert_close(bert_loss(model, batch), words + follows)


@pytest.mark.parametrize("auxiliary", [0.0, 0.5])
def test_fine_tuning_adds_the_language_models_loss(auxiliary):
    torch.manual_seed(0)
    body = models.GPT(12, 8, 2, 1, longest=8)
    model = models.Classifier(body, 3)
    batch = data.LabelledBatch(TOKENS, LENGTHS, torch.tensor([2, 0]))
    classes = cross_entropy(model(TOKENS, LENGTHS).classes, batch.labels)
    targets = TOKENS[:, 1:].where(TOKENS[:, 1:] != 0, torch.tensor(-100))
    words = language_model_loss(body, data.TextBatch(TOKENS[:, :-1], targets))
    found = fine_tuning_loss(model, batch, auxiliary)
    torch.testing.assert_close(found, classes + auxiliary * words)


def test_texts_of_one_token_have_no_next_word():
    torch.manual_seed(0)
    model = models.Classifier(models.GPT(12, 8, 2, 1, longest=8), 3)
    batch = data.LabelledBatch(TOKENS[:, 1:2], torch.tensor([1, 1]), torch.tensor([2, 0]))
    torch.testing.assert_close(fine_tuning_loss(model, batch, 0.5), fine_tuning_loss(model, batch))


def masked(rows):
    segments = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0], [0, 0, 1, 1, 1, 1]])
    targets = torch.full((3, 6), NOT_ASKED)
    targets[0, 1:4], targets[1, 3] = 5, 9  # three hidden words in the first row, one in the second
    tokens, lengths = torch.cat([TOKENS, TOKENS[:1]]), torch.tensor([6, 5, 6])
    parts = tokens, lengths, segments, targets, torch.tensor([1, 0, 0])
    return data.MaskedBatch(*(part[rows] for part in parts))


def labelled(rows):
    tokens = torch.tensor([[1, 0, 0, 0, 0, 0], [1, 8, 2, 9, 2, 0], [1, 5, 6, 2, 7, 2]])
    parts = tokens, torch.tensor([1, 5, 6]), torch.tensor([2, 0, 1])
    return data.LabelledBatch(*(part[rows] for part in parts))


@pytest.mark.parametrize("make", [masked, labelled])
@pytest.mark.parametrize("shares", [([0], [1, 2]), ([0, 1], [2])])
def test_of_several_processes_each_part_of_a_sum_of_means_counts_by_its_own_terms(make, shares):
    """The mean of their gradients, each weighed as the trainer does, is that of the whole batch."""
    torch.manual_seed(0)
    model = models.BERT(12, 8, 2, 1, longest=8)
    loss = bert_loss
    if make is labelled:
        model = models.Classifier(models.GPT(12, 8, 2, 1, longest=8), 3)
        loss = functools.partial(fine_tuning_loss, auxiliary=0.5)
    model = model.eval().double()

    def gradients(value):
        found = torch.autograd.grad(value, list(model.parameters()), allow_unused=True)
        return torch.cat([g.flatten() for g in found if g is not None])

    batches = [make(torch.tensor(rows)) for rows in shares]
    said = [[], []]  # what each process gives to the mean, in order
    for batch, own in zip(batches, said, strict=True):
        with over_processes(lambda value, own=own: own.append(value) or 1.0):
            loss(model, batch)
    means = [sum(values) / 2 for values in zip(*said, strict=True)]
    total = 0
    for batch in batches:
        answers = iter(means)
        with over_processes(lambda value, answers=answers: next(answers)):
            total = total + loss(model, batch) * len(batch.lengths) / 1.5
    whole = gradients(loss(model, make(torch.arange(3))))
    torch.testing.assert_close(gradients(total / 2), whole, rtol=1e-4, atol=1e-6)


def test_bert_learns_which_word_is_hidden():
    """Documents of one repeated word: the neighbours tell what is hidden."""
    torch.manual_seed(0)
    documents = [[[word] * 6, [word] * 6, [word] * 6] for word in range(5, 12) for _ in range(8)]
    batches = data.MaskedBatches(documents, batch_size=16, mask_id=4, size=12, longest=16)
    model = models.BERT(12, 24, 2, 1, longest=16)
    training = TrainingConfig(epochs=40, learning_rate=5e-3, warmup_steps=20)
    history = Trainer(model, bert_loss, training).fit(batches)
    assert history.epoch_losses[0] > 2.4
    assert history.epoch_losses[-1] < 1.2
