"""The examples with numbers in the text of assignment 7, and what its own checks rest on."""

from __future__ import annotations

import math
from pathlib import Path

import nbformat
import pytest
import torch

from seqcourse import data, models, train
from seqcourse.check import ps7
from seqcourse.check.ps7.counts import BERT_BASE, GPT2_SMALL
from seqcourse.check.ps7.ids import CLS, FIRST, IGNORE, MASK, PAD, SEP, UNK

PATH = Path(__file__).resolve().parents[2] / "solutions" / "ps7" / "ps7.ipynb"
TEXT = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}


def tensor(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_ids_are_those_of_the_notebook_and_of_the_package():
    space: dict = {}
    exec(TEXT["ps7-setup-setup"], space)
    names = ("PAD", "CLS", "SEP", "UNK", "MASK", "FIRST", "IGNORE")
    assert [space[name] for name in names] == [PAD, CLS, SEP, UNK, MASK, FIRST, IGNORE]
    assert (PAD, CLS, SEP, UNK) == (data.PAD, data.SOS, data.EOS, data.UNK)
    assert IGNORE == data.NOT_ASKED and FIRST == MASK + 1 == len(data.SPECIALS) + 1


@pytest.mark.parametrize(
    ("length", "inputs", "targets"),
    [
        (3, [[5, 6, 7], [2, 8, 9]], [[6, 7, 2], [8, 9, 2]]),
        (4, [[5, 6, 7, 2], [8, 9, 0, 0]], [[6, 7, 2, 8], [9, 2, -100, -100]]),
    ],
)
def test_language_batch(length, inputs, targets):
    rows = ps7.language_batch.reference([[5, 6, 7], [8, 9]], length, 2)
    assert [part.tolist() for part in rows] == [inputs, targets]
    text = TEXT["ps7-language_batch-md"]
    assert f"the inputs are `{inputs}` and the targets `{targets}`" in text


def test_few_shot_prompt():
    prompt = ps7.few_shot_prompt.reference(
        "Translate.", ("English", "Spanish"), [("bread", "pan")], "milk"
    )
    assert prompt == "Translate.\n\nEnglish: bread\nSpanish: pan\n\nEnglish: milk\nSpanish:"
    told = prompt.replace("\n", "\\n")
    assert f'is `"{told}"`' in TEXT["ps7-few_shot_prompt-md"]


@pytest.mark.parametrize("seed", range(30))
def test_prompts_are_short_enough_to_be_compared_whole(seed):
    given = ps7.few_shot_prompt.make(4, white=True, seed=seed)
    assert len(ps7.few_shot_prompt.reference(**given)) < 1000


def test_parameters():
    assert ps7.gpt_parameters.reference(10, 4, 2, 1, 3) == 81
    assert ps7.bert_parameters.reference(10, 4, 2, 2, 1, 3) == 91
    assert ps7.gpt_parameters.reference(*GPT2_SMALL) == 124_439_808
    assert ps7.bert_parameters.reference(*BERT_BASE) == 109_482_240
    gpt, bert = TEXT["ps7-gpt_parameters-md"], TEXT["ps7-bert_parameters-md"]
    assert "Together 81." in gpt and "has 124,439,808." in gpt
    assert "Together 91." in bert and "has 109,482,240." in bert


@pytest.mark.parametrize("layers", [0, 3])
def test_parameters_are_those_of_real_models(layers):
    shape = dict(hidden=52, longest=30)
    gpt = models.GPT(90, 24, 4, layers, **shape)
    bert = models.BERT(90, 24, 4, layers, **shape, pretraining=False)
    count = ps7.gpt_parameters.reference(90, 30, 24, layers, 52)
    assert models.number_of_parameters(gpt) == count
    count = ps7.bert_parameters.reference(90, 30, 2, 24, layers, 52)
    assert models.number_of_parameters(bert) == count


def test_fine_tuning_loss():
    states = torch.zeros(2, 5, 3, dtype=torch.float64)
    tokens, lengths = torch.tensor([[1, 2, 3, 3, 1], [3, 1, 0, 0, 0]]), torch.tensor([5, 2])
    weights = torch.ones(2, 3).double(), torch.ones(4, 3).double()
    loss = ps7.fine_tuning_loss.reference(states, tokens, lengths, torch.tensor([1, 0]), *weights, 0.5)
    assert loss.item() == pytest.approx(math.log(2) + 0.5 * math.log(4))
    assert f"= {loss.item():.3f}$" in TEXT["ps7-fine_tuning_loss-md"]


@pytest.mark.parametrize("lengths", [(5, 5), (3, 7, 2)])
def test_fine_tuning_loss_is_that_of_the_package(lengths):
    torch.manual_seed(0)
    model = models.Classifier(models.GPT(20, 8, 2, 1, longest=8), 3)
    given = ps7.fine_tuning_loss.make(lengths, d=8, classes=3, v=20)
    batch = data.LabelledBatch(given["tokens"], given["lengths"], given["labels"])
    states = model.body.states(batch.tokens)
    ours = ps7.fine_tuning_loss.reference(
        states, *vars(batch).values(), model.head.weight, model.body.embedding, 0.7
    )
    theirs = train.fine_tuning_loss(model, batch, auxiliary=0.7, pad_id=PAD)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)


def test_mask_words():
    tokens = torch.tensor([[1, 7, 8, 9, 6, 2]])
    first, fate = [[0.1, 0.1, 0.1, 0.1, 0.2, 0.1]], [[0.5, 0.5, 0.85, 0.95, 0.5, 0.5]]
    draws = tensor([first, fate, [[0.3] * 6]])
    hidden, labels = ps7.mask_words.reference(tokens, draws, 10)
    assert hidden.tolist() == [[1, 4, 6, 9, 6, 2]]
    assert labels.tolist() == [[-100, 7, 8, 9, -100, -100]]
    text = TEXT["ps7-mask_words-md"]
    for told in (tokens, hidden, labels, first, fate):
        assert str(told if isinstance(told, list) else told.tolist()) in text


@pytest.mark.parametrize("seed", range(5))
def test_mask_words_is_that_of_the_package(seed):
    given = ps7.mask_words.make([30, 12, 4], seed=seed)
    theirs = data.mask_words(given["tokens"], given["draws"], MASK, given["size"])
    for one, other in zip(ps7.mask_words.reference(**given), theirs, strict=True):
        assert torch.equal(one, other)


def test_of_many_words_as_many_are_hidden_as_bert_asks_for():
    given = ps7.mask_words.make([400] * 250, v=2000, specials=False, often=False, even=False)
    hidden, labels = ps7.mask_words.reference(**given)
    asked = labels != IGNORE
    kept = asked & (hidden == labels)
    shares = [asked, asked & (hidden == MASK), kept, asked & ~kept & (hidden != MASK)]
    for share, wanted in zip(shares, (0.15, 0.12, 0.015, 0.015), strict=True):
        assert share.double().mean().item() == pytest.approx(wanted, abs=0.003)
    other = hidden[shares[-1]]
    assert other.min() >= FIRST and other.max() < 2000


@pytest.mark.parametrize("seed", range(20))
def test_every_fate_occurs_in_the_inputs(seed):
    for options in ({"specials": False}, {}, {"specials": False, "borders": True}):
        given = ps7.mask_words.make([60, 40], seed=seed, **options)
        hidden, labels = ps7.mask_words.reference(**given)
        asked = labels != IGNORE
        for fate in (hidden == MASK, hidden == labels, (hidden != MASK) & (hidden != labels)):
            assert (asked & fate).any()
        assert (~asked & (given["tokens"] >= FIRST)).any()


def test_masked_word_loss():
    logits = tensor([[[0, 1.0986], [5, 0], [0, 0]]])
    loss = ps7.masked_word_loss.reference(logits, torch.tensor([[1, -100, 0]]))
    assert f"{loss.item():.3f}" == "0.490"
    assert "(0.288 + 0.693) / 2 = 0.490$" in TEXT["ps7-masked_word_loss-md"]
    assert f"{-math.log(3 / 4):.3f} {math.log(2):.3f}" == "0.288 0.693"


@pytest.mark.parametrize("share", [0.4, 0.0])
def test_masked_word_loss_is_that_of_the_package(share):
    given = ps7.masked_word_loss.make(3, 6, share=share)
    ours, theirs = (
        loss(given["logits"], given["labels"])
        for loss in (ps7.masked_word_loss.reference, train.masked_word_loss)
    )
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    assert bool((given["labels"] != IGNORE).any()) is bool(share)


@pytest.mark.parametrize(
    ("longest", "tokens"), [(7, [1, 11, 12, 2, 21, 22, 2]), (6, [1, 11, 12, 2, 21, 2])]
)
def test_pack_pair(longest, tokens):
    found, segments = ps7.pack_pair.reference([11, 12, 13], [21, 22], longest)
    assert found.tolist() == tokens
    assert segments.tolist() == [0] * 4 + [1] * (len(tokens) - 4)
    assert f"`{tokens}`" in TEXT["ps7-pack_pair-md"]


def test_sentence_pairs():
    documents = [["A1", "Oh!", "A3"], ["B1", "Oh!"]]
    draws = tensor([[0.2, 0.9], [0.7, 0.9], [0.5, 0.7]])
    pairs = ps7.sentence_pairs.reference(documents, draws)
    assert pairs == [("A1", "Oh!", 1), ("Oh!", "Oh!", 0), ("B1", "A3", 0)]
    for pair in pairs:
        a, b, follows = pair
        assert f'`("{a}", "{b}", {follows})`' in TEXT["ps7-sentence_pairs-md"]


@pytest.mark.parametrize("seed", range(20))
def test_pairs_hold_true_and_false_ones_and_a_draw_on_the_border(seed):
    for sizes, repeated in [((5, 3, 6, 4), False), ((4, 7), False), ((7, 6, 8), True)]:
        given = ps7.sentence_pairs.make(sizes, repeated, seed=seed)
        pairs = ps7.sentence_pairs.reference(**given)
        assert len(pairs) == len(given["draws"]) == sum(sizes) - len(sizes)
        assert {follows for *_, follows in pairs} == {0, 1}
        assert (given["draws"][:, 0] == 0.5).sum() == 1
        true = {(a, b) for d in given["documents"] for a, b in zip(d, d[1:], strict=False)}
        for a, b, follows in pairs:
            assert repeated or ((a, b) in true) == bool(follows)


def test_paired_interval():
    one, other = torch.tensor([True, True, False, True]), torch.tensor([True, False, False, False])
    draws = torch.tensor([[0, 0, 1, 2], [1, 1, 3, 3], [0, 2, 2, 0]])
    assert ps7.paired_interval.reference(one, other, draws) == (50, 0, 100)
    text = TEXT["ps7-paired_interval-md"]
    for told in (one, other, draws):
        assert f"`{told.tolist()}`".replace("`", "") in text


def test_an_interval_holds_the_true_difference_as_often_as_it_says():
    """Classifiers that differ by 10 points for certain: most of 200 intervals should hold that."""
    held = 0
    for seed in range(200):
        given = ps7.paired_interval.make(100, 400, better=0.1, alike=0.5, seed=seed)
        _, low, high = ps7.paired_interval.reference(**given)
        held += low <= 10 <= high
    assert 0.9 <= held / 200 <= 0.99
