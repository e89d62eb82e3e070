"""The decoder of open models: its parts against their formulas, its cache against recomputing."""

from __future__ import annotations

import pytest
import torch

from seqcourse import decode, models, nn
from seqcourse import functional as F


def model(groups=2, dtype=torch.float64):
    torch.manual_seed(0)
    made = models.Llama(31, 24, 6, 3, groups=groups, hidden=40).to(dtype).eval()
    with torch.no_grad():
        made.embedding.mul_(30)
        for parameter in made.parameters():
            if parameter.dim() == 1:
                parameter.uniform_(0.5, 1.5)
    return made


def test_grouped_queries_share_keys_and_values():
    torch.manual_seed(1)
    layer = nn.GroupedQueryAttention(24, 6, 2).double()
    x = torch.randn(2, 5, 24, dtype=torch.float64)
    with torch.no_grad():
        got, (k, v), weights = layer(x, need_weights=True)
        fused, _, none = layer(x)
        positions = torch.arange(5)
        heads = []
        for h in range(6):
            rows, shared = slice(4 * h, 4 * h + 4), slice(4 * (h // 3), 4 * (h // 3) + 4)
            q = F.rotate(x @ layer.query.weight[rows].T, positions)
            keys = F.rotate(x @ layer.key.weight[shared].T, positions)
            values = x @ layer.value.weight[shared].T
            heads.append(F.attention(q, keys, values, F.causal_mask(5))[0])
        expected = torch.cat(heads, -1) @ layer.out.weight.T
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(fused, expected)
    assert none is None and weights.shape == (2, 6, 5, 5)
    assert weights.triu(1).eq(0).all()
    assert k.shape == v.shape == (2, 2, 5, 4)


def test_only_distances_count():
    """Positions turn queries and keys: everything moved by ten places attends as before."""
    torch.manual_seed(2)
    layer = nn.GroupedQueryAttention(24, 6, 3).double()
    x = torch.randn(1, 4, 24, dtype=torch.float64)
    with torch.no_grad():
        here = layer(x, need_weights=True)[2]
        past = tuple(torch.zeros(1, 3, 10, 4, dtype=torch.float64) for _ in range(2))
        there = layer(x, past, need_weights=True)[2][..., 10:]
        there = there / there.sum(-1, keepdim=True)
    torch.testing.assert_close(there, here, rtol=1e-5, atol=1e-5)


def test_gated_mlp_is_its_formula():
    torch.manual_seed(3)
    mlp = nn.GatedMLP(6, 10)
    x = torch.randn(2, 3, 6)
    gate, up = x @ mlp.gate.weight.T, x @ mlp.up.weight.T
    expected = (torch.nn.functional.silu(gate) * up) @ mlp.down.weight.T
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


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="heads should divide the width, 24"):
        nn.GroupedQueryAttention(24, 5, 1)
    with pytest.raises(ValueError, match="groups should divide the heads, 6"):
        nn.GroupedQueryAttention(24, 6, 4)
