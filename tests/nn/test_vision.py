"""Patches and co-attention: parity with PyTorch's modules, and what masks and order must do."""

from __future__ import annotations

import pytest
import torch
from torch import nn as torch_nn

from seqcourse import functional as F
from seqcourse import nn

B, N, M, D, H = 3, 6, 5, 12, 3
LENGTHS = torch.tensor([5, 3, 1])


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def test_patches_are_cut_as_one_reads():
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    expected = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    assert F.patches(image, 2)[0].tolist() == expected
    both = torch.stack([image[0, 0], -image[0, 0]])[None]
    assert F.patches(both, 2)[0, 0].tolist() == [0, 1, 4, 5, 0, -1, -4, -5]
    wide = torch.randn(2, 3, 4, 6)
    assert F.patches(wide, 2).shape == (2, 6, 12)
    torch.testing.assert_close(F.patches(wide, 2)[:, 4], wide[:, :, 2:4, 2:4].flatten(1))


def test_an_embedding_of_patches_is_a_strided_convolution():
    ours = nn.PatchEmbedding(4, 3, D)
    theirs = torch_nn.Conv2d(3, D, 4, stride=4)
    with torch.no_grad():
        theirs.weight.copy_(ours.project.weight.view_as(theirs.weight))
        theirs.bias.copy_(ours.project.bias)
    image = torch.randn(2, 3, 8, 12)
    torch.testing.assert_close(ours(image), theirs(image).flatten(2).transpose(1, 2))
    turned = image.transpose(2, 3).contiguous().transpose(2, 3)  # another order in memory
    torch.testing.assert_close(ours(turned), ours(image))


def torch_stream(x, y, attention, norm, mlp, mlp_norm, kind, other_norm, mask):
    """One direction of co-attention, put together from PyTorch's own modules."""
    theirs = torch_nn.MultiheadAttention(D, H, batch_first=True)
    layers = [torch_nn.LayerNorm(D) for _ in range(3)]
    first, last = torch_nn.Linear(D, 20), torch_nn.Linear(20, D)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(attention.in_weight)
        theirs.in_proj_bias.copy_(attention.in_bias)
        theirs.out_proj.load_state_dict(attention.out.state_dict())
        for layer, ours in zip(layers, (norm, mlp_norm, other_norm), strict=True):
            layer.weight.copy_(ours.gamma)
            layer.bias.copy_(ours.beta)
        first.load_state_dict(mlp.inner.state_dict())
        last.load_state_dict(mlp.outer.state_dict())
    one, two, other = layers
    q, kv = (one(x), other(y)) if kind == "pre" else (x, y)
    read, weights = theirs(q, kv, kv, key_padding_mask=~mask, average_attn_weights=False)
    x = x + read
    if kind == "pre":
        return x + last(torch.relu(first(two(x)))), weights
    x = one(x)
    return two(x + last(torch.relu(first(x)))), weights


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_co_attention_is_what_pytorchs_modules_give(kind):
    layer = nn.CoAttention(D, H, 20, norm=kind)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.5)
    x, y = torch.randn(B, N, D), torch.randn(B, M, D)
    x_mask, y_mask = F.length_mask(torch.tensor([6, 2, 4]), N), F.length_mask(LENGTHS, M)
    to_x, to_y, (x_weights, y_weights) = layer(x, y, x_mask, y_mask, need_weights=True)
    left = (layer.x_attention, layer.x_norm, layer.x_mlp, layer.x_mlp_norm, kind, layer.y_norm)
    right = (layer.y_attention, layer.y_norm, layer.y_mlp, layer.y_mlp_norm, kind, layer.x_norm)
    expected_x, expected_x_weights = torch_stream(x, y, *left, y_mask)
    expected_y, expected_y_weights = torch_stream(y, x, *right, x_mask)
    torch.testing.assert_close(to_x, expected_x)
    torch.testing.assert_close(to_y, expected_y)
    torch.testing.assert_close(x_weights, expected_x_weights)
    torch.testing.assert_close(y_weights, expected_y_weights)
    fused = layer(x, y, x_mask, y_mask)
    torch.testing.assert_close(fused[0], to_x)
    torch.testing.assert_close(fused[1], to_y)
    assert fused[2] == (None, None)


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_hidden_words_do_not_matter_and_get_no_weight(kind):
    layer = nn.CoAttention(D, H, 20, norm=kind)
    x, y = torch.randn(B, N, D), torch.randn(B, M, D)
    mask = F.length_mask(LENGTHS, M)
    before, _, (weights, _) = layer(x, y, None, mask, need_weights=True)
    other = torch.where(mask[..., None], y, torch.randn(B, M, D) * 100)
    torch.testing.assert_close(layer(x, other, None, mask)[0], before)
    assert (weights.transpose(2, 3)[~mask[:, None].expand(B, H, M)] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, N))
    assert not torch.allclose(layer(x, other)[0], before)  # without the mask they do


def test_one_stream_is_a_set_for_the_other():
    layer = nn.CoAttention(D, H, 20)
    x, y, order = torch.randn(B, N, D), torch.randn(B, M, D), torch.randperm(M)
    x_out, y_out, _ = layer(x, y)
    x_again, y_again, _ = layer(x, y[:, order])
    torch.testing.assert_close(x_again, x_out)  # invariant
    torch.testing.assert_close(y_again, y_out[:, order])  # equivariant


def test_inside_a_stream_no_vector_sees_another():
    layer = nn.CoAttention(D, H, 20)
    x, y = torch.randn(B, N, D), torch.randn(B, M, D)
    changed = x.clone()
    changed[:, 0, 0] += 1  # not all coordinates: a normalisation takes such a shift out
    torch.testing.assert_close(layer(changed, y)[0][:, 1:], layer(x, y)[0][:, 1:])
    assert not torch.allclose(layer(changed, y)[1], layer(x, y)[1])  # but the other stream does


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: F.patches(torch.zeros(1, 3, 10, 8), 4), "10 x 8"),
        (lambda: F.patches(torch.zeros(3, 8, 8), 4), r"\(B, C, H, W\)"),
        (lambda: nn.PatchEmbedding(4, 3, 8)(torch.zeros(1, 1, 8, 8)), r"\(B, 3, H, W\)"),
        (lambda: nn.PatchEmbedding(0, 3, 8), "at least 1"),
        (lambda: nn.GridEncoder(16)(torch.full((1, 3, 64, 64), 200.0)), "from 0 to 1, but .* up to 200"),
        (lambda: nn.GridEncoder(16)(torch.ones(1, 3, 64, 64, dtype=torch.int64)), "torch.int64 up to 1"),
        (lambda: nn.LayerNorm(8)(torch.zeros(2, 7)), r"width 8, but they are \(2, 7\)"),
        (lambda: nn.RMSNorm(8)(torch.zeros(2, 7)), r"width 8, but they are \(2, 7\)"),
        (lambda: nn.MultiHeadAttention(8, 2)(torch.zeros(1, 3, 7)), "width 8"),
        (lambda: nn.MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8), torch.zeros(1, 2, 9)), "memory of"),
        (lambda: nn.Block(8, 2, 8, cross=True)(torch.zeros(1, 3, 8)), r"memory=block.prepare\(states\)"),
        (lambda: nn.CoAttention(8, 2, 8, norm="both"), "pre, post"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_places_of_a_grid_start_as_waves_or_as_noise():
    waves = nn.GridEncoder(16, 32)
    torch.testing.assert_close(waves.places.detach(), F.grid_encoding(4, 4, 16), check_dtype=False)
    assert nn.GridEncoder(6, 32, places="noise").places.std() < 0.2
    with pytest.raises(ValueError, match="one of waves, noise, but it is 'zeros'"):
        nn.GridEncoder(16, 32, places="zeros")


def test_a_grid_knows_where_it_has_seen_something():
    """The same thing one place further to the right: the vectors differ by their places alone."""
    torch.manual_seed(0)
    encoder = nn.GridEncoder(16, 64).eval()
    pictures = torch.zeros(2, 3, 64, 64)
    pictures[0, :, 25:31, 25:31] = pictures[1, :, 25:31, 33:39] = 1.0
    seen = encoder(pictures).detach()
    left, right = (seen - encoder.places.detach()).view(2, 8, 8, 16)
    torch.testing.assert_close(left[3, 3], right[3, 4])
    left, right = seen.view(2, 8, 8, 16)
    assert (left[3, 3] - right[3, 4]).abs().max() > 0.3
