"""The attention layer's formula: two paths that agree, masks that hide, rows with nothing to see."""

from __future__ import annotations

import math

import pytest
import torch

from seqcourse import functional as F


def make(*, batch=(2, 3), n_q=5, n_x=7, d=4, d_v=6, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sizes = ((*batch, n_q, d), (*batch, n_x, d), (*batch, n_x, d_v))
    return tuple(torch.randn(size, generator=generator, dtype=dtype).requires_grad_() for size in sizes)


def masks():
    """Masks of every kind, by name: (mask, causal)."""
    generator = torch.Generator().manual_seed(1)
    some = torch.rand(2, 1, 5, 7, generator=generator) > 0.4
    some[0, 0, 2] = False  # a query with nothing to attend to
    return {
        "none": (None, False),
        "padding": (F.length_mask(torch.tensor([7, 3]), 7)[:, None, None], False),
        "a row with nothing": (some, False),
        "causal": (None, True),
        "causal and padding": (F.length_mask(torch.tensor([7, 3]), 7)[:, None, None], True),
    }


@pytest.mark.parametrize("kind", masks())
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_both_paths_agree_in_value_and_gradient(kind, dtype):
    mask, causal = masks()[kind]
    given = make(dtype=dtype)
    readable, weights = F.attention(*given, mask, causal=causal, need_weights=True)
    fused, none = F.attention(*given, mask, causal=causal)
    assert none is None and weights.shape == (2, 3, 5, 7)
    tight = 1e-12 if dtype == torch.float64 else 2e-6
    torch.testing.assert_close(readable, fused, rtol=tight, atol=tight)
    one = torch.autograd.grad(readable.sin().sum(), given)
    other = torch.autograd.grad(fused.sin().sum(), given)
    for left, right in zip(one, other, strict=True):
        torch.testing.assert_close(left, right, rtol=10 * tight, atol=10 * tight)


def test_it_is_the_formula_written_out_for_one_query():
    q, k, v = (x.detach() for x in make(batch=(), n_q=1))
    scores = [float(q[0] @ k[i]) / math.sqrt(4) for i in range(7)]
    total = sum(math.exp(e) for e in scores)
    expected = sum(math.exp(e) / total * v[i] for i, e in enumerate(scores))
    torch.testing.assert_close(F.attention(q, k, v)[0][0], expected)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_query_with_nothing_to_attend_to_gets_zeros_and_no_gradient(need_weights):
    q, k, v = make()
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[2] = False
    y, _ = F.attention(q, k, v, mask, need_weights=need_weights)
    assert (y[..., 2, :] == 0).all() and (y[..., 1, :] != 0).any()
    gradients = torch.autograd.grad(y.pow(2).sum(), (q, k, v))
    assert not any(g.isnan().any() for g in gradients)
    assert (gradients[0][..., 2, :] == 0).all()


def test_what_is_masked_changes_nothing():
    q, k, v = make()
    mask = F.length_mask(torch.tensor([4, 6]), 7)[:, None, None]
    before = F.attention(q, k, v, mask)[0]
    noise = torch.where(mask.transpose(-1, -2), 0.0, 1e3).expand_as(k)
    torch.testing.assert_close(F.attention(q, k + noise, v, mask)[0], before)


def test_causal_is_aligned_with_the_last_key():
    q, k, v = make(n_q=3, n_x=3, d_v=4)
    whole, _ = F.attention(q, k, v, causal=True)
    last, _ = F.attention(q[..., 1:, :], k, v, causal=True)
    torch.testing.assert_close(last, whole[..., 1:, :])
    assert F.causal_mask(2, past=1).tolist() == [[True, True, False], [True, True, True]]


def test_dropout_keeps_the_mean_on_both_paths():
    torch.manual_seed(0)
    q, k = torch.zeros(1, 400, 4), torch.zeros(1, 50, 4)
    v = torch.ones(1, 50, 2)
    for need_weights in (True, False):
        y, _ = F.attention(q, k, v, need_weights=need_weights, dropout=0.5)
        assert abs(y.mean().item() - 1) < 0.05 and y.std() > 0.05


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(k=torch.zeros(2, 3, 7, 5)), "queries .* keys"),
        (dict(v=torch.zeros(2, 3, 6, 6)), "queries .* keys"),
        (dict(k=torch.zeros(4), v=torch.zeros(4)), "queries .* keys"),
        (dict(k=torch.zeros(3, 3, 7, 4)), r"agree in the axes before the last two.*\(3, 3, 7, 4\)"),
        (dict(k=torch.zeros(2, 3, 0, 4), v=torch.zeros(2, 3, 0, 6)), "at least one key"),
        (dict(mask=torch.ones(5, 7)), "boolean"),
        (dict(mask=torch.ones(2, 5, 7, dtype=torch.bool)), r"mask\[:, None\]"),
        (dict(k=torch.zeros(2, 3, 4, 4), v=torch.zeros(2, 3, 4, 6), causal=True), "a key for each"),
        (dict(dropout=1.0), "below 1, but it is 1.0"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(change, words):
    q, k, v = (x.detach().float() for x in make())
    with pytest.raises(ValueError, match=words):
        F.attention(**{"q": q, "k": k, "v": v, **change})


@pytest.mark.parametrize("n_q", [1, 5])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", [torch.arange(7) < 5, (torch.arange(7) < 5)[None, None, None]])
def test_nan_that_a_mask_hides_is_a_sentence(n_q, need_weights, mask):
    q, k, v = (x.detach() for x in make(n_q=n_q))
    hidden, seen = v.clone(), v.clone()
    hidden[0, 0, 6], seen[0, 0, 2] = math.nan, math.nan
    with pytest.raises(ValueError, match="hides values that are NaN"):
        F.attention(q, k, hidden, mask, need_weights=need_weights)
    # what is seen is the caller's: a model that diverged, say
    assert F.attention(q, k, seen, mask, need_weights=need_weights)[0].isnan().any()
    seen[0, 0, 6] = math.nan
    assert F.attention(q, k, seen, mask, need_weights=need_weights)[0].isnan().any()
