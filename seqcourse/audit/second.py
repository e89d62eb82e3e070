"""A second device without a GPU: tensors of the device "second" compute on the CPU, but may be used only
as those of a GPU may.

PyTorch lets Python define a device under the dispatch key PrivateUse1. Here a tensor of it holds another
one, in the memory of the CPU, and :func:`compute` does every operation on what the tensors hold. Refused
are

- a mix of devices, as CUDA refuses it. Allowed beside tensors of the device are numbers (tensors of the
  CPU without axes), copies from one device to the other, and the lengths of packed sequences, which
  PyTorch wants on the CPU. Indices may lie on the CPU, too;
- 64-bit floating point, which Apple's GPUs do not have;
- a generator of random numbers that lives on the CPU.

Results are those of the CPU; only LSTM and GRU have the formulas of a GPU's fused cells. What is not
noticed: a generator of this device where a tensor of the CPU is drawn.
:func:`install` makes the device known.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Iterator
from typing import Any

import torch
import torch.utils.backend_registration
from torch import Tensor

NAME = "second"
WIDE = (torch.float64, torch.complex128)
aten = torch.ops.aten

COPIES = frozenset({aten._to_copy, aten.copy_})
TAKE_INDICES = frozenset(
    {aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_, aten._unsafe_index}
)
TAKE_NUMBERS = frozenset({aten.fill, aten.fill_, aten.masked_fill, aten.masked_fill_})
PACKED = frozenset(
    {aten._pack_padded_sequence, aten._pack_padded_sequence_backward, aten._pad_packed_sequence}
)
# Operations that make a tensor: the shapes of these are known only when they are done.
MAKERS = ("arange", "arange.start", "arange.start_step", "linspace", "logspace", "eye", "eye.m")
MAKERS += ("randperm", "randperm.generator", "tril_indices", "triu_indices")


# What is registered lasts as long as its library.
REGISTERED: list[torch.library.Library] = []


@functools.cache
def device() -> torch.device:
    return torch.device(NAME, 0)


class MixedDevices(RuntimeError):
    """An operation was given what lies on two devices, or what the device does not have."""


class SecondTensor(Tensor):
    """A tensor of the second device. ``held`` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> SecondTensor:
        if held.dtype in WIDE:
            raise MixedDevices(f"The device {NAME!r} has no {held.dtype}, as Apple's GPUs have none.")
        new = Tensor._make_wrapper_subclass(
            cls, held.shape, held.stride(), dtype=held.dtype, device=device()
        )
        new.held = held
        return new

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})

    # PyTorch reads the memory of a tensor for these; the one of this class has none.
    def tolist(self) -> Any:
        return self.held.tolist()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.held.untyped_storage()

    def __format__(self, how: str) -> str:
        return format(self.held, how)

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"{repr(self.held)[:-1]}, device='{NAME}:0')"

    def __reduce_ex__(self, protocol: int) -> Any:
        return self.held.__reduce_ex__(protocol)  # a file is read with map_location="cpu"


PLAIN_GENERATOR = torch.Generator


class SecondGenerator(PLAIN_GENERATOR):
    """A generator of random numbers on the second device."""

    @property
    def device(self) -> torch.device:
        return device()


# Operations are given a generator without its Python class; its address tells which it is.
GENERATORS: dict[int, SecondGenerator] = {}


class AnyGenerator(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, PLAIN_GENERATOR)


class Generator(metaclass=AnyGenerator):
    """Takes the place of `torch.Generator`, which knows no device that Python defines."""

    def __new__(cls, device: Any = "cpu") -> torch.Generator:
        if torch.device(device).type != NAME:
            return PLAIN_GENERATOR(device)
        made = SecondGenerator()
        return GENERATORS.setdefault(made._cdata, made)


def compute(operation: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """One operation on what the tensors hold, where a GPU would do it."""
    run, may_be_on_cpu, numbers = rule(operation)
    if run is None:  # made of other operations
        return operation.decompose(*args, **kwargs)
    made_on = kwargs.get("device")
    outside = {}

    def inside(each: Any, allowed: bool = False) -> Any:
        kind = type(each)
        if kind is SecondTensor:
            outside[id(each.held)] = each
            return each.held
        if kind in (list, tuple):
            return [inside(part, allowed) for part in each]
        if isinstance(each, Tensor):
            if not (allowed or (numbers and each.dim() == 0)):
                raise MixedDevices(
                    f"{operation} was given tensors on {NAME!r} and one on {each.device} of the shape "
                    f"{tuple(each.shape)}."
                )
        elif isinstance(each, PLAIN_GENERATOR) and each._cdata not in GENERATORS:
            raise MixedDevices(f"{operation} on {NAME!r} was given a generator of {each.device}.")
        return each

    def wrapped(each: Any) -> Any:
        if not isinstance(each, Tensor):
            return [wrapped(part) for part in each] if isinstance(each, list) else each
        same = outside.get(id(each))
        if same is None and each.is_inference() is torch.is_inference_mode_enabled():
            return SecondTensor(each)
        if same is None:  # a view keeps the kind of what it is a view of
            with torch.inference_mode(each.is_inference()):
                return SecondTensor(each)
        if (same.shape, same.stride()) != (each.shape, each.stride()):
            same.data = SecondTensor(each)  # changed in place, as by transpose_
        return same

    args = [inside(each, number in may_be_on_cpu) for number, each in enumerate(args)]
    if kwargs:
        kwargs = {name: inside(each) for name, each in kwargs.items()}
    if made_on is not None:
        kwargs["device"] = "cpu"
    result = run(*args, **kwargs)
    if made_on is not None and torch.device(made_on).type == "cpu":
        return result
    if not isinstance(result, tuple):
        return wrapped(result)
    if operation.overloadpacket in PACKED:
        return wrapped(result[0]), result[1]  # lengths
    return tuple(wrapped(each) for each in result)


@functools.cache
def rule(operation: Any) -> tuple[Any, Collection[int], bool]:
    """What computes, if anything does, which arguments may be tensors of the CPU, and whether others may
    be numbers.
    """
    kind = operation.overloadpacket
    by_kind = {COPIES: range(2), TAKE_INDICES: (1,), PACKED: range(1, 9)}
    places = next((places for kinds, places in by_kind.items() if kind in kinds), ())
    numbers = torch.Tag.pointwise in operation.tags or kind in TAKE_NUMBERS | TAKE_INDICES
    composed = torch._C._dispatch_has_kernel_for_dispatch_key(
        operation.name(), "CompositeImplicitAutograd"
    )
    return None if composed else FUSED.get(kind, operation), places, numbers


def empty(size: Any, dtype: Any = None, **_: Any) -> Tensor:
    return SecondTensor(torch.empty(size, dtype=dtype))


def empty_strided(size: Any, stride: Any, dtype: Any = None, **_: Any) -> Tensor:
    return SecondTensor(torch.empty_strided(size, stride, dtype=dtype))


def copy_from(source: Tensor, goal: Tensor, non_blocking: bool = False) -> Tensor:
    held = [each.held if isinstance(each, SecondTensor) else each for each in (source, goal)]
    held[1].copy_(held[0])
    return goal


def number(tensor: Tensor) -> Any:
    return tensor.held.item()


def maker(operation: Any) -> Any:
    return lambda *args, **kwargs: compute(operation, args, {**kwargs, "device": NAME})


def gates(inputs: Tensor, states: Tensor, biases: tuple[Tensor | None, ...], count: int) -> list[Tensor]:
    """What enters the gates of a cell: (B, count * H) from the input and from the state."""
    parts = [x if bias is None else x + bias for x, bias in zip((inputs, states), biases, strict=True)]
    return [each.chunk(count, 1) for each in parts]


def lstm_cell(inputs: Tensor, states: Tensor, c: Tensor, b1: Any = None, b2: Any = None) -> tuple:
    """An LSTM's step after its products; also the gates, for the way back."""
    i, f, g, o = (a + b for a, b in zip(*gates(inputs, states, (b1, b2), 4), strict=True))
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * c + i * g
    return o * new.tanh(), new, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(dh: Any, dc: Any, c: Tensor, new: Tensor, space: Tensor, bias: bool) -> tuple:
    i, f, g, o = space.chunk(4, 1)
    dh = torch.zeros_like(new) if dh is None else dh
    d = dh * o * (1 - new.tanh() ** 2) + (0 if dc is None else dc)
    parts = d * g * i * (1 - i), d * c * f * (1 - f), d * i * (1 - g * g), dh * new.tanh() * o * (1 - o)
    all_gates = torch.cat(parts, 1)
    return all_gates, d * f, all_gates.sum(0) if bias else None


def gru_cell(inputs: Tensor, states: Tensor, h: Tensor, b1: Any = None, b2: Any = None) -> tuple:
    """A GRU's step after its products; also what the way back needs."""
    (ri, zi, ni), (rh, zh, nh) = gates(inputs, states, (b1, b2), 3)
    r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    n = (ni + r * nh).tanh()
    return n + z * (h - n), torch.cat([r, z, n, h, nh], 1)


def gru_cell_backward(d: Tensor, space: Tensor, bias: bool) -> tuple:
    r, z, n, h, nh = space.chunk(5, 1)
    dn = d * (1 - z) * (1 - n * n)
    dz, dr = d * (h - n) * z * (1 - z), dn * nh * r * (1 - r)
    from_input, from_state = torch.cat([dr, dz, dn], 1), torch.cat([dr, dz, dn * r], 1)
    sums = (from_input.sum(0), from_state.sum(0)) if bias else (None, None)
    return from_input, from_state, d * z, *sums


FUSED = {
    aten._thnn_fused_lstm_cell: lstm_cell,
    aten._thnn_fused_lstm_cell_backward_impl: lstm_cell_backward,
    aten._thnn_fused_gru_cell: gru_cell,
    aten._thnn_fused_gru_cell_backward: gru_cell_backward,
}


def install() -> None:
    """Make the device known to PyTorch: `torch.device("second")`, `x.to("second")`."""
    if not REGISTERED:
        # The first way back starts a thread for every device that is known, and no process with such
        # threads can be forked. So it happens before this device is known.
        torch.ones((), requires_grad=True).clone().backward()
        torch.utils.backend_registration._setup_privateuseone_for_python_backend(NAME)
        library = torch.library.Library("aten", "IMPL")
        kernels = {"empty.memory_format": empty, "empty_strided": empty_strided}
        kernels |= {"_copy_from": copy_from, "_local_scalar_dense": number}
        for name in MAKERS:
            packet, _, overload = name.partition(".")
            kernels[name] = maker(getattr(getattr(aten, packet), overload or "default"))
        for name, kernel in kernels.items():
            library.impl(name, kernel, "PrivateUse1")
        module = torch.get_device_module(NAME)  # what is drawn without a generator is the CPU's
        module.get_rng_state = lambda device=NAME: torch.get_rng_state()
        module.set_rng_state = lambda state, device=NAME: torch.set_rng_state(state)
        REGISTERED.append(library)
    torch.Generator = Generator
    # A thread of its own for the way back would still wait when Python ends.
    torch.autograd.set_multithreading_enabled(False)


def available() -> bool:
    """Whether this version of PyTorch lets Python define a device; 2.6 does not."""
    return hasattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend")


@contextlib.contextmanager
def present() -> Iterator[None]:
    """The device is there inside the `with`. PyTorch knows it from then on; all else goes back."""
    generator = torch.Generator
    install()
    try:
        yield
    finally:
        torch.Generator = generator
        torch.autograd.set_multithreading_enabled(True)
