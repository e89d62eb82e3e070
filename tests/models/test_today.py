"""A decoder with today's parts: each against its formula, its cache against recomputing."""

from __future__ import annotations

import pytest
import torch

from seqcourse import decode, models, nn
from seqcourse import functional as F


def model(groups=2, dtype=torch.float64, **options):
    torch.manual_seed(0)
    made = models.GPT(31, 24, 6, 3, groups=groups, hidden=40, **models.TODAY, **options)
    made = made.to(dtype).eval()
    with torch.no_grad():
        made.embedding.mul_(30)
        for parameter in made.parameters():
            if parameter.dim() == 1:
                parameter.uniform_(0.5, 1.5)
    return made


def grouped(groups, **options):
    layer = nn.MultiHeadAttention(24, 6, groups=groups, rotary=10_000.0, bias=False, **options)
    return layer.double().eval()


def test_grouped_queries_share_keys_and_values():
    torch.manual_seed(1)
    layer = grouped(2)
    x = torch.randn(2, 5, 24, dtype=torch.float64)
    with torch.no_grad():
        got, weights = layer(x, causal=True, need_weights=True)
        fused, none = layer(x, causal=True)
        stepped, (k, v) = layer.step(x, layer.empty_cache(2))
        w_q, w_k, w_v = layer.in_weight.split([24, 8, 8])
        positions, heads = torch.arange(5), []
        for h in range(6):
            rows, shared = slice(4 * h, 4 * h + 4), slice(4 * (h // 3), 4 * (h // 3) + 4)
            q, keys = F.rotate(x @ w_q[rows].T, positions), F.rotate(x @ w_k[shared].T, positions)
            heads.append(F.attention(q, keys, x @ w_v[shared].T, F.causal_mask(5))[0])
        expected = torch.cat(heads, -1) @ layer.out.weight.T
    for found in (got, fused, stepped):
        torch.testing.assert_close(found, expected)
    assert none is None and weights.shape == (2, 6, 5, 5)
    assert weights.triu(1).eq(0).all()
    assert k.shape == v.shape == (2, 2, 5, 4)


def test_only_distances_count():
    """Positions turn queries and keys: everything moved by ten positions attends as before."""
    torch.manual_seed(2)
    layer = grouped(3)
    x = torch.randn(1, 4, 24, dtype=torch.float64)
    with torch.no_grad():
        here = layer(x, causal=True)[0]
        q, k, v = layer.project(x, first=10)
        there = layer.attend(q, k, v, causal=True)[0]
    torch.testing.assert_close(there, here, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("window", [1, 3, 20])
def test_a_window_sees_so_many_and_steps_see_the_same(window):
    torch.manual_seed(5)
    layer = grouped(6, window=window)
    x = torch.randn(2, 7, 24, dtype=torch.float64)
    with torch.no_grad():
        whole, weights = layer(x, causal=True, need_weights=True)
        first, cache = layer.step(x[:, :3], layer.empty_cache(2))
        then, _ = layer.step(x[:, 3:], cache)
    torch.testing.assert_close(torch.cat([first, then], 1), whole)
    assert (weights > 0).sum(-1)[0, 0].tolist() == [min(i + 1, window) for i in range(7)]


def test_gated_mlp_is_its_formula():
    torch.manual_seed(3)
    mlp = nn.GatedFeedForward(6, 10)
    x = torch.randn(2, 3, 6)
    gate, inner = x @ mlp.gate.weight.T, x @ mlp.inner.weight.T
    expected = (torch.nn.functional.silu(gate) * inner) @ mlp.outer.weight.T
    torch.testing.assert_close(mlp(x), expected)


def test_rms_norm_is_torchs():
    torch.manual_seed(4)
    norm, theirs = nn.RMSNorm(7, eps=1e-3), torch.nn.RMSNorm(7, eps=1e-3)
    with torch.no_grad():
        norm.gamma.uniform_(0.5, 2)
        theirs.weight.copy_(norm.gamma)
    x = torch.randn(3, 4, 7)
    torch.testing.assert_close(norm(x), theirs(x))


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_one_by_one_equals_all_at_once(groups):
    made = model(groups)
    tokens = torch.randint(31, (2, 9))
    with torch.no_grad():
        whole = made(tokens).logits
        state, steps = made.start(batch_size=2), []
        for token in tokens.unbind(1):
            out = made.step(token, state)
            state = out.state
            steps.append(out.logits)
        head, state = made.run(tokens[:, :4], made.start(batch_size=2))
        tail, _ = made.run(tokens[:, 4:], state)
    torch.testing.assert_close(torch.stack(steps, 1), whole)
    torch.testing.assert_close(torch.cat([head.logits, tail.logits], 1), whole)


def test_it_does_not_look_ahead():
    made = model()
    tokens = torch.randint(31, (1, 8))
    other = tokens.clone()
    other[0, 5:] = (other[0, 5:] + 1) % 31
    with torch.no_grad():
        same = made(tokens).logits[:, :5], made(other).logits[:, :5]
    torch.testing.assert_close(*same)
    maps = made.maps(tokens)
    assert maps.shape == (1, 3, 6, 8, 8)
    torch.testing.assert_close(maps.sum(-1), torch.ones(1, 3, 6, 8, dtype=torch.float64))


def test_decode_drives_it():
    made = model(dtype=torch.float32)
    found = decode.greedy(made, None, max_len=6, prefix=[5, 6], batch_size=2, forbid=(2,))
    tokens = torch.tensor([[5, 6, *found[0].tokens]])
    with torch.no_grad():
        logits = made(tokens).logits[0].index_fill(-1, torch.tensor([2]), -torch.inf)
    assert logits[1:-1].argmax(-1).tolist() == found[0].tokens == found[1].tokens


def test_parameters_are_those_of_the_formula():
    shape = models.Shape(
        layers=3, width=24, heads=6, key_value_heads=2, hidden=40, vocabulary=31,
        biases=False, norm_shifts=False, gated=True,
    )  # fmt: skip
    assert sum(models.count_parameters(shape).values()) == models.number_of_parameters(model())


def test_wrong_parts_are_refused():
    with pytest.raises(ValueError, match="groups should divide the heads, 6"):
        nn.MultiHeadAttention(24, 6, groups=4)
    with pytest.raises(ValueError, match="normalisation should be one of layer, rms"):
        nn.Block(24, 6, 40, normalisation="batch")
    with pytest.raises(ValueError, match="a gated one swiglu, geglu"):
        nn.Block(24, 6, 40, activation="tanh")
