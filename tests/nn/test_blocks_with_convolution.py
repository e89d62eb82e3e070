"""A convolution in a block: by hand, blind to padding, not for decoders."""

from __future__ import annotations

import pytest
import torch

from seqcourse import nn

X = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0))
REAL = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


def make(**options) -> nn.Block:
    torch.manual_seed(0)
    return nn.Block(8, 2, 16, **options).eval()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_it_is_a_block_behind_a_convolution(norm):
    whole, rest = make(norm=norm, kernel=3), make(norm=norm)
    rest.load_state_dict(whole.state_dict(), strict=False)
    weight, bias = whole.convolution.convolution.weight, whole.convolution.convolution.bias

    def convolved(x):
        """ReLU of the three neighbours' vectors times their matrices, place by place."""
        x = torch.nn.functional.pad(x, (0, 0, 1, 1))
        rows = [sum(weight[:, :, k] @ x[0, t + k] for k in range(3)) + bias for t in range(6)]
        return torch.relu(torch.stack(rows))[None]

    x, norm_of = X[:1], whole.convolution_norm
    between = norm_of(x + convolved(x)) if norm == "post" else x + convolved(norm_of(x))
    torch.testing.assert_close(whole(x)[0], rest(between)[0])


def test_what_is_no_real_vector_is_not_seen():
    block = make(kernel=5)
    other = X.clone()
    other[1, 4:] = 9.0
    before, after = block(X, REAL)[0], block(other, REAL)[0]
    torch.testing.assert_close(after[0], before[0])
    torch.testing.assert_close(after[1, :4], before[1, :4])
    alone = block(X[1:, :4])[0]  # and a shorter sequence alone gives the same
    torch.testing.assert_close(before[1:, :4], alone)


def test_it_is_for_encoders():
    block = make(kernel=3)
    with pytest.raises(ValueError, match="cannot be causal"):
        block(X, causal=True)
    with pytest.raises(ValueError, match="not one by one"):
        block.next(X[:, :1], block.self_attention.no_past(2))
    with pytest.raises(ValueError, match="tells which vectors are real"):
        block(X, REAL[:, None, :])
    with pytest.raises(ValueError, match="should be odd"):
        make(kernel=4)
