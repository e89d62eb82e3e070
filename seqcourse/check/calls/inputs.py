"""Inputs for checks: random tensors, non-contiguous views, copies, and their way into the sandbox."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy
import torch
from torch import Tensor


def normal(
    sizes: Mapping[str, Sequence[int]], seed: int = 0, dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Standard normal tensors by name, without using the global random state."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(tuple(size), generator=generator, dtype=torch.float64).to(dtype)
        for name, size in sizes.items()
    }


def handed_on(seed: int) -> torch.Generator:
    """A generator for an answer, which can read its seed: that tells nothing of the inputs' own."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def literal(seed: int = 0, **arguments: Any) -> dict[str, Any]:
    """The case's arguments unchanged, for exercises with plain numbers and strings."""
    return arguments


def drawn(
    rng: numpy.random.Generator, sizes: Mapping[str, Sequence[int]], dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Standard normal tensors by name, drawn from a hidden check's generator."""
    return {
        name: torch.from_numpy(rng.normal(size=tuple(size))).to(dtype) for name, size in sizes.items()
    }


def noncontiguous(value: Any) -> Any:
    """The same values as non-contiguous tensors."""
    if isinstance(value, Tensor) and value.ndim > 1:
        return value.transpose(0, -1).contiguous().transpose(0, -1)
    if isinstance(value, Tensor) and value.ndim == 1:
        return torch.stack([value, value], dim=1)[:, 0]
    if isinstance(value, tuple):
        return tuple(noncontiguous(item) for item in value)
    return value


def copied(value: Tensor) -> Tensor:
    """A copy with the same strides; of an expanded tensor an expanded one."""
    once = value[tuple(slice(None) if step else slice(1) for step in value.stride())]
    fresh = torch.empty_strided(once.size(), once.stride(), dtype=value.dtype, device=value.device)
    fresh.copy_(once)
    return fresh if once.size() == value.size() else fresh.expand(value.size())


def copy(value: Any) -> Any:
    """Copy tensors, also inside tuples, lists and dicts, and the lists that a `functools.partial` holds:
    its function may note there what it was asked. Other values are not copied.
    """
    if isinstance(value, Tensor):
        return copied(value.detach()).requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(copy(item) for item in value)
    if isinstance(value, dict):
        return {name: copy(item) for name, item in value.items()}
    if isinstance(value, partial) and any(isinstance(part, list) for part in value.args):
        parts = (copy(part) if isinstance(part, list) else part for part in value.args)
        return partial(value.func, *parts, **value.keywords)
    return value


def each_tensor(change: Callable[[str, Tensor], Tensor], value: Any, place: str = "") -> Any:
    """A value whose tensors are changed, wherever they are: change(place, tensor).

    They are looked for in tuples, lists, dicts and the fields of a dataclass, and in what a
    `functools.partial` hands to its function. A place is "state.0" or "step.table".
    """

    def inside(parts: Mapping[Any, Any]) -> dict[Any, Any]:
        return {
            name: each_tensor(change, part, f"{place}.{name}".lstrip("."))
            for name, part in parts.items()
        }

    if isinstance(value, Tensor):
        return change(place, value)
    if isinstance(value, Mapping):
        return type(value)(inside(value))
    if type(value) in (tuple, list):
        return type(value)(inside(dict(enumerate(value))).values())
    value = getattr(value, "__wrapped__", value)  # a function that `watch.paused` stands around
    if isinstance(value, partial):
        arguments = inside(dict(enumerate(value.args))).values()
        return partial(value.func, *arguments, **inside(value.keywords))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(value, **inside({name: getattr(value, name) for name in names}))
    return value


def floating(value: Any, place: str = "") -> dict[str, Tensor]:
    """The floating tensors in a value by their place, see `each_tensor`."""
    found: dict[str, Tensor] = {}

    def note(place: str, tensor: Tensor) -> Tensor:
        if tensor.is_floating_point():
            found[place] = tensor
        return tensor

    each_tensor(note, value, place)
    return found


def as_float32(value: Any) -> Any:
    """The same arguments in single precision."""
    return each_tensor(lambda _, part: part.float() if part.is_floating_point() else part, value)


class _Pickler(pickle.Pickler):
    """Writes ordinary tensors as arrays, which are written and read much faster.

    Tensors that an array cannot stand for (with strides, a larger storage or a gradient) are written
    as PyTorch writes them.
    """

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Tensor and _is_ordinary(value):
            return _restored, (value.numpy(),)
        return NotImplemented


def _restored(array: numpy.ndarray) -> Tensor:
    return torch.from_numpy(array).clone()  # memory of its own is aligned and may be resized


def _is_ordinary(value: Tensor) -> bool:
    return (
        value.device.type == "cpu"
        and value.layout is torch.strided
        and value.dtype is not torch.bfloat16  # NumPy has none
        and value.is_contiguous()
        and not value.requires_grad
        and value.untyped_storage().nbytes() == value.nbytes
    )


def packed(value: Any) -> bytes:
    """Bytes from which ``pickle.loads`` makes an independent copy."""
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()
