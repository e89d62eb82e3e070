"""Recurrent layers: the readable path equals the fused one equals PyTorch's own modules."""

import pytest
import torch

from seqcourse import nn

TORCH = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
CELLS = {"rnn": torch.nn.RNNCell, "gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell}
OURS = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}


def flat(state):
    return state if isinstance(state, tuple) else (state,)


@pytest.mark.parametrize("kind", TORCH)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("path", ["readable", "fused"])
@pytest.mark.parametrize("padded", [False, True])
def test_layer_equals_torch_with_copied_weights(kind, layers, both, path, padded):
    torch.manual_seed(0)
    theirs = TORCH[kind](3, 4, layers, batch_first=True, bidirectional=both).double()
    ours = nn.Recurrent(kind, 3, 4, layers, both).double()
    ours.load_state_dict(theirs.state_dict())  # the names agree too
    x = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([2, 5, 3]) if padded else None
    outputs, state = ours(x, lengths, path=path)
    if padded:
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        packed, expected_state = theirs(packed)
        expected = torch.nn.utils.rnn.pad_packed_sequence(packed, True)[0]
    else:
        expected, expected_state = theirs(x)
    torch.testing.assert_close(outputs, expected)
    for a, b in zip(flat(state), flat(expected_state), strict=True):
        torch.testing.assert_close(a, b.transpose(0, 1))
    seed = torch.randn_like(outputs)
    got = torch.autograd.grad(outputs, [x, *ours.parameters()], seed)
    wanted = torch.autograd.grad(expected, [x, *theirs.parameters()], seed)
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("kind", TORCH)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
def test_outputs_without_packing_equal_those_with_it(kind, layers, both):
    torch.manual_seed(0)
    layer = nn.Recurrent(kind, 3, 4, layers, both).double()
    x = torch.randn(4, 6, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(layer.outputs(x), layer(x)[0])
    lengths = torch.tensor([2, 6, 1, 5])
    turned, packed = layer.outputs(x, lengths), layer(x, lengths)[0]
    torch.testing.assert_close(turned, packed)
    seed = torch.randn_like(packed)
    inputs = [x, *layer.parameters()]
    got, wanted = (torch.autograd.grad(y, inputs, seed) for y in (turned, packed))
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b)
    with pytest.raises(ValueError, match="between 1 and the padded length 6"):
        layer.outputs(x, torch.tensor([2, 6, 0, 5]))


@pytest.mark.parametrize("kind", TORCH)
def test_state_is_carried_on(kind):
    """Two halves, one after the other, give what the whole gives."""
    torch.manual_seed(0)
    layer = nn.Recurrent(kind, 3, 4, 2)
    x = torch.randn(2, 6, 3)
    whole, last = layer(x)
    for path in ("fused", "readable"):
        first, state = layer(x[:, :2], path=path)
        second, state = layer(x[:, 2:], state=state, path=path)
        torch.testing.assert_close(torch.cat([first, second], 1), whole)
        torch.testing.assert_close(flat(state), flat(last))


@pytest.mark.parametrize("kind", CELLS)
def test_cell_equals_torch(kind):
    torch.manual_seed(0)
    ours, theirs = OURS[kind](3, 4), CELLS[kind](3, 4)
    ours.load_state_dict(theirs.state_dict())
    x, h = torch.randn(2, 3), torch.randn(2, 4)
    state = (h, -h) if kind == "lstm" else h
    for a, b in zip(flat(ours(x, state)), flat(theirs(x, state)), strict=True):
        torch.testing.assert_close(a, b)


def test_unknown_kind_and_path_are_named():
    with pytest.raises(ValueError, match="rnn, gru, lstm.*'gated'"):
        nn.Recurrent("gated", 3, 4)
    with pytest.raises(ValueError, match="'fused' or 'readable'"):
        nn.Recurrent("gru", 3, 4)(torch.zeros(1, 2, 3), path="quick")


@pytest.mark.parametrize("path", ["readable", "fused"])
@pytest.mark.parametrize("kind", TORCH)
def test_one_step_of_one_sequence(kind, path):
    """The smallest input, T = 1 and B = 1, is one step of the cell."""
    torch.manual_seed(0)
    layer, cell = nn.Recurrent(kind, 3, 4), CELLS[kind](3, 4)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x = torch.randn(1, 1, 3)
    outputs, state = layer(x, torch.tensor([1]), path=path)
    expected = flat(cell(x[:, 0]))
    torch.testing.assert_close(outputs[:, 0], expected[0])
    for a, b in zip(flat(state), expected, strict=True):
        torch.testing.assert_close(a[:, 0], b)


@pytest.mark.parametrize("path", ["readable", "fused"])
@pytest.mark.parametrize(
    ("shape", "lengths", "message"),
    [
        ((5, 3), None, r"should be \(B, T, 3\), but they are \(5, 3\)"),
        ((2, 5, 4), None, r"should be \(B, T, 3\), but they are \(2, 5, 4\)"),
        ((2, 5, 3), [5], r"each of the 2 sequences, but lengths is \(1,\)"),
        ((2, 5, 3), [5, 0], "between 1 and the padded length 5, but they go from 0 to 5"),
        ((2, 5, 3), [6, 2], "between 1 and the padded length 5, but they go from 2 to 6"),
    ],
)
def test_inputs_that_do_not_fit_are_named(shape, lengths, message, path):
    lengths = None if lengths is None else torch.tensor(lengths)
    with pytest.raises(ValueError, match=message):
        nn.Recurrent("gru", 3, 4)(torch.zeros(shape), lengths, path=path)


@pytest.mark.parametrize("path", ["readable", "fused"])
@pytest.mark.parametrize("kind", TORCH)
@pytest.mark.parametrize("shape", [(1, 2, 4), (3, 1, 4), (3, 2, 1), (2, 3, 4)])
def test_a_state_of_another_shape_is_refused(shape, kind, path):
    """One row's state or one layer's would broadcast, and be given to all."""
    layer, x, state = nn.Recurrent(kind, 3, 4, 2), torch.zeros(3, 5, 3), torch.zeros(shape)
    state = (torch.zeros(3, 2, 4), state) if kind == "lstm" else state
    with pytest.raises(ValueError, match=rf"\(3, 2, 4\): batch first.* it is .*\({shape[0]}, "):
        layer(x, state=state, path=path)


def test_an_lstm_wants_two_states_and_a_gru_one():
    x, one = torch.zeros(3, 5, 3), torch.zeros(3, 1, 4)
    with pytest.raises(ValueError, match=r"a pair of \(3, 1, 4\).* it is \(3, 1, 4\)\."):
        nn.Recurrent("lstm", 3, 4)(x, state=one)
    with pytest.raises(ValueError, match=r"be \(3, 1, 4\).* it is \(3, 1, 4\) and \(3, 1, 4\)\."):
        nn.Recurrent("gru", 3, 4)(x, state=(one, one))


def test_no_layer_is_refused():
    with pytest.raises(ValueError, match="num_layers should be at least 1, but it is 0"):
        nn.Recurrent("gru", 3, 4, 0)
