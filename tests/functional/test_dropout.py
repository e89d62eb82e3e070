"""Dropout: the share, the mean, the gradient, and what is refused."""

import pytest
import torch
from torch.testing import assert_close

from seqcourse import functional as F
from seqcourse import nn, seed_everything


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_so_many_are_dropped_and_the_mean_stays(share):
    seed_everything(0)
    y = F.dropout(torch.ones(1000, 1001), share)
    assert abs((y == 0).double().mean() - share) < 0.004  # 1/512 of rounding, and chance
    assert abs(y.double().mean() - 1) < 0.006
    assert len(y.unique()) == 2


def test_neighbours_are_dropped_independently():
    """Masks of numbers that share a random word, and of those that do not, are uncorrelated."""
    seed_everything(1)
    dropped = (F.dropout(torch.ones(100_000, 16), 0.3) == 0).float()
    correlations = torch.corrcoef(dropped.T) - torch.eye(16)
    assert correlations.abs().max() < 0.02


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5, 11)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_any_shape_and_kind(shape, dtype):
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    y = F.dropout(x, 0.5)
    assert y.shape == x.shape and y.dtype == dtype
    y.sum().backward()
    assert_close(x.grad, (y.detach() != 0).to(dtype) * 2)  # what was dropped teaches nothing


def test_the_seed_decides():
    x = torch.ones(50)
    draws = []
    for seed in (3, 3, 4):
        seed_everything(seed)
        draws.append(F.dropout(x, 0.5))
    assert torch.equal(draws[0], draws[1]) and not torch.equal(draws[0], draws[2])


def test_the_module_is_silent_when_a_model_is_used():
    layer, x = nn.Dropout(0.5), torch.ones(100)
    assert (layer(x) == 0).any()
    assert layer.eval()(x) is x
    assert nn.Dropout(0.0)(x) is x
    assert "0.5" in repr(layer)


@pytest.mark.parametrize("share", [-0.1, 1.0, 2])
def test_other_shares_are_refused(share):
    with pytest.raises(ValueError, match="below 1, but it is"):
        nn.Dropout(share)
    with pytest.raises(ValueError, match="below 1, but it is"):
        F.dropout(torch.ones(2), share)
