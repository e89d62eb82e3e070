"""Every model can be exported and compiled as one graph: nothing in it looks at a tensor's values."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqcourse import functional as F
from tests.device.test_models import MODELS, moved, tensors
from tests.sizes import nightly_but

ALWAYS = ["attention"]


class Tensors(nn.Module):
    """The tensors that a model gives: what is exported gives no records."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *given):
        return tensors(self.model(*given))


@pytest.fixture(autouse=True)
def forgotten():
    """What was compiled before is compiled again."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("name", nightly_but(ALWAYS, MODELS))
def test_a_model_is_one_graph(name):
    torch.manual_seed(0)
    make, inputs = MODELS[name]
    model, inputs = Tensors(make().eval()), tuple(moved(inputs, "cpu"))
    torch.manual_seed(1)  # one of them draws places
    wanted = model(*inputs)
    program = torch.export.export(model, inputs, strict=False).module()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    for found in (program, compiled):
        torch.manual_seed(1)
        for ours, theirs in zip(found(*inputs), wanted, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_a_graph_takes_other_lengths():
    """The mask is computed from the lengths that come, not from those that were seen."""

    class Masked(nn.Module):
        def forward(self, x, lengths):
            return x.masked_fill(~F.length_mask(lengths, x.shape[1]), 0)

    x, seen = torch.ones(2, 4), torch.tensor([4, 2])
    size = torch.export.Dim("size", min=2, max=9)
    program = torch.export.export(Masked(), (x, seen), dynamic_shapes=({1: size}, None)).module()
    assert program(torch.ones(2, 5), torch.tensor([1, 5])).sum(1).tolist() == [1, 5]
