"""Multi-head attention and blocks against PyTorch's own modules with the same weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn as torch_nn

from seqcourse import functional as F
from seqcourse import nn

B, N, M, D, H = 3, 5, 7, 12, 3
LENGTHS = torch.tensor([7, 4, 1])


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def copy_attention(ours: nn.MultiHeadAttention, theirs: torch_nn.MultiheadAttention) -> None:
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(std=0.5)
        ours.in_weight.copy_(theirs.in_proj_weight)
        ours.in_bias.copy_(theirs.in_proj_bias)
        ours.out.load_state_dict(theirs.out_proj.state_dict())


def copy_norm(ours: nn.LayerNorm, theirs: torch_nn.LayerNorm) -> None:
    with torch.no_grad():
        ours.gamma.copy_(theirs.weight.normal_())
        ours.beta.copy_(theirs.bias.normal_())


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["self", "causal", "cross", "padded"])
def test_the_same_numbers_as_pytorch(kind, need_weights):
    ours, theirs = nn.MultiHeadAttention(D, H), torch_nn.MultiheadAttention(D, H, batch_first=True)
    copy_attention(ours, theirs)
    x, memory = torch.randn(B, N, D, requires_grad=True), torch.randn(B, M, D, requires_grad=True)
    mask = F.length_mask(LENGTHS, M)
    other = memory if kind in ("cross", "padded") else x
    # PyTorch's masks say where *not* to look.
    y, weights = ours(
        x,
        None if other is x else other,
        mask if kind == "padded" else None,
        causal=kind == "causal",
        need_weights=need_weights,
    )
    expected, expected_weights = theirs(
        x,
        other,
        other,
        key_padding_mask=~mask if kind == "padded" else None,
        attn_mask=~F.causal_mask(N) if kind == "causal" else None,
        average_attn_weights=False,
    )
    torch.testing.assert_close(y, expected)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights)
    inputs = [x] if other is x else [x, memory]
    wanted = [*inputs, ours.in_weight, ours.out.weight]
    one = torch.autograd.grad(y.sin().sum(), wanted)
    two = torch.autograd.grad(
        expected.sin().sum(), [*inputs, theirs.in_proj_weight, theirs.out_proj.weight]
    )
    for left, right in zip(one, two, strict=True):
        torch.testing.assert_close(left, right)


def test_a_flat_mask_of_queries_and_keys_is_not_taken_for_one_of_sequences():
    attention, x = nn.MultiHeadAttention(D, H), torch.randn(B, N, D)
    with pytest.raises(ValueError, match=r"mask\[None\]"):
        attention(x, mask=F.causal_mask(N))
    torch.testing.assert_close(
        attention(x, mask=F.causal_mask(N)[None])[0], attention(x, causal=True)[0]
    )


@pytest.mark.parametrize("cross", [False, True])
def test_a_mask_with_two_readings_is_refused_until_an_axis_says_which(cross):
    """(3, 3) for 3 sequences of 3 queries: which keys are real, or which a query may see?"""
    attention, x = nn.MultiHeadAttention(D, H), torch.randn(3, 3, D)
    memory = torch.randn(3, 3, D) if cross else None
    mask = F.causal_mask(3)
    with pytest.raises(ValueError, match=r"mask\[:, None\] if .* real, mask\[None\] if .* may see"):
        attention(x, memory, mask)
    ahead = attention(x, memory, mask[None], need_weights=True)[1]
    padded = attention(x, memory, mask[:, None], need_weights=True)[1]
    torch.testing.assert_close(ahead, attention(x, memory, causal=True, need_weights=True)[1])
    assert (padded[0, ..., 1:] == 0).all() and (padded[2] > 0).all()  # lengths 1, 2 and 3


def test_a_mask_may_differ_between_queries_and_heads():
    attention = nn.MultiHeadAttention(D, H)
    x = torch.randn(B, N, D)
    mask = torch.rand(B, H, N, N) > 0.3
    y, weights = attention(x, mask=mask, need_weights=True)
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(attention(x, mask=mask)[0], y)
    one = mask[:, 0]
    torch.testing.assert_close(
        attention(x, mask=one)[0], attention(x, mask=one[:, None].expand_as(mask))[0]
    )


@pytest.mark.parametrize("share", [1.0, 1.5, -0.1, float("nan")])
@pytest.mark.parametrize(
    "make",
    [
        lambda share: nn.MultiHeadAttention(D, H, dropout=share),
        lambda share: nn.Recurrent("gru", D, D, 2, dropout=share),
        lambda share: nn.Block(D, H, 20, dropout=share),
        lambda share: F.dropout(torch.ones(3), share),
    ],
)
def test_a_dropout_that_leaves_nothing_is_refused_where_it_is_given(make, share):
    with pytest.raises(ValueError, match=f"dropout should be at least 0 and below 1, but it is {share}"):
        make(share)


def test_without_positions_it_is_equivariant():
    attention, x = nn.MultiHeadAttention(D, H), torch.randn(B, N, D)
    order = torch.randperm(N)
    torch.testing.assert_close(attention(x[:, order])[0], attention(x)[0][:, order])


def test_a_cache_gives_what_recomputing_gives():
    attention, x = nn.MultiHeadAttention(D, H), torch.randn(B, N, D)
    whole, _ = attention(x, causal=True)
    past, found = attention.empty_cache(B), []
    for piece in x.split([1, 2, 1, 1], dim=1):
        y, past = attention.step(piece, past)
        found.append(y)
    torch.testing.assert_close(torch.cat(found, 1), whole)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_an_encoder_block_is_pytorchs(norm, activation):
    ours = nn.Block(D, H, 20, norm=norm, activation=activation).eval()
    theirs = torch_nn.TransformerEncoderLayer(
        D, H, 20, 0.0, activation, batch_first=True, norm_first=norm == "pre"
    ).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    ours.mlp.inner.load_state_dict(theirs.linear1.state_dict())
    ours.mlp.outer.load_state_dict(theirs.linear2.state_dict())
    copy_norm(ours.self_norm, theirs.norm1)
    copy_norm(ours.mlp_norm, theirs.norm2)
    x, mask = torch.randn(B, M, D), F.length_mask(LENGTHS, M)
    y, _ = ours(x, mask)
    expected = theirs(x, src_key_padding_mask=~mask)
    torch.testing.assert_close(y[mask], expected[mask])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_block_is_pytorchs_and_its_cache_too(norm):
    ours = nn.Block(D, H, 20, cross=True, norm=norm).eval()
    theirs = torch_nn.TransformerDecoderLayer(
        D, H, 20, 0.0, batch_first=True, norm_first=norm == "pre"
    ).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    ours.mlp.inner.load_state_dict(theirs.linear1.state_dict())
    ours.mlp.outer.load_state_dict(theirs.linear2.state_dict())
    for own, other in (("self_norm", "norm1"), ("cross_norm", "norm2"), ("mlp_norm", "norm3")):
        copy_norm(getattr(ours, own), getattr(theirs, other))
    x, memory, mask = torch.randn(B, N, D), torch.randn(B, M, D), F.length_mask(LENGTHS, M)
    prepared = ours.prepare(memory)
    y, _ = ours(x, causal=True, memory=prepared, memory_mask=mask)
    expected = theirs(x, memory, tgt_mask=~F.causal_mask(N), memory_key_padding_mask=~mask)
    torch.testing.assert_close(y, expected)
    past, found = ours.self_attention.empty_cache(B), []
    for t in range(N):
        out, past, _ = ours.step(x[:, t : t + 1], past, prepared, mask)
        found.append(out)
    torch.testing.assert_close(torch.cat(found, 1), y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.MultiHeadAttention(10, 3), "divide the width, 10"),
        (lambda: nn.Block(8, 2, 8, norm="both"), "pre, post"),
        (lambda: nn.FeedForward(8, 8, "tanh"), "relu, gelu"),
        (lambda: nn.FeedForward(8, 8)(torch.zeros(2, 7)), r"width 8, but they are \(2, 7\)"),
        (lambda: nn.Block(8, 2, 8)(torch.zeros(1, 3, 8), memory=()), "with cross=True"),
        (lambda: nn.Positions(8, "rotary"), "sinusoidal, learned, none"),
        (lambda: nn.Positions(7), "should be even, but is 7"),
        (lambda: nn.Positions(8, "learned", 3)(torch.zeros(1, 4, 8)), "learned 3 positions"),
    ],
)
def test_bad_options_get_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_positions_are_added_and_may_begin_later():
    for kind in ("sinusoidal", "learned", "none"):
        positions = nn.Positions(8, kind, longest=100)
        x = torch.randn(2, 90, 8)
        torch.testing.assert_close(positions(x[:, 70:], first=70), positions(x)[:, 70:])
    expected = x + F.sinusoidal_encoding(90, 8)
    torch.testing.assert_close(nn.Positions(8)(x), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_positions_are_no_state_and_follow_what_they_are_added_to(dtype):
    """No buffers: processes that train together would copy one's, which may be longer, to all."""
    positions = nn.Positions(8)
    assert not list(positions.buffers()) and not positions.state_dict()
    with torch.inference_mode():
        positions(torch.zeros(1, 1000, 8, dtype=dtype))
    x = torch.zeros(1, 1000, 8, dtype=dtype, requires_grad=True)
    y = positions(x)
    assert y.dtype == dtype
    torch.testing.assert_close(y[0], F.sinusoidal_encoding(1000, 8).to(dtype))
    (y * y).sum().backward()
    torch.testing.assert_close(x.grad, 2 * y)
    assert positions(torch.zeros(1, 70, 8, device="meta")).device.type == "meta"
