"""The second device computes as the CPU does, and refuses what a GPU refuses."""

from __future__ import annotations

import numpy
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqcourse.audit.second import NAME, MixedDevices, SecondTensor


def here(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device=NAME)


MIXES = {
    "a sum": lambda: here(2) + torch.ones(2),
    "a sum, the other way round": lambda: torch.ones(2) + here(2),
    "joined": lambda: torch.cat([here(2), torch.ones(2)]),
    "a module of the CPU": lambda: torch.nn.Linear(2, 2)(here(2)),
    "a number where it is no number": lambda: torch.stack([here(), torch.tensor(1.0)]),
    "a table of the CPU": lambda: torch.ones(4)[torch.zeros(2, dtype=torch.int64, device=NAME)],
    "64 bits": lambda: here(2).double(),
    "64 bits from numbers": lambda: torch.tensor([1.0], dtype=torch.float64, device=NAME),
    "a generator of the CPU": lambda: here(2).exponential_(generator=torch.Generator()),
    "without gradients": lambda: torch.inference_mode()(lambda: here(2) @ torch.ones(2))(),
}


@pytest.mark.parametrize("mix", MIXES)
def test_mixes_are_refused(mix):
    with pytest.raises(MixedDevices):
        MIXES[mix]()


def test_numpy_sees_nothing_of_it():
    for look in (lambda x: x.numpy(), numpy.asarray):
        with pytest.raises((RuntimeError, TypeError)):
            look(here(2))
    assert here(2).cpu().numpy().tolist() == here(2).tolist() == [1.0, 1.0]


def test_what_a_gpu_allows():
    x = torch.arange(4.0, device=NAME)
    assert (x + torch.tensor(1.0)).tolist() == [1, 2, 3, 4]
    assert x[torch.tensor([3, 0])].tolist() == [3, 0]
    x[torch.tensor([0])] = 7.0
    assert x.unsqueeze_(0).shape == (1, 4) and x.cpu().to(NAME).device == x.device
    drawn = torch.rand(3, generator=torch.Generator(NAME).manual_seed(0), device=NAME)
    assert drawn.tolist() == torch.rand(3, generator=torch.Generator().manual_seed(0)).tolist()


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("packed", [False, True])
def test_recurrent_layers_compute_what_the_cpus_do(kind, packed):
    """Also the gradients: a GPU has fused cells for them, which this device does by hand."""
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(2, 3, num_layers=2, bidirectional=True, batch_first=True)
    x = torch.randn(3, 4, 2)

    def run(device: str) -> list[torch.Tensor]:
        layer.to(device).zero_grad()
        moved = x.to(device)
        if packed:
            moved = pack_padded_sequence(moved, torch.tensor([4, 2, 1]), batch_first=True)
        out = layer(moved)[0]
        out = pad_packed_sequence(out, batch_first=True)[0] if packed else out
        assert isinstance(out, SecondTensor) is (device == NAME)
        (out**2).sum().backward()
        return [out.detach().cpu(), *(p.grad.cpu() for p in layer.parameters())]

    for ours, theirs in zip(run(NAME), run("cpu"), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_draws_are_kept_apart_as_on_a_gpu():
    torch.manual_seed(0)
    with torch.random.fork_rng():
        inside = torch.rand(2, device=NAME).tolist()
    assert torch.rand(2, device=NAME).tolist() == inside
