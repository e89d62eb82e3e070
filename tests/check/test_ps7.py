"""The examples with numbers in the text of assignment 7, and what its own checks rest on."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from seqcourse import data, functional, nn
from seqcourse.check import ps7
from seqcourse.check.cards import mistakes
from seqcourse.check.ps7.counts import BERT_BASE, GPT2_SMALL
from seqcourse.check.ps7.ids import CLS, FIRST, IGNORE, MASK, PAD, SEP, UNK
from tests.check.texts import tensor, texts

TEXT = texts("ps7")


def test_the_ids_are_those_of_the_notebook_and_of_the_package():
    names = ("PAD", "CLS", "SEP", "UNK", "MASK", "FIRST", "IGNORE")
    for written in (TEXT["ps7-setup-setup"], mistakes.IMPORTS):
        space: dict = {}
        exec(written, space)
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


def test_fine_tuning_loss():
    states = torch.zeros(2, 5, 3, dtype=torch.float64)
    tokens, lengths = torch.tensor([[1, 2, 3, 3, 1], [3, 1, 0, 0, 0]]), torch.tensor([5, 2])
    weights = torch.ones(2, 3).double(), torch.ones(4, 3).double()
    loss = ps7.fine_tuning_loss.reference(states, tokens, lengths, torch.tensor([1, 0]), *weights, 0.5)
    assert loss.item() == pytest.approx(math.log(2) + 0.5 * math.log(4))
    assert f"= {loss.item():.3f}$" in TEXT["ps7-fine_tuning_loss-md"]


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


def test_learn_merges():
    merges, pieces = ps7.learn_merges.reference(["low", "low", "lower", "new"], 2)
    assert merges == [("l", "o"), ("lo", "w")]
    assert pieces == [["low"], ["low"], ["low", "e", "r"], ["n", "e", "w"]]
    told = TEXT["ps7-learn_merges-md"]
    assert '`[("l", "o"), ("lo", "w")]`' in told and '`[["low"], ["low"], ["low", "e", "r"]' in told
    assert ps7.learn_merges.reference(["aaa"], 1)[1] == [["aa", "a"]]


@pytest.mark.parametrize("seed", range(10))
def test_words_of_the_merges_hold_ties_and_an_end(seed):
    given = ps7.learn_merges.make("rare", 8, 6, seed=seed)
    counts = Counter(p for word in given["words"] for p in zip(word, word[1:], strict=False))
    most = max(counts.values())
    assert sum(number == most for number in counts.values()) > 1
    merges, pieces = ps7.learn_merges.reference(**ps7.learn_merges.make("short", 9, 30, seed=seed))
    assert len(merges) < 30 and all(len(word) == 1 for word in pieces)


def test_adapted_linear():
    one = torch.ones(1, 1)
    found = ps7.adapted_linear.reference(2 * one[None], 3 * one, one, 5 * one, 0.5)
    assert found.item() == 11 and r"$2 \cdot (3 + 0.5 \cdot 5) = 11$" in TEXT["ps7-adapted_linear-md"]
    given = ps7.adapted_linear.make(2, 3, 5, 4, 2)
    module = nn.LowRank(given["w"], 2, given["alpha"])
    with torch.no_grad():
        module.a.copy_(given["a"])
        module.b.copy_(given["b"])
        wanted = given["x"] @ module(given["w"]).T
    torch.testing.assert_close(ps7.adapted_linear.reference(**given), wanted)


def test_dpo_loss():
    moved = [tensor([x]) for x in (-4.0, -6.0, -5.0, -5.0)]
    assert ps7.dpo_loss.reference(*moved, 1.0).item() == pytest.approx(0.127, abs=5e-4)
    assert ps7.dpo_loss.reference(*moved[2:], *moved[2:], 1.0).item() == pytest.approx(0.693, abs=5e-4)
    assert "0.127" in TEXT["ps7-dpo_loss-md"] and "0.693" in TEXT["ps7-dpo_loss-md"]
    given = ps7.dpo_loss.make(5)
    torch.testing.assert_close(ps7.dpo_loss.reference(**given), functional.dpo_loss(**given))


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
