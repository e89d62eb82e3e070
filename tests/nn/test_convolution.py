"""The three layers of one interface, and attention over a feature map."""

from __future__ import annotations

import pytest
import torch

from seqcourse import functional as F
from seqcourse import nn

B, N, D = 2, 11, 8


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def influence(layer, size: int = N) -> torch.Tensor:
    """(N, N): whether output i depends on input j."""
    x = torch.randn(1, size, D)
    jacobian = torch.autograd.functional.jacobian(lambda z: layer(z)[0].sum(-1), x)  # (N, 1, N, D)
    return jacobian[:, 0].abs().amax(-1) > 0


LAYERS = {
    "convolution": lambda: nn.ConvolutionLayer(D, 3),
    "causal convolution": lambda: nn.ConvolutionLayer(D, 4, 2, causal=True),
    "rnn": lambda: nn.RecurrentLayer(D, "rnn"),
    "lstm": lambda: nn.RecurrentLayer(D, "lstm"),
    "attention": lambda: nn.SelfAttentionLayer(D, 2),
    "causal attention": lambda: nn.SelfAttentionLayer(D, 2, causal=True),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("size", [1, 2, 11])
def test_all_keep_the_shape(name, size):
    layer, x = LAYERS[name](), torch.randn(B, size, D)
    assert layer(x).shape == x.shape
    torch.testing.assert_close(layer(x)[1:], layer(x[1:]))


@pytest.mark.parametrize(("kernel", "dilation"), [(3, 1), (5, 1), (3, 2), (1, 3)])
def test_a_convolution_is_its_sum(kernel, dilation):
    layer, x = nn.ConvolutionLayer(D, kernel, dilation), torch.randn(B, N, D)
    w, b = layer.convolution.weight, layer.convolution.bias  # (D, D, K)
    y = b.expand(B, N, D).clone()
    middle = dilation * (kernel - 1) // 2
    for t in range(N):
        for k in range(kernel):
            s = t - middle + k * dilation
            if 0 <= s < N:
                y[:, t] += x[:, s] @ w[:, :, k].T
    torch.testing.assert_close(layer(x), y)


@pytest.mark.parametrize(("kernel", "dilation"), [(2, 1), (3, 1), (3, 2), (4, 3)])
def test_a_causal_convolution_sees_itself_and_the_past(kernel, dilation):
    i, j = torch.meshgrid(torch.arange(N), torch.arange(N), indexing="ij")
    back = i - j
    expected = (back >= 0) & (back % dilation == 0) & (back <= dilation * (kernel - 1))
    assert torch.equal(influence(nn.ConvolutionLayer(D, kernel, dilation, causal=True)), expected)


def test_who_sees_whom():
    assert torch.equal(influence(LAYERS["rnn"]()), F.causal_mask(N))
    assert torch.equal(influence(LAYERS["causal attention"]()), F.causal_mask(N))
    assert influence(LAYERS["attention"]()).all()


@pytest.mark.parametrize(("kernel", "dilation", "causal"), [(3, 1, False), (3, 2, True), (5, 1, False)])
def test_layers_to_reach_is_what_it_takes(kernel, dilation, causal):
    far = 8  # a multiple of what each of these layers reaches, so dilation leaves no gap
    layer = nn.ConvolutionLayer(D, kernel, dilation, causal)
    enough = layer.layers_to_reach(far)
    for count, reached in ((enough, True), (enough - 1, False)):
        many = torch.nn.Sequential(
            *(nn.ConvolutionLayer(D, kernel, dilation, causal) for _ in range(count))
        )
        assert bool(influence(many)[far, 0]) is reached
    assert (
        nn.RecurrentLayer(D).layers_to_reach(100) == nn.SelfAttentionLayer(D).layers_to_reach(100) == 1
    )


def test_parallel_steps():
    assert nn.RecurrentLayer(D).steps(100) == 100
    assert nn.ConvolutionLayer(D).steps(100) == nn.SelfAttentionLayer(D).steps(100) == 1


def test_attention_with_and_without_weights_is_the_same():
    layer, x = LAYERS["attention"](), torch.randn(B, N, D)
    torch.testing.assert_close(layer(x), layer(x, need_weights=True))


def test_a_feature_map_is_a_set_of_places():
    module, x = nn.FeatureMapAttention(D, 3), torch.randn(B, D, 4, 5)
    y, weights = module(x, need_weights=True)
    assert torch.equal(y, x)  # gamma starts at 0
    with torch.no_grad():
        module.gamma.fill_(0.7)
    y, weights = module(x, need_weights=True)
    assert y.shape == x.shape and weights.shape == (B, 20, 20)
    torch.testing.assert_close(module(x)[0], y)
    places = x.flatten(2).transpose(1, 2)  # (B, H W, C): the same by linear layers

    def linear(part, z):
        return z @ part.weight[:, :, 0, 0].T + part.bias

    q, k, v = (linear(part, places) for part in (module.query, module.key, module.value))
    expected = torch.softmax(q @ k.transpose(1, 2) / 3**0.5, -1)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(
        y.flatten(2).transpose(1, 2), places + 0.7 * linear(module.out, expected @ v)
    )
    order = torch.randperm(20)
    mixed = x.flatten(2)[:, :, order].unflatten(2, (4, 5))
    torch.testing.assert_close(module(mixed)[0].flatten(2), y.flatten(2)[:, :, order])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.ConvolutionLayer(D, 4), "odd"),
        (lambda: nn.ConvolutionLayer(D, 0), "at least 1"),
        (lambda: nn.ConvolutionLayer(D, 1).layers_to_reach(3), "kernel of 1"),
        (lambda: nn.RecurrentLayer(D, "transformer"), "rnn, gru, lstm"),
        (lambda: nn.SelfAttentionLayer(D, 3), "divide the width"),
        (lambda: nn.FeatureMapAttention(0), "at least 1"),
        (lambda: nn.FeatureMapAttention(4)(torch.zeros(1, 3, 2, 2)), r"\(B, 4, H, W\)"),
    ],
)
def test_bad_options_get_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()
