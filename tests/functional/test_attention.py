"""Scores, softmax, masks: against plain loops, and what must always hold."""

import math

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse import functional as F
from seqcourse import models, nn

B, T, D_S, D_H, D_A = 3, 5, 4, 6, 7


@pytest.fixture
def states():
    torch.manual_seed(0)
    return torch.randn(B, D_S, dtype=torch.float64), torch.randn(B, T, D_H, dtype=torch.float64)


def looped(score, s, h):
    """Every score on its own: one state against one encoder state."""
    return torch.stack([torch.stack([score(s[b], h[b, t]) for t in range(T)]) for b in range(B)])


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def test_dot_score(states):
    s = draw(B, D_H)
    _, h = states
    torch.testing.assert_close(F.dot_score(s, h), looped(lambda a, b: (a * b).sum(), s, h))


def test_dot_score_says_which_widths_disagree(states):
    with pytest.raises(ValueError, match="s has 4 and h has 6"):
        F.dot_score(*states)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, h: F.dot_score(s[0], h), r"dot_score.*s is \(4,\) and h is \(3, 5, 6\)"),
        (lambda s, h: F.general_score(s[:2], h, draw(D_H, D_S)), r"s is \(2, 4\)"),
        (lambda s, h: F.general_score(s, h, draw(D_S, D_H)), r"w of shape \(6, 4\).*is \(4, 6\)"),
        (
            lambda s, h: F.additive_score(s, h, draw(D_A, D_H), draw(D_A, D_H), draw(D_A)),
            r"w_s of shape \(7, 4\).*is \(7, 6\)",
        ),
        (
            lambda s, h: F.mlp_score(s, h, draw(D_A, D_H), draw(D_A), draw(D_A), draw(1)),
            r"w1 of shape \(7, 10\).*is \(7, 6\)",
        ),
        (lambda s, h: F.weighted_sum(draw(B, 2), h), r"weights are \(3, 2\).*\(3, 5, 6\)"),
    ],
)
def test_shapes_that_do_not_fit_are_named(states, call, message):
    with pytest.raises(ValueError, match=message):
        call(*states)


def test_general_score(states):
    s, h = states
    w = draw(D_H, D_S)
    torch.testing.assert_close(F.general_score(s, h, w), looped(lambda a, b: b @ w @ a, s, h))


def test_additive_score_is_the_papers(states):
    """v^T tanh(W [h; s]) with W in one piece."""
    s, h = states
    w_s, w_h, v = draw(D_A, D_S), draw(D_A, D_H), draw(D_A)
    whole = torch.cat([w_h, w_s], dim=1)
    expected = looped(lambda a, b: v @ torch.tanh(whole @ torch.cat([b, a])), s, h)
    torch.testing.assert_close(F.additive_score(s, h, w_s, w_h, v), expected)


def test_mlp_score(states):
    s, h = states
    w1, b1, w2, b2 = draw(D_A, D_H + D_S), draw(D_A), draw(D_A), draw(1)

    def one(a, b):
        return w2 @ torch.relu(w1 @ torch.cat([b, a]) + b1) + b2[0]

    torch.testing.assert_close(F.mlp_score(s, h, w1, b1, w2, b2), looped(one, s, h))


def test_weighted_sum(states):
    _, h = states
    weights = draw(B, T)
    expected = torch.stack([sum(weights[b, t] * h[b, t] for t in range(T)) for b in range(B)])
    torch.testing.assert_close(F.weighted_sum(weights, h), expected)


rows = st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=8)


@given(rows)
def test_softmax_is_a_distribution_and_equals_torch(row):
    scores = torch.tensor(row)
    weights = F.softmax(scores)
    assert weights.min() >= 0
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0))
    torch.testing.assert_close(weights, torch.softmax(scores, -1))
    torch.testing.assert_close(F.log_softmax(scores), torch.log_softmax(scores, -1))


@given(rows, st.floats(-50, 50, width=32))
def test_softmax_does_not_see_a_shift(row, shift):
    scores = torch.tensor(row, dtype=torch.float64)
    torch.testing.assert_close(F.softmax(scores + shift), F.softmax(scores))


def test_softmax_survives_what_overflows_a_naive_one():
    scores = torch.tensor([1000.0, 999.0, -1000.0])
    assert torch.isnan(scores.exp() / scores.exp().sum()).any()
    torch.testing.assert_close(
        F.softmax(scores), torch.tensor([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
    )


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(0, 1000))
def test_mask_hides_really(flags, seed):
    """Weights of hidden places are 0, the others are those of a softmax that never saw them; whatever
    stands at a hidden place changes neither value nor gradient."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.tensor(flags)
    scores = torch.randn(len(flags), generator=generator, dtype=torch.float64, requires_grad=True)
    weights = F.softmax(scores, mask=mask)
    assert torch.all(weights[~mask] == 0)
    if mask.any():
        torch.testing.assert_close(weights[mask], torch.softmax(scores[mask], -1))
    other = torch.where(mask, scores.detach(), torch.tensor(1e6, dtype=torch.float64))
    assert torch.equal(F.softmax(other, mask=mask), weights)
    seed_gradient = torch.randn(len(flags), generator=generator, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(weights, scores, seed_gradient)
    assert torch.isfinite(gradient).all()
    assert torch.all(gradient[~mask] == 0)


def test_nothing_to_attend_to_gives_zeros_not_nan():
    scores = torch.randn(2, 3, requires_grad=True)
    weights = F.softmax(scores, mask=torch.tensor([[True, False, True], [False, False, False]]))
    weights.sum().backward()
    assert torch.equal(weights[1], torch.zeros(3))
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_mask_of_numbers_is_refused(dtype):
    with pytest.raises(ValueError, match=f"should be boolean.*{dtype}"):
        F.softmax(torch.zeros(2, 3), mask=torch.ones(2, 3, dtype=dtype))


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (1, 2, 3)])
def test_a_mask_that_does_not_fit_is_refused(shape):
    """The last one would broadcast, and silently change the shape of the weights."""
    with pytest.raises(ValueError, match=r"fit the scores, \(2, 3\)"):
        F.softmax(torch.zeros(2, 3), mask=torch.ones(shape, dtype=torch.bool))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_length_mask_counts(lengths):
    mask = F.length_mask(torch.tensor(lengths), 9)
    assert mask.sum(1).tolist() == lengths
    assert torch.equal(mask, mask.sort(dim=1, descending=True).values)  # real words come first


@pytest.mark.parametrize("length", [0, -1, 10])
def test_a_length_that_no_padded_sentence_has_is_refused(length):
    with pytest.raises(ValueError, match="between 1 and the padded length 9"):
        F.length_mask(torch.tensor([3, length]), 9)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([3, 2], r"a tensor of whole numbers.*are a list. torch.tensor\(lengths\)"),
        (numpy.array([3, 2]), "are a ndarray"),
        (torch.tensor([3.0, 2.0]), "whole numbers, but their type is torch.float32"),
        (torch.tensor([[True, False]]), "torch.bool.*mask.sum"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda lengths: F.length_mask(lengths, 5),
        lambda lengths: F.check_lengths(lengths, 2, 5),
        lambda lengths: F.pair_neighbours(torch.zeros(2, 5, 3), lengths),
        lambda lengths: nn.Recurrent("gru", 3, 4)(torch.zeros(2, 5, 3), lengths),
        lambda lengths: models.AttentionSeq2Seq(9, 9, 4, 4).encode(torch.ones(2, 5).long(), lengths),
        lambda lengths: models.Transformer(9, 9, 4, 2, 1).encode(torch.ones(2, 5).long(), lengths),
    ],
)
def test_lengths_that_are_no_tensor_of_whole_numbers_get_a_sentence(call, lengths, message):
    with pytest.raises(ValueError, match=message):
        call(lengths)


def test_numpys_masks_and_lists_of_bools_are_masks():
    flags, scores = [True, False, True], torch.randn(2, 3)
    expected = F.softmax(scores, mask=torch.tensor(flags))
    assert torch.equal(F.softmax(scores, mask=numpy.array(flags)), expected)
    assert torch.equal(F.softmax(scores, mask=flags), expected)
    q, square = torch.randn(1, 3, 8), numpy.tril(numpy.ones((3, 3), dtype=bool))
    y = F.attention(q, q, q, causal=True, need_weights=True)
    assert torch.equal(F.attention(q, q, q, square, need_weights=True)[1], y[1])
    layer, block = nn.MultiHeadAttention(8, 2), nn.Block(8, 2, 16)
    assert torch.equal(layer(q, mask=square[None])[0], layer(q, mask=torch.tensor(square)[None])[0])
    assert torch.equal(block(q, square[None])[0], block(q, torch.tensor(square)[None])[0])


def test_window_mask():
    mask = F.window_mask(torch.tensor([2.0, 0.5]), 1, 5)
    assert mask.tolist() == [[False, True, True, True, False], [True, True, False, False, False]]


def test_gaussian_window_is_one_at_its_centre_and_falls():
    bell = F.gaussian_window(torch.tensor([2.0]), 2, 5)[0]
    expected = [math.exp(-2), math.exp(-0.5), 1.0, math.exp(-0.5), math.exp(-2)]
    torch.testing.assert_close(bell, torch.tensor(expected))


def test_gaussian_window_needs_a_width():
    with pytest.raises(ValueError, match="width above 0, but it is 0"):
        F.gaussian_window(torch.tensor([2.0]), 0, 5)
