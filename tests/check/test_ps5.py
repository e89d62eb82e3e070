"""The examples with numbers in the text of assignment 5, and what its checks rest on."""

from __future__ import annotations

import math

import pytest
import torch

from seqcourse import nn
from seqcourse.check import Mistake, ps5
from tests.check.texts import tensor, texts

TEXT = texts("ps5")
ZERO, EYE = [[0, 0], [0, 0]], [[1, 0], [0, 1]]


WEIGHTS = (tensor(ZERO + ZERO + EYE), tensor([0] * 6), tensor([[1, 2], [0, 4]]), tensor([0, 0]))


def test_combine():
    padding = torch.tensor([[True, True, False]])
    both = ps5.combine.reference(padding, ps5.causal_mask.reference(3))
    assert f"`padding = {padding.tolist()}`" in TEXT["ps5-combine-md"]
    assert f"the result is `{both.tolist()}`" in TEXT["ps5-combine-md"]


def test_attention():
    q = tensor([[2 * math.log(3), 0, 0, 0]])
    k, v = tensor([[1, 0, 0, 0], [0, 0, 0, 0], [5, 0, 0, 0]]), tensor([[4], [0], [9]])
    y, weights = ps5.attention.reference(q, k, v, torch.tensor([[True, True, False]]))
    assert torch.allclose(weights, tensor([[0.75, 0.25, 0]])) and y.item() == pytest.approx(3)
    assert r"0.75 \cdot 4 = 3$" in TEXT["ps5-attention-md"]
    y, weights = ps5.attention.reference(q, k, v, torch.tensor([[False] * 3]))
    assert y.item() == 0 and not weights.any()


def test_split_and_merge_heads():
    x = tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]])
    pieces = ps5.split_heads.reference(x, 2)
    assert f"becomes `{pieces.int().tolist()}`" in TEXT["ps5-split_heads-md"]
    assert f"`{pieces.int().tolist()}` becomes `{x.int().tolist()}`" in TEXT["ps5-merge_heads-md"]
    assert torch.equal(ps5.merge_heads.reference(pieces), x)


def test_multi_head_and_cached_step():
    x = tensor([[[1, 0], [0, 1]]])
    y, weights = ps5.multi_head.reference(x, None, *WEIGHTS, 2)
    assert y.tolist() == [[[1.5, 2], [1.5, 2]]] and (weights == 0.5).all()
    assert r"= (1.5, 2)$ at both places" in TEXT["ps5-multi_head-md"]
    y, _ = ps5.multi_head.reference(x, None, *WEIGHTS, 2, ps5.causal_mask.reference(2))
    assert y.tolist() == [[[1, 0], [1.5, 2]]]
    assert "`[[[1, 0], [1.5, 2]]]`" in TEXT["ps5-multi_head-md"]
    past = [tensor([[[[0]], [[0]]]]), tensor([[[[1]], [[0]]]])]
    y, longer = ps5.cached_step.reference(x[:, 1:], past, *WEIGHTS, 2)
    assert y.tolist() == [[[1.5, 2]]] and longer[1].tolist() == [[[[1], [0]], [[0], [1]]]]
    assert "The outputs are `[[[1.5, 2]]]`" in TEXT["ps5-cached_step-md"]
    assert "`[1, 0]` for head 0 and `[0, 1]` for head 1" in TEXT["ps5-cached_step-md"]


def test_generate():
    widths = []

    def count_on(tokens, cache):
        widths.append(tokens.shape[1])
        return torch.nn.functional.one_hot(tokens + 1, 20).double(), "read"

    text = ps5.generate.reference(count_on, torch.tensor([[3, 4]]), 3)
    assert text.tolist() == [[3, 4, 5, 6, 7]] and widths == [2, 1, 1]
    assert "gives `[[3, 4, 5, 6, 7]]` in three calls with 2, 1 and 1 tokens" in TEXT["ps5-generate-md"]


@pytest.mark.parametrize("seed", range(20))
def test_masks_are_what_their_kind_says(seed):
    for queries, keys, kind in [(4, 5, "mask"), (3, 6, "hidden"), (5, 4, "nothing")]:
        given = ps5.attention.make(2, 2, queries, keys, 3, 2, kind=kind, seed=seed)
        mask = given["mask"].expand(2, 1, queries, keys)
        empty = torch.arange(queries) % 3 == 0 if kind == "nothing" else torch.zeros(queries).bool()
        assert (mask.sum(dim=-1)[..., ~empty] >= 2).all() and not mask[..., empty, :].any()
        if kind == "hidden":
            scores = given["q"] @ given["k"].mT
            assert not mask[..., -1].any() and (scores[..., -1] > scores[..., :-1].amax(-1) + 1000).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("axes", ["HNM", "1NM", "B11M", "N1", "BHNM", "B1N1"])
def test_masks_have_the_axes_that_are_asked_for(axes, seed):
    given = ps5.attention.make(4, 2, 5, 6, 3, 2, kind="nothing", axes=axes, seed=seed)
    sizes = {"B": 4, "H": 2, "N": 5, "M": 6, "1": 1}
    assert given["mask"].shape == tuple(sizes[axis] for axis in axes)
    _, weights = ps5.attention.reference(**given)
    empty = weights.sum(dim=-1) == 0
    wanted = torch.zeros(4, 2, 5, dtype=torch.bool)
    wanted[::3] = axes == "B11M"
    wanted[..., ::3] |= axes != "B11M"
    assert torch.equal(empty, wanted)


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_several_heads_differ_and_leave_something_to_attend_to(seed):
    for mask, axes in {"heads": (3, 4, 4), "each": (2, 3, 4, 4)}.items():
        given = ps5.multi_head.make(2, 4, 3, 2, mask=mask, seed=seed)["mask"]
        assert given.shape == axes and given.any(dim=-1).all() and not given.all(dim=-1).any()
        assert len(given.flatten(0, -3).unique(dim=0)) > 1


def test_a_cache_that_two_continuations_share_must_not_be_written_into():
    newest = []

    def in_place(x, past, *weights):
        y, longer = ps5.cached_step.reference(x, past, *weights)
        if newest and newest[-1] is past[0]:  # the cache that this function returned last
            past[0].zero_()
        newest.append(longer[0])
        return y, longer

    with pytest.raises(Mistake, match="share the cache that came back"):
        ps5.cached_step(in_place)


def test_nan_removed_from_the_outputs_only_spoils_the_values():
    """The gradient that exercise 3 asks about."""
    given = ps5.attention.make(1, 1, 4, 3, 2, 2, kind="nothing")
    v = given["v"].requires_grad_()
    scores = (given["q"] @ given["k"].mT).masked_fill(~given["mask"], float("-inf"))
    (scores.softmax(-1) @ v).nan_to_num(0.0).sum().backward()
    assert v.grad.isnan().any()
    v.grad = None
    (scores.softmax(-1).nan_to_num(0.0) @ v).sum().backward()
    assert not v.grad.isnan().any()


@pytest.mark.parametrize("seed", range(20))
def test_what_the_small_decoder_writes_depends_on_all_before(seed):
    given = ps5.generate.make(3, 4, 8, seed=seed)
    text = ps5.generate.reference(**given)
    assert len(text[:, 4:].unique()) > 1
    anew = given["prompt"]
    for _ in range(8):
        logits, _ = given["step"](anew, None)
        anew = torch.cat([anew, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    assert torch.equal(anew, text)


def test_three_parts_in_place_of_two_are_told_by_the_self_check():
    def apart(*arguments):
        y, (k, v) = ps5.cached_step.reference(*arguments)
        return y, k, v

    with pytest.raises(Mistake, match="but it returned three"):
        ps5.cached_step(apart)


def test_rotate():
    found = ps5.rotate.reference(tensor([[[1, 0]]]), torch.tensor([1]))
    assert found[0, 0].tolist() == pytest.approx([math.cos(1), math.sin(1)])
    assert "$(0.540, 0.841)$" in TEXT["ps5-rotate-md"]
    given = ps5.rotate.make(2, 5, 8)
    near, far = (ps5.rotate.reference(given["x"], given["positions"] + first) for first in (0, 70))
    torch.testing.assert_close(near @ near.mT, far @ far.mT)  # products know distances only


def test_grouped_step():
    """As a layer of the package, token by token."""
    torch.manual_seed(0)
    layer = nn.MultiHeadAttention(8, 4, groups=2, rotary=10_000.0, bias=False).double()
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    with torch.no_grad():
        whole, _ = layer(x, causal=True)
        keys = values = x.new_zeros(2, 2, 0, 2)
        for t in range(6):
            rows = x[:, t] @ layer.in_weight.T
            q, k, v = (part.unflatten(1, (-1, 2)) for part in rows.split([8, 4, 4], dim=1))
            y, keys, values = ps5.grouped_step.reference(q, k, v, keys, values)
            torch.testing.assert_close(layer.out(y.flatten(1)), whole[:, t], atol=1e-6, rtol=0)
