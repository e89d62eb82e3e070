"""No model makes a device wait: nothing asks it for numbers while a pass runs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from seqcourse import functional as F
from seqcourse.audit.second import NAME, SecondTensor
from tests.device.test_models import MODELS, both, moved
from tests.sizes import nightly_but

aten = torch.ops.aten
LOOKS = {aten._local_scalar_dense, aten.nonzero, aten.masked_select, aten.equal, aten.is_nonzero}
ALWAYS = ["attention", "transformer", "captions, soft", "classifier, gpt", "two streams"]
# PyTorch packs padded sequences, and unpacks them, by numbers on the CPU: an encoder waits twice.
PACKED = {"delayed", "fixed", "average", "attention", "general", "local"}


class Waits(TorchDispatchMode):
    """Counts the operations for which a GPU would be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        kind = operation.overloadpacket
        there = any(isinstance(each, SecondTensor) for each in args)
        to_cpu = kind is aten._to_copy and str(kwargs.get("device", NAME)).startswith("cpu")
        by_mask = kind is aten.index and any(
            each is not None and each.dtype == torch.bool for each in args[1]
        )
        if there and (kind in LOOKS or to_cpu or by_mask):
            self.seen.append(str(kind))
        return operation(*args, **kwargs)


@pytest.fixture
def waits(monkeypatch):
    """What counts, also the looks that PyTorch does not dispatch."""
    counting = Waits()
    plain = SecondTensor.tolist
    monkeypatch.setattr(
        SecondTensor, "tolist", lambda self: (counting.seen.append("tolist"), plain(self))[1]
    )
    return counting


@pytest.mark.parametrize("name", nightly_but(ALWAYS, MODELS))
def test_a_pass_makes_no_device_wait(name, waits):
    model = both(name)[1]
    inputs = moved(MODELS[name][1], NAME)
    with waits:
        model(*inputs)
    assert waits.seen == 2 * (["aten._to_copy"] if name in PACKED else [])


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x.sum().item(),
        lambda x: x.tolist(),
        lambda x: x.cpu(),
        lambda x: bool((x > 1).any()),
        lambda x: x[x > 1],
    ],
)
def test_a_look_is_counted(look, waits):
    x = torch.ones(3, device=NAME)
    with waits:
        look(x)
    assert waits.seen


def test_lengths_are_not_looked_at_there(waits):
    lengths = torch.tensor([9, 0], device=NAME)  # wrong, which only a look would tell
    with waits:
        F.length_mask(lengths, 4)
    assert not waits.seen
