"""The step formulas against PyTorch's cells: values and gradients."""

import pytest
import torch

from seqcourse import functional as F
from seqcourse import nn

CELLS = [
    (torch.nn.RNNCell, F.rnn_step, 1),
    (torch.nn.GRUCell, F.gru_step, 3),
    (torch.nn.LSTMCell, F.lstm_step, 4),
]


def run(step, x, state, weights):
    out = step(x, state, *weights)
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize(("make", "step", "gates"), CELLS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_step_equals_torch_in_value_and_gradient(make, step, gates, bias, dtype):
    torch.manual_seed(1)
    cell = make(5, 3, bias=bias).to(dtype)
    x = torch.randn(4, 5, dtype=dtype, requires_grad=True)
    h = torch.randn(4, 3, dtype=dtype)
    state = (h, h + 1) if gates == 4 else h
    weights = [p.detach().clone().requires_grad_() for p in cell.parameters()]
    ours, theirs = run(step, x, state, weights), cell(x, state)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)
    seed = [torch.randn_like(a) for a in ours]
    got = torch.autograd.grad(ours, [x, *weights], seed)
    expected = torch.autograd.grad(theirs, [x, *cell.parameters()], seed)
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_vanilla_step_by_hand():
    """x = 1, h = 2, weights 0.5 and -0.25, biases 0.1 and 0.2: tanh(0.5 - 0.5 + 0.3)."""
    one = lambda value: torch.tensor([[value]])  # noqa: E731
    h = F.rnn_step(one(1.0), one(2.0), one(0.5), one(-0.25), torch.tensor([0.1]), torch.tensor([0.2]))
    assert h.item() == pytest.approx(0.2913126, abs=1e-6)


def test_update_gate_closed_keeps_the_state():
    """A large bias on the update gate's rows makes z = 1, so that h' = h."""
    h = torch.randn(2, 3)
    bias = torch.zeros(9)
    bias[3:6] = 100.0
    new = F.gru_step(torch.randn(2, 4), h, torch.randn(9, 4), torch.zeros(9, 3), bias)
    torch.testing.assert_close(new, h)


@pytest.mark.parametrize(
    ("x", "h", "words"),
    [
        ((2, 3), (2, 6), r"The input of {} takes vectors of width 4, but they are \(2, 3\)"),
        ((2, 4), (2, 5), r"The state of {} takes vectors of width 6, but they are \(2, 5\)"),
        ((2, 4), (1, 6), r"{} needs a state for each input, but they are \(1, 6\) and \(2, 4\)"),
    ],
)
@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_widths_and_batches_that_do_not_fit_are_named(cell, x, h, words):
    state = torch.zeros(h)
    with pytest.raises(ValueError, match=words.format(f"{cell.kind}_step")):
        cell(4, 6)(torch.zeros(x), (state, state) if cell is nn.LSTMCell else state)


def test_a_cell_state_of_another_width_is_refused():
    weights = (torch.zeros(8, 3), torch.zeros(8, 2))
    with pytest.raises(ValueError, match=r"hidden state's shape, but they are \(1, 5\) and \(1, 2\)"):
        F.lstm_step(torch.zeros(1, 3), (torch.zeros(1, 2), torch.zeros(1, 5)), *weights)
