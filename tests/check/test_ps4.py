"""The examples with numbers in the text of assignment 4, and what its own checks rest on."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqcourse import functional
from seqcourse.check import Mistake, ps4
from seqcourse.check.inside.ps4 import LAYERS
from tests.check.texts import tensor, texts

TEXT = texts("ps4")


def test_similarities():
    e = ps4.similarities.reference(tensor([[[1, 2, 0, 1]]]), tensor([[[2, 1, 5, 0], [0, 0, 3, 6]]]))
    assert e.tolist() == [[[2, 3]]]
    assert "the root of $D$ is 2: `[[[2, 3]]]`" in TEXT["ps4-similarities-md"]


def test_attention():
    q, k, v = tensor([[1]]), tensor([[0], [math.log(3)]]), tensor([[4, 0], [0, 8]])
    y, weights = ps4.attention.reference(q, k, v)
    assert torch.allclose(weights, tensor([[0.25, 0.75]])) and torch.allclose(y, tensor([[1, 6]]))
    assert "`[[0.25, 0.75]]`" in TEXT["ps4-attention-md"] and "`[[1, 6]]`" in TEXT["ps4-attention-md"]


def test_cross_attention():
    y, weights = ps4.cross_attention.reference(
        tensor([[[2]]]), tensor([[[0], [1]]]), tensor([[math.log(3)]]), tensor([[0.5]]), tensor([[8]])
    )
    assert torch.allclose(weights, tensor([[[0.25, 0.75]]])) and torch.allclose(y, tensor([[[6]]]))
    assert "the output is `[[[6]]]`" in TEXT["ps4-cross_attention-md"]


def test_self_attention():
    layer = ps4.SelfAttention.reference(1, 1, 1)
    for part, number in ((layer.w_q, 1.0), (layer.w_k, 1.0), (layer.w_v, 2.0)):
        nn.init.constant_(part.weight, number)
    y = layer(torch.tensor([[[0.0], [1.0]]]))
    assert [round(number, 3) for number in y.flatten().tolist()] == [1, 1.462]
    assert "`[[[1], [1.462]]]`" in TEXT["ps4-SelfAttention-md"]
    weights = torch.softmax(tensor([0, 1]), dim=0)
    assert [f"{a:.3f}" for a in weights] == ["0.269", "0.731"]


def test_equivariance_gap():
    gap = ps4.equivariance_gap.reference(
        lambda x: x + 10 * torch.arange(x.shape[1])[:, None],
        tensor([[[1], [2], [3]]]),
        torch.tensor([[1, 2, 0]]),
    )
    assert gap == 20 and "the gap is 20" in TEXT["ps4-equivariance_gap-md"]


def test_positional_encoding():
    positions = tensor([0, 1])
    rows = ps4.positional_encoding.reference(positions, 4).tolist()
    assert rows[0] == [0, 1, 0, 1]
    assert [f"{x:.3f}" for x in rows[1]] == ["0.841", "0.540", "0.010", "1.000"]
    odd = ps4.positional_encoding.reference(positions, 3)[1].tolist()
    assert [f"{x:.3f}" for x in odd] == ["0.841", "0.540", "0.002"]
    assert f"{10_000 ** (-2 / 3):.5f}" == "0.00215"
    for row in ("`[0, 1, 0, 1]`", "`[0.841, 0.540, 0.010, 1.000]`", "`[0.841, 0.540, 0.002]`"):
        assert row in TEXT["ps4-positional_encoding-md"]


@pytest.mark.parametrize("width", [1, 5, 9])
def test_odd_encodings_are_the_formula_term_by_term(width):
    p = ps4.positional_encoding.reference(tensor([7.5]), width)[0]
    for column in range(width):
        angle = 7.5 * 10_000 ** (-2 * (column // 2) / width)
        wave = math.sin(angle) if column % 2 == 0 else math.cos(angle)
        assert p[column].item() == pytest.approx(wave, abs=1e-12)


def test_shift_matrix():
    m = ps4.shift_matrix.reference(math.pi / 2, 2)
    assert torch.allclose(m, tensor([[0, 1], [-1, 0]]))
    assert torch.allclose(m @ tensor([0, 1]), tensor([1, 0]))
    assert "`[[0, 1], [-1, 0]]`" in TEXT["ps4-shift_matrix-md"]


def test_local_attention():
    zeros = tensor([[[0]] * 4]).reshape(1, 4, 1)
    _, weights = ps4.local_attention.reference(zeros, zeros, zeros, 1)
    assert torch.allclose(weights[0, 0], tensor([0.5, 0.5, 0, 0]))
    assert torch.allclose(weights[0, 1], tensor([1, 1, 1, 0]) / 3)
    assert "`[0.5, 0.5, 0, 0]`" in TEXT["ps4-local_attention-md"]


def test_relative_attention():
    q, k, table = tensor([[[1]] * 3]), tensor([[[0]] * 3]), tensor([[2], [1], [4]]).log()
    weights = ps4.relative_attention.reference(q, k, k, table)[1]
    wanted = tensor([[[1 / 9, 4 / 9, 4 / 9], [2 / 7, 1 / 7, 4 / 7]]])
    assert torch.allclose(weights[:, :2], wanted)
    for told in (r"$\frac19, \frac49, \frac49$", r"$\frac27, \frac17, \frac47$"):
        assert told in TEXT["ps4-relative_attention-md"]


def test_attention_backward():
    q, k, v, grad = tensor([[[1]]]), tensor([[[1], [3]]]).log(), tensor([[[1], [5]]]), tensor([[[2]]])
    to_q, to_k, to_v = ps4.attention_backward.reference(q, k, v, grad)
    assert torch.allclose(to_q, 1.5 * k[:, 1:])
    assert torch.allclose(to_k[0, :, 0], tensor([-1.5, 1.5]))
    assert torch.allclose(to_v[0, :, 0], tensor([0.5, 1.5]))
    for told in (r"(\frac12, \frac32)", r"\frac32 \ln 3", r"(-\frac32, \frac32)"):
        assert told in TEXT["ps4-attention_backward-md"]


@pytest.mark.parametrize("seed", range(10))
def test_layers_of_the_gap_are_what_their_kind_says(seed):
    for kind in LAYERS:
        given = ps4.equivariance_gap.make(kind, 2, 6, 3, 4, seed=seed)
        gap = ps4.equivariance_gap.reference(**given)
        assert (gap < 1e-12) if kind in ("set", "alone", "average") else (gap > 0.1)


@pytest.mark.parametrize("seed", range(10))
def test_inputs_that_overflow_do_so(seed):
    given = ps4.attention.make([2], 4, 5, 3, 4, apart=True, seed=seed)
    e = ps4.similarities.reference(given["q"], given["k"])
    assert (e[:, ::2] > 900).all() and (e[:, 1::2] < -900).all()
    assert (ps4.attention.reference(**given)[1].amax(-1) < 1 - 1e-9).all()
    local = ps4.local_attention.make(2, 10, 3, 2, width=2, hidden=True, seed=seed)
    e = ps4.similarities.reference(local["q"], local["k"])
    assert (e[..., -1] > e[..., :-1].amax(-1) + 900).all()


def test_a_class_is_asked_for():
    with pytest.raises(Mistake, match="should be a class, but is a function"):
        ps4.SelfAttention(lambda d_x, d_q, d_v: None)


def test_a_class_that_answers_in_another_dtype_is_told():
    """A layer that makes double precision inside is right in its numbers and wrong in its dtype."""

    class Layer(nn.Module):
        def __init__(self, d_x, d_q, d_v):
            super().__init__()
            self.w_q, self.w_k = (nn.Linear(d_x, d_q, bias=False) for _ in range(2))
            self.w_v = nn.Linear(d_x, d_v, bias=False)

        def forward(self, x):
            return functional.attention(self.w_q(x), self.w_k(x), self.w_v(x))[0].double()

    with pytest.raises(Mistake, match="dtype should be torch.float32"):
        ps4.SelfAttention(Layer)
