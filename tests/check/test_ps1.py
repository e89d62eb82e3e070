"""The examples with numbers in the text of assignment 1."""

from __future__ import annotations

import math

import pytest
import torch

from seqcourse import functional
from seqcourse.check import ps1
from tests.check.texts import texts

TEXT = texts("ps1")


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor([[number] for number in numbers], dtype=torch.float64)


def test_rnn_step():
    tensors = ([[1.0, 2]], [[0.5]], [[0.1, 0.2]], [[0.4]], [0.1], [-0.2])
    h = functional.rnn_step(*(torch.tensor(values) for values in tensors))
    assert f"{h.item():.3f}" == "0.537"
    assert r"$\tanh(0.6) = 0.537$" in TEXT["ps1-rnn_step-md"]


def test_training_pairs():
    inputs, targets = ps1.training_pairs.reference(torch.arange(8), 3)
    rows = ["".join("abcdefgh"[i] for i in row) for row in (*inputs, *targets)]
    assert rows == ["abc", "def", "bcd", "efg"]
    assert "Inputs: `abc`, `def`. Targets: `bcd`, `efg`." in TEXT["ps1-training_pairs-md"]


def test_lstm_step():
    zero = torch.zeros(4, dtype=torch.float64)
    state = (column(0), column(2))
    h, c = functional.lstm_step(column(1), state, column(0, 1, 2, 3), column(0, 0, 0, 0), zero, zero)
    assert f"{c.item():.3f}" == "1.944" and f"{h.item():.3f}" == "0.914"
    assert "= 1.944$" in TEXT["ps1-lstm_step-md"] and "= 0.914$" in TEXT["ps1-lstm_step-md"]


def test_forward():
    def step(x, h):
        return x + h

    x, h = column(1, 2, 3)[None], column(0)
    outputs, last = ps1.forward.reference(step, x, h)
    assert outputs.tolist() == [[[1], [3], [6]]] and last.tolist() == [[6]]
    outputs, last = ps1.forward.reference(step, x, h, torch.tensor([2]))
    assert outputs.tolist() == [[[1], [3], [0]]] and last.tolist() == [[3]]
    assert "`[[[1], [3], [0]]]` and `[[3]]`" in TEXT["ps1-forward-md"]


@pytest.mark.parametrize(("temperature", "likely"), [(1.0, 0.75), (0.5, 0.9), (2.0, 0.634)])
def test_draw(temperature, likely):
    logits = torch.tensor([0, math.log(3)], dtype=torch.float64)
    assert functional.softmax(logits / temperature)[1].item() == pytest.approx(likely, abs=5e-4)


def test_continue_text():
    def step(tokens, total):
        total = total + tokens
        return torch.nn.functional.one_hot(total % 5, 5), total

    written = ps1.continue_text.reference(
        step, torch.tensor([0]), torch.tensor([[1, 2]]), 3, lambda logits: logits.argmax(-1)
    )
    assert written.tolist() == [[3, 1, 2]]
    assert "returns `[[3, 1, 2]]`" in TEXT["ps1-continue_text-md"]


def test_gradient_norms():
    norms = ps1.gradient_norms.reference(lambda x, h: x + 0.5 * h, column(1, 2, 3)[None], column(0))
    assert norms.tolist() == [[0.25, 0.5, 1]]
    assert "`[[0.25, 0.5, 1]]`" in TEXT["ps1-gradient_norms-md"]
