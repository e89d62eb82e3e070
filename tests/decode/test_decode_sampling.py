"""Greedy and sampling: frequencies, filters, reproducibility, and that the model is left alone."""

from __future__ import annotations

import math
from collections import Counter

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse.decode import beam_search, exhaustive_search, filter_logits, greedy, sample, score
from seqcourse.models import CharLM
from seqcourse.tokens import EOS

from .toys import A, B, C, Out, Tables, Written, recurrent, sources

WORDS = {A: 0.5, B: 0.25, C: 0.15, 6: 0.1}
ONE_WORD = Written({(): WORDS} | {(word,): {EOS: 1.0} for word in WORDS}, vocabulary=7)
LOGITS = torch.tensor([0.05, 0.5, 0.1, 0.25, 0.1]).log()


def probabilities(**filters):
    return filter_logits(LOGITS, **filters).softmax(-1).tolist()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, WORDS),
        ({"temperature": 0.5}, {w: p**2 / 0.345 for w, p in WORDS.items()}),
        (
            {"temperature": 2.0},
            {w: p**0.5 / sum(q**0.5 for q in WORDS.values()) for w, p in WORDS.items()},
        ),
        ({"top_k": 2}, {A: 2 / 3, B: 1 / 3}),
        ({"top_p": 0.8}, {A: 0.5 / 0.9, B: 0.25 / 0.9, C: 0.15 / 0.9}),
        ({"top_k": 3, "top_p": 0.8}, {A: 2 / 3, B: 1 / 3}),  # 0.5/0.9 + 0.25/0.9 reaches 0.8
        ({"forbid": [A]}, {B: 0.5, C: 0.3, 6: 0.2}),
    ],
)
def test_sample_frequencies_match_the_filtered_distribution(filters, expected):
    count = 4000
    maker = torch.Generator().manual_seed(1)
    drawn = sample(ONE_WORD, None, **filters, batch_size=count, generator=maker)
    seen = Counter(h.tokens[0] for h in drawn)
    assert set(seen) == set(expected)
    chi_square = sum((seen[w] - count * p) ** 2 / (count * p) for w, p in expected.items())
    assert chi_square < 16.27  # the 99.9% point for three degrees of freedom


def test_whole_sequences_come_out_with_their_probability():
    tables = Tables(vocabulary=5, depth=2, seed=3)
    count, maker = 6000, torch.Generator().manual_seed(0)
    memory = {"which": torch.zeros(count, dtype=torch.int64)}
    drawn = sample(tables, memory, max_len=2, generator=maker)
    seen = Counter((tuple(h.tokens), h.finished) for h in drawn)
    outputs = [((), True)] + [((x,), True) for x in (A, B)]
    outputs += [((x, y), False) for x in (A, B) for y in (A, B)]
    expected = {o: count * math.exp(tables.log_prob(0, list(o[0]), o[1])) for o in outputs}
    assert sum(expected.values()) == pytest.approx(count)
    assert sum((seen[o] - e) ** 2 / e for o, e in expected.items()) < 22.46  # 6 degrees, 99.9%
    for h in drawn[:50]:
        assert h.log_prob == pytest.approx(tables.log_prob(0, h.tokens, h.finished))


def test_the_same_seed_draws_the_same_and_another_does_not():
    model, (src, lengths) = recurrent(1), sources(1, 4)
    memory = model.encode(src, lengths)

    def draw(seed):
        maker = torch.Generator().manual_seed(seed)
        return sample(model, memory, temperature=1.5, generator=maker, max_len=12)

    assert draw(0) == draw(0)
    assert draw(0) != draw(1)


def test_top_k_of_one_is_greedy():
    model, (src, lengths) = recurrent(4), sources(4, 5)
    memory = model.encode(src, lengths)
    assert sample(model, memory, top_k=1, max_len=9) == greedy(model, memory, max_len=9)
    assert sample(model, memory, top_p=1e-9, max_len=9) == greedy(model, memory, max_len=9)


def test_greedy_follows_the_largest_and_loses_the_best():
    # 0.5 * 0.4 = 0.20 against 0.4 * 0.9 = 0.36
    model = Written(
        {
            (): {A: 0.5, B: 0.4, C: 0.1},
            (A,): {EOS: 0.4, A: 0.3, B: 0.3},
            (B,): {EOS: 0.9, A: 0.1},
        }
    )
    (found,) = greedy(model, None)
    assert (found.tokens, found.finished) == ([A], True)
    assert math.exp(found.log_prob) == pytest.approx(0.2)
    assert found.score == pytest.approx(math.log(0.2) / 2)
    assert math.exp(score(model, None, [[B]]).item()) == pytest.approx(0.36)


@pytest.mark.parametrize("write", [greedy, sample])
def test_weights_belong_to_the_words_although_sentences_retire(write):
    tables = Tables(vocabulary=6, depth=5, sentences=5, seed=6)
    tables.logits[::2, 1:, EOS] += 3.0
    torch.manual_seed(0)
    hypotheses = write(tables, tables.memory, max_len=5)
    assert len({len(h.tokens) for h in hypotheses}) > 1
    for sentence, h in enumerate(hypotheses):
        expected = tables.weights_along(sentence, h.tokens)
        torch.testing.assert_close(h.weights, expected, atol=0, rtol=0)
        assert h.log_prob == pytest.approx(tables.log_prob(sentence, h.tokens, h.finished))


def test_prefix_is_fed_and_not_repeated():
    model = Written({(): {B: 1.0}, (A,): {C: 1.0}, (A, C): {EOS: 1.0}})
    (found,) = sample(model, None, prefix=[1, A])
    assert (found.tokens, found.log_prob) == ([C], 0.0)
    assert greedy(model, None, prefix=[1, A]) == [found]
    assert greedy(model, None, prefix=torch.tensor([1, A])) == [found]
    assert greedy(model, None, prefix=torch.tensor([[1, A]]), batch_size=2) == [found, found]
    with pytest.raises(
        ValueError, match=r"of shape \(P,\), \(1, P\) or \(3, P\), but its shape is \(2, 2\)"
    ):
        greedy(model, None, prefix=torch.tensor([[1, A], [1, A]]), batch_size=3)


def test_every_sentence_may_have_its_own_prefix():
    ends = {(A, C): {EOS: 1.0}, (B, A): {EOS: 1.0}}
    model = Written({(): {A: 1.0}, (A,): {C: 1.0}, (B,): {A: 1.0}} | ends)
    found = greedy(model, None, prefix=torch.tensor([[1, A], [1, B]]), batch_size=2)
    assert [h.tokens for h in found] == [[C], [A]]


PADDED = "the prefix is padded: <pad>.*without padding, those of one length in one call"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (torch.tensor([[1, A, B], [1, A, 0]]), PADDED),
        (torch.tensor([[1, A, B], [0, 1, A]]), PADDED),  # padded on the left
        ([[1, A, B], [1, A, 0]], PADDED),
        ([1, A, 0, 0], PADDED),
        ([[1, A, B], [1, A]], "of one length, but they have between 2 and 3 ids.*in one call"),
        ([torch.tensor([1, A, B]), torch.tensor([1, A])], "between 2 and 3 ids"),
        ([numpy.array([1, A, B]), numpy.array([1, A])], "between 2 and 3 ids"),
    ],
)
@pytest.mark.parametrize("search", [greedy, sample, beam_search, exhaustive_search, score])
def test_a_padded_prefix_is_refused_with_the_way_to_do_it(search, prefix, message):
    """Otherwise <pad> is read as a word, and what follows is the continuation of another text."""
    written = [[C]] * 2 if search is score else 3 if search is exhaustive_search else None
    given = [] if written is None else [written]
    model = CharLM(9, 4, 6)
    options = {} if search is score else {"batch_size": 2}
    with pytest.raises(ValueError, match=message):
        search(model, None, *given, prefix=prefix, **options)


def test_numpys_integers_are_whole_numbers():
    model, two, three = CharLM(9, 4, 6), numpy.int64(2), torch.tensor(3)
    plain = beam_search(model, None, beam_width=2, n_best=2, max_len=3, batch_size=2)
    assert beam_search(model, None, two, two, max_len=three, batch_size=two) == plain
    found = sample(model, None, top_k=numpy.int32(1), max_len=three, prefix=numpy.array([1, A]))
    assert found == greedy(model, None, max_len=3, prefix=[1, A])
    once = score(model, None, [[A, B]], finished=numpy.True_)
    assert torch.equal(once, score(model, None, [[A, B]]))


def test_filters_cut_exactly_what_they_say():
    assert probabilities() == pytest.approx([0.05, 0.5, 0.1, 0.25, 0.1])
    assert probabilities(top_k=3) == pytest.approx([0, 0.5 / 0.85, 0.1 / 0.85, 0.25 / 0.85, 0])
    assert probabilities(top_p=0.5) == pytest.approx([0, 1, 0, 0, 0])
    assert probabilities(top_p=0.51) == pytest.approx([0, 2 / 3, 0, 1 / 3, 0])
    assert probabilities(top_p=0.75) == pytest.approx([0, 2 / 3, 0, 1 / 3, 0])
    assert probabilities(top_p=0.8) == pytest.approx([0, 0.5 / 0.85, 0.1 / 0.85, 0.25 / 0.85, 0])
    assert probabilities(top_p=1.0, top_k=5) == pytest.approx(probabilities())
    for size, p in ((4, 0.5), (4, 0.75), (10, 0.3), (10, 0.7), (49, 3 / 7)):  # sums that are reached
        kept = filter_logits(torch.zeros(size), top_p=p) > float("-inf")
        assert kept.tolist() == [True] * round(p * size) + [False] * (size - round(p * size))
    # temperature comes first: squared and normalised, 0.25 of 0.335 alone reach 0.7
    assert probabilities(temperature=0.5, top_p=0.7) == pytest.approx([0, 1, 0, 0, 0])


def test_filter_keeps_shape_and_input():
    logits = torch.randn(2, 3, 7)
    before = logits.clone()
    assert filter_logits(logits, 0.8, top_k=4, top_p=0.9).shape == (2, 3, 7)
    torch.testing.assert_close(logits, before, atol=0, rtol=0)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 9999), p=st.floats(0.01, 0.99))
def test_the_nucleus_is_the_smallest_set_that_reaches_p(seed, p):
    logits = 3 * torch.randn(20, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    kept = filter_logits(logits, top_p=p) > float("-inf")
    probability = logits.softmax(-1)
    assert probability[kept].sum() >= p - 2e-6
    assert probability[kept].sum() - probability[kept].min() < p + 2e-6
    assert probability[kept].min() >= probability[~kept].max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": 0.0}, "temperature should be a finite number of at least 1e-08, but is 0.0"),
        ({"temperature": 1e-40}, "temperature should be a finite number of at least 1e-08"),
        ({"temperature": -1.0}, "temperature should be a finite number of at least 1e-08"),
        ({"temperature": math.nan}, "temperature should be a finite number of at least 1e-08"),
        ({"top_k": 0}, "top_k should be a whole number of at least 1"),
        ({"top_k": 8}, "top_k is 8, but the vocabulary has only 7 words"),
        ({"top_p": 0.0}, "top_p should lie above 0 and be at most 1, but it is 0.0"),
        ({"top_p": 1.5}, "top_p should lie above 0"),
        ({"max_len": 0}, "max_len should be a whole number"),
        ({"batch_size": 0}, "batch_size should be a whole number"),
        ({"forbid": list(WORDS)}, "leaves no word to choose"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        sample(ONE_WORD, None, **arguments)


class Broken:
    """Gives whatever logits it was told to."""

    def __init__(self, logits):
        self.logits = logits

    def start(self, memory, batch_size=None):
        return None

    def step(self, tokens, state, memory):
        return Out(self.logits, None)


@pytest.mark.parametrize("search", [greedy, sample, beam_search])
@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (torch.tensor([[0.0, math.nan]]), "logits that are no distribution"),
        (torch.tensor([[math.inf, 0.0]]), "logits that are no distribution"),
        (torch.full((1, 4), -math.inf), "logits that are no distribution"),
        (torch.zeros(4), r"should give logits of shape \(1, V\)"),
        (torch.zeros(2, 4), r"should give logits of shape \(1, V\)"),
    ],
)
def test_broken_logits_are_named(search, logits, message):
    with pytest.raises(ValueError, match=message):
        search(Broken(logits), None)


@pytest.mark.parametrize("search", [greedy, sample, beam_search])
def test_the_model_is_left_as_it_was(search):
    model, (src, lengths) = recurrent(0, dropout=0.5), sources(0, 3)
    with torch.no_grad():
        memory = model.encode(src, lengths)
    model.train()
    model.encoder.eval()  # frozen by its owner
    flags = [module.training for module in model.modules()]
    torch.manual_seed(0)
    first = search(model, memory, max_len=9)
    assert (
        [module.training for module in model.modules()] == flags == [True, True, False, True, True, True]
    )
    if search is not sample:  # dropout was off, so nothing random happened
        assert search(model, memory, max_len=9) == first
    with pytest.raises(ValueError):
        search(Failing(model), memory, max_len=9)
    assert [module.training for module in model.modules()] == flags
    found = first[0] if search is not beam_search else first[0][0]
    scale = torch.ones((), requires_grad=True)
    (found.weights * scale).sum().backward()  # ordinary tensors come back
    assert scale.grad == pytest.approx(len(found.tokens))


class Failing(torch.nn.Module):
    """A model that breaks at its first step."""

    def __init__(self, model):
        super().__init__()
        self.model, self.start = model, model.start

    def step(self, tokens, state, memory):
        assert not self.model.training and not torch.is_grad_enabled()
        raise ValueError("broken")


def test_a_model_without_attention_has_no_weights():
    assert greedy(ONE_WORD, None)[0].weights is None
    assert beam_search(ONE_WORD, None)[0][0].weights is None
