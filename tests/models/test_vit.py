"""The Vision Transformer, the convolutional network beside it, and attention rollout."""

from __future__ import annotations

import pytest
import torch
from torch import nn as torch_nn

from seqcourse import functional as F
from seqcourse import models

IMAGES = torch.randn(3, 1, 12, 12, generator=torch.manual_seed(0), dtype=torch.float64)


def lively(model: torch_nn.Module) -> torch_nn.Module:
    """With larger numbers than a model begins with, so that nothing is close to anything."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.double().eval()


def vit(**options) -> models.ViT:
    sizes = {"size": 12, "patch": 4, "width": 16, "heads": 2, "layers": 2, **options}
    return lively(models.ViT(5, **sizes))


def test_it_is_pytorchs_encoder_on_a_convolutions_patches():
    ours = vit(hidden=24)
    conv = torch_nn.Conv2d(1, 16, 4, stride=4).double()
    layer = torch_nn.TransformerEncoderLayer(
        16, 2, 24, 0.0, "gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    theirs = torch_nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    with torch.no_grad():
        conv.weight.copy_(ours.embed.project.weight.view_as(conv.weight))
        conv.bias.copy_(ours.embed.project.bias)
        for block, own in zip(theirs.layers, ours.blocks, strict=True):
            block.self_attn.in_proj_weight.copy_(own.self_attention.in_weight)
            block.self_attn.in_proj_bias.copy_(own.self_attention.in_bias)
            block.self_attn.out_proj.load_state_dict(own.self_attention.out.state_dict())
            block.linear1.load_state_dict(own.mlp.inner.state_dict())
            block.linear2.load_state_dict(own.mlp.outer.state_dict())
            for norm, mine in ((block.norm1, own.self_norm), (block.norm2, own.mlp_norm)):
                norm.weight.copy_(mine.gamma)
                norm.bias.copy_(mine.beta)
        x = conv(IMAGES).flatten(2).transpose(1, 2)
        x = torch.cat([ours.class_token.expand(3, 1, 16), x], 1) + ours.positions.table
        expected = ours.head(ours.norm(theirs(x))[:, 0])
    torch.testing.assert_close(ours(IMAGES), expected)


def test_without_positions_the_order_of_the_patches_is_lost():
    model = vit()
    moved = IMAGES.roll(4, dims=3)  # the same patches in other places
    assert not torch.allclose(model(moved), model(IMAGES))
    with torch.no_grad():
        model.positions.table.zero_()
    torch.testing.assert_close(model(moved), model(IMAGES))


def test_maps_are_weights_and_leave_the_result_as_it_is():
    model = vit()
    maps = model.maps(IMAGES)
    assert maps.shape == (3, 2, 2, 10, 10)
    torch.testing.assert_close(maps.sum(-1), torch.ones(3, 2, 2, 10, dtype=torch.float64))
    x = model.tokens(IMAGES)
    assert x.shape == (3, 10, 16)
    _, (weights, _) = model.blocks[0](x, need_weights=True)
    torch.testing.assert_close(maps[:, 0], weights)


def test_rollout_of_one_layer_of_none_and_of_a_chain():
    weights = torch.rand(2, 3, 4, 5, 5, dtype=torch.float64, generator=torch.manual_seed(0)).softmax(-1)
    one = F.attention_rollout(weights[:, :1])
    torch.testing.assert_close(one, 0.5 * torch.eye(5).double() + 0.5 * weights[:, 0].mean(1))
    rolled = F.attention_rollout(weights)
    torch.testing.assert_close(rolled.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    first, second, third = (0.5 * torch.eye(5).double() + 0.5 * w for w in weights.mean(2).unbind(1))
    torch.testing.assert_close(rolled, third @ second @ first)  # the last layer reads first
    torch.testing.assert_close(F.attention_rollout(weights, 1.0), torch.eye(5).double().expand(2, 5, 5))
    # Place 2 reads 1 in the second layer only, 1 reads 0 in the first: 2 has something of 0.
    chain = torch.eye(3).repeat(1, 2, 1, 1, 1)
    chain[0, 0, 0, 1] = torch.tensor([1.0, 0, 0])
    chain[0, 1, 0, 2] = torch.tensor([0, 1.0, 0])
    torch.testing.assert_close(F.attention_rollout(chain)[0, 2], torch.tensor([0.25, 0.25, 0.5]))
    assert F.attention_rollout(chain.flip(1))[0, 2, 0] == 0  # in the other order it has not


def test_a_convolutional_network_does_not_care_where_far_from_the_border():
    model = lively(models.ConvNet(5, stages=(4, 8)))
    image = torch.zeros(1, 1, 24, 24, dtype=torch.float64)
    image[:, :, 8:12, 8:12] = torch.randn(4, 4, dtype=torch.float64)
    torch.testing.assert_close(model(image.roll(2, 3)), model(image))
    assert model.layers(image).shape == (1, 8, 12, 12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vit(patch=5), "12 pixels, but it has 5"),
        (lambda: F.attention_rollout(torch.ones(2, 3, 5, 5)), r"\(B, layers, H, N, N\)"),
        (lambda: F.attention_rollout(torch.ones(1, 1, 1, 2, 2), 2.0), "between 0 and 1"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()
