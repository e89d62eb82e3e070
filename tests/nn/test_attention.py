"""Attention modules: weights are distributions over real words, and each variant is what it says."""

import pytest
import torch

from seqcourse import functional as F
from seqcourse import nn

B, T, D = 2, 5, 4


@pytest.fixture
def given():
    torch.manual_seed(0)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    return torch.randn(B, D), torch.randn(B, T, D), mask


@pytest.mark.parametrize("name", nn.SCORES)
def test_padding_gets_no_weight_and_changes_nothing(given, name):
    s, h, mask = given
    attention = nn.Attention(nn.SCORES[name](D, D))
    context, weights = attention(s, h, mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B))
    assert torch.all(weights[~mask] == 0)
    other = torch.where(mask[..., None], h, torch.full_like(h, 37.0))
    torch.testing.assert_close(attention(s, other, mask)[0], context)
    torch.testing.assert_close(attention(s[1:], h[1:, :3])[0], context[1:])  # never padded at all


@pytest.mark.parametrize("local", [False, True])
def test_a_mask_of_numpys_is_a_mask(given, local):
    s, h, mask = given
    score = nn.SCORES["general"](D, D)
    attention = nn.LocalAttention(score, D, 2) if local else nn.Attention(score)
    expected = attention(s, h, mask)
    for other in (mask.numpy(), mask.tolist()):
        assert all(map(torch.equal, attention(s, h, other), expected))


@pytest.mark.parametrize("name", nn.SCORES)
def test_prepared_keys_change_nothing(given, name):
    s, h, mask = given
    attention = nn.Attention(nn.SCORES[name](D, D))
    torch.testing.assert_close(attention(s, h, mask, attention.keys(h)), attention(s, h, mask))


@pytest.mark.parametrize("name", ["general", "additive", "mlp"])
def test_scores_of_different_widths(name):
    score = nn.SCORES[name](3, 6, 5)
    assert score(torch.randn(2, 3), torch.randn(2, 4, 6)).shape == (2, 4)


def test_dot_score_refuses_different_widths():
    with pytest.raises(ValueError, match="3 and 6"):
        nn.DotScore(3, 6)


def test_local_attention_looks_into_its_window_only(given):
    s, h, mask = given
    local = nn.LocalAttention(nn.DotScore(D, D), D, width=1)
    _, weights = local(s, h, mask)
    centre = local.centre(s, mask.sum(-1))
    assert torch.all(weights[~F.window_mask(centre, 1, T)] == 0)
    assert torch.all(weights[~mask] == 0)
    assert torch.all(weights.sum(-1) > 0)
    assert torch.all(weights.sum(-1) <= 1)


def test_local_attention_moves_its_window_by_gradient(given):
    s, h, mask = given
    local = nn.LocalAttention(nn.DotScore(D, D), D, width=2)
    context, _ = local(s, h, mask)
    context.pow(2).sum().backward()
    assert local.w_p.grad.abs().sum() > 0
    assert local.v_p.grad.abs().sum() > 0


def test_several_heads_are_each_an_attention(given):
    s, h, mask = given
    scores = [nn.AdditiveScore(D, D) for _ in range(3)]
    pool = nn.MultiHeadAttentionPool(scores, D)
    contexts, weights = pool.each(s, h, mask)
    for k, score in enumerate(scores):
        context, weight = nn.Attention(score)(s, h, mask)
        torch.testing.assert_close(contexts[:, k], context)
        torch.testing.assert_close(weights[:, k], weight)
    context, mean = pool(s, h, mask)
    torch.testing.assert_close(context, contexts.flatten(1) @ pool.out.weight.T)
    torch.testing.assert_close(mean, weights.mean(1))


@pytest.mark.parametrize("kind", ["zeros", "learned", "mean", "last"])
def test_first_states(given, kind):
    _, h, mask = given
    first = nn.FirstState(kind, D, 3)
    final = torch.randn(B, D)
    s = first(h, mask, final)
    assert s.shape == (B, 3)
    if kind in ("zeros", "learned"):
        torch.testing.assert_close(s[0], s[1])
    else:
        seen = final if kind == "last" else torch.stack([h[0].mean(0), h[1, :3].mean(0)])
        torch.testing.assert_close(s, torch.tanh(first.project(seen)))


def test_unknown_first_state_is_named():
    with pytest.raises(ValueError, match="zeros, learned, mean, last.*'random'"):
        nn.FirstState("random", 3, 3)


@pytest.mark.parametrize("window", [None, 2])
def test_a_sentence_of_padding_alone_gives_zeros_and_no_nan(given, window):
    """Its context, weights, mean and all gradients; the other sentence does not notice."""
    s, h, _ = given
    h.requires_grad_()
    mask = torch.tensor([[True] * T, [False] * T])
    score = nn.AdditiveScore(D, D)
    attention = nn.Attention(score) if window is None else nn.LocalAttention(score, D, window)
    context, weights = attention(s, h, mask)
    mean = nn.average(h, mask)
    for result in (context, weights, mean):
        assert torch.equal(result[1], torch.zeros_like(result[1]))
    torch.testing.assert_close(context[:1], attention(s[:1], h[:1])[0])
    (context.pow(2).sum() + mean.pow(2).sum()).backward()
    for gradient in (h.grad, *(p.grad for p in attention.parameters())):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("window", [None, 2])
def test_nan_that_a_mask_hides_is_a_sentence(given, window):
    s, h, _ = given
    mask = torch.ones(h.shape[:2], dtype=torch.bool)
    mask[0, -1], h = False, h.clone()
    h[0, -1] = torch.nan
    score = nn.DotScore(D, D)
    attention = nn.Attention(score) if window is None else nn.LocalAttention(score, D, window)
    with pytest.raises(ValueError, match="hides states that are NaN"):
        attention(s, h, mask)
