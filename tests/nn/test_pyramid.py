"""The pyramid: the time axis halves, padding does not count, and torch's own LSTM agrees."""

import pytest
import torch

from seqcourse import functional as F
from seqcourse import nn


def test_neighbours_stand_side_by_side():
    x = torch.arange(5.0)[None, :, None] + 1  # 1 2 3 4 5
    pairs, lengths = F.pair_neighbours(x)
    assert pairs.tolist() == [[[1, 2], [3, 4], [5, 0]]]
    assert lengths.tolist() == [3]


def test_the_padding_of_an_odd_sequence_is_not_heard():
    """The third vector's neighbour is padding: zeros must come, not what stands there."""
    x = torch.full((2, 4, 1), 9.0)
    pairs, lengths = F.pair_neighbours(x, torch.tensor([3, 4]))
    assert pairs.tolist() == [[[9, 9], [9, 0]], [[9, 9], [9, 9]]]
    assert lengths.tolist() == [2, 2]


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 5, 7, 8])
def test_every_layer_halves_upwards(layers, length):
    states, lengths = nn.PyramidLSTM(3, 4, layers)(torch.randn(2, length, 3))
    expected = -(-length // 2**layers)
    assert states.shape == (2, expected, 8)
    assert lengths.tolist() == [expected] * 2


@pytest.mark.parametrize("path", ["fused", "readable"])
def test_a_padded_batch_equals_a_loop_over_single_sequences(path):
    torch.manual_seed(0)
    pyramid = nn.PyramidLSTM(3, 4, 2).double()
    lengths = torch.tensor([7, 1, 4, 6])
    x = torch.randn(4, 9, 3, dtype=torch.float64)
    states, after = pyramid(x, lengths, path=path)
    for row, length in enumerate(lengths.tolist()):
        alone, [expected] = pyramid(x[row : row + 1, :length], path=path)
        assert after[row] == expected
        torch.testing.assert_close(states[row, :expected], alone[0])
        assert not states[row, expected:].any()


def test_what_stands_in_the_padding_changes_nothing_and_gets_no_gradient():
    torch.manual_seed(0)
    pyramid = nn.PyramidLSTM(3, 4, 2)
    lengths = torch.tensor([5, 3])
    x = torch.randn(2, 8, 3, requires_grad=True)
    states, _ = pyramid(x, lengths)
    other = x.detach().clone()
    other[0, 5:], other[1, 3:] = 100.0, torch.nan
    torch.testing.assert_close(pyramid(other, lengths)[0], states)
    states.sum().backward()
    assert x.grad[0, :5].abs().min() > 0
    assert not x.grad[0, 5:].any()
    assert not x.grad[1, 3:].any()


def test_one_layer_equals_torch_on_pairs():
    torch.manual_seed(0)
    theirs = torch.nn.LSTM(6, 4, batch_first=True, bidirectional=True)
    ours = nn.PyramidLSTM(3, 4)
    ours.layers[0].load_state_dict(theirs.state_dict())
    x = torch.randn(2, 6, 3)
    expected, _ = theirs(torch.cat([x[:, 0::2], x[:, 1::2]], dim=-1))
    torch.testing.assert_close(ours(x)[0], expected)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="num_layers should be at least 1, but it is 0"):
        nn.PyramidLSTM(3, 4, 0)
    with pytest.raises(ValueError, match=r"should be \(B, T, D\), but they are \(5, 3\)"):
        nn.PyramidLSTM(3, 4)(torch.zeros(5, 3))
    with pytest.raises(ValueError, match=r"each of the 2 sequences, but lengths is \(1,\)"):
        nn.PyramidLSTM(3, 4)(torch.zeros(2, 5, 3), torch.tensor([5]))
