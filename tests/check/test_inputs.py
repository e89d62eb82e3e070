"""The way of inputs into the sandbox: what comes out is equal, independent, and laid out alike."""

import pickle
from functools import partial

import pytest
import torch

from seqcourse.check.calls.inputs import noncontiguous, packed

ORDINARY = {
    "a matrix": torch.randn(3, 4, dtype=torch.float64),
    "a number": torch.tensor(2.5),
    "no entries": torch.empty(0, 3),
    "words": torch.arange(6).view(2, 3),
    "a mask": torch.tensor([True, False]),
    "half precision": torch.ones(2, dtype=torch.float16),
}
SPECIAL = {
    "bfloat16": torch.ones(2, dtype=torch.bfloat16),
    "not contiguous": noncontiguous(torch.randn(3, 4)),
    "every second one": noncontiguous(torch.arange(5)),
    "expanded": torch.ones(3, 1).expand(3, 4),
    "a part of a larger one": torch.arange(10.0)[2:4],
    "with a gradient": torch.ones(3, requires_grad=True),
    "a parameter": torch.nn.Parameter(torch.ones(2)),
    "sparse": torch.eye(3).to_sparse(),
}


@pytest.mark.parametrize("kind", [*ORDINARY, *SPECIAL])
def test_a_tensor_arrives_as_it_was(kind):
    before = (ORDINARY | SPECIAL)[kind]
    after = pickle.loads(packed({"x": (before, [before])}))["x"][0]
    assert type(after) is type(before)
    assert (after.dtype, after.shape, after.requires_grad) == (
        before.dtype,
        before.shape,
        before.requires_grad,
    )
    assert torch.equal(after.to_dense(), before.to_dense())
    if not before.is_sparse:
        assert after.stride() == before.stride()
        assert after.data_ptr() != before.data_ptr() or not before.numel()


@pytest.mark.parametrize("kind", ORDINARY)
def test_an_ordinary_tensor_may_be_resized_and_changed(kind):
    data = packed(ORDINARY[kind])
    pickle.loads(data).resize_(7).zero_()
    assert torch.equal(pickle.loads(data), ORDINARY[kind])


def test_the_same_tensor_twice_is_one_tensor():
    x = torch.ones(2)
    first, second = pickle.loads(packed((x, x)))
    assert first is second


def test_a_callable_keeps_its_tensors():
    step = pickle.loads(packed(partial(torch.add, torch.ones(2))))
    assert torch.equal(step(torch.ones(2)), torch.full((2,), 2.0))


def test_ordinary_tensors_are_written_without_pytorch_s_own_format():
    assert b"_load_from_bytes" not in packed(list(ORDINARY.values()))
    assert b"_load_from_bytes" in packed(SPECIAL["bfloat16"])
