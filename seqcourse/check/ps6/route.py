"""What does a block call, with what, in which order? Its functions write it down."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import combinations

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal

N, M, D = 3, 4, 6


class Route:
    """Functions with names, and the calls they saw; a tensor is known again by its numbers."""

    def __init__(self) -> None:
        self.known: list[tuple[str, Tensor]] = []
        self.lines: list[str] = []

    def enter(self, **named: Tensor) -> list[Tensor]:
        self.known += named.items()
        return list(named.values())

    def name(self, value: Tensor | None) -> str:
        """What a tensor is: one of those known, or a sum of two of them."""
        if value is None:
            return "no mask"
        for name, tensor in self.known:
            if same(tensor, value):
                return name
        for (one, a), (other, b) in combinations(self.known, 2):
            if a.shape == b.shape and a.is_floating_point() and same(a + b, value):
                self.known.append((f"({one} + {other})", value))
                return f"{one} + {other}"
        return "something else"

    def function(self, name: str, result: str, arguments: int = 1) -> Callable[..., Tensor]:
        """A function that notes its call and returns numbers that nothing else returns."""

        def call(*given: Tensor, **more: Tensor) -> Tensor:
            told = [self.name(value) for value in [*given, *more.values()][:arguments]]
            self.lines.append(f"{result} = {name}({', '.join(told)})")
            out = normal({"out": given[0].shape}, seed=100 + len(self.known))["out"]
            self.known.append((result, out))
            return out

        return call


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers; a mask may have axes of size 1 in front."""
    if one.dtype == torch.bool or other.dtype == torch.bool:
        one, other = one.squeeze(), other.squeeze()
    return one.dtype == other.dtype and one.shape == other.shape and torch.allclose(one, other)


def route(block: Callable[..., Tensor], order: str) -> None:
    """Print what an encoder_block or decoder_block calls, line by line.

    The sublayers' results are called a, b, c in the order they are called, the norms' n1, n2, n3.
    """
    lines = route_lines(block, order)
    print("\n".join([f"{order}-norm:", *(f"    {line}" for line in lines)]))


def route_lines(block: Callable[..., Tensor], order: str) -> Sequence[str]:
    """The lines that `route` prints."""
    seen, cross = Route(), len(inspect.signature(block).parameters) == 8
    drawn = normal({"x": (1, N, D), "memory": (1, M, D)}, seed=1)
    norms = tuple(seen.function(f"norms[{k}]", f"n{k + 1}") for k in range(2 + cross))
    if cross:
        seen.enter(y=drawn["x"], memory=drawn["memory"])
        mask = torch.tensor([True, True, True, False])[None, None]
        seen.enter(memory_mask=mask, causal=functional.causal_mask(N))
        attends = [seen.function(f"{kind}_attend", kind, 3) for kind in ("self", "cross")]
        given = (drawn["x"], drawn["memory"], mask, *attends, seen.function("mlp", "mlp"), norms, order)
    else:
        mask = torch.tensor([True, True, False])[None, None]
        seen.enter(x=drawn["x"], mask=mask)
        given = (
            drawn["x"],
            mask,
            seen.function("attend", "self", 3),
            seen.function("mlp", "mlp"),
            norms,
            order,
        )
    result = block(*given)
    return [*seen.lines, f"returns {seen.name(result)}"]
