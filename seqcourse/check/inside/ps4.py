"""What a sandbox sees of assignment 4: layers with weights w, on sets and on ordered vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from seqcourse import functional
from seqcourse.check.calls.inputs import copy
from seqcourse.check.calls.recording import record
from seqcourse.check.calls.values import Found, Given, arrays


def _set_layer(x: Tensor, w: Tensor) -> Tensor:
    return functional.attention(x, x, x @ w)[0]


def _numbered(x: Tensor, w: Tensor) -> Tensor:
    return x @ w + torch.arange(x.shape[1], dtype=x.dtype)[:, None] ** 2


def _running(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w).cumsum(1)


def _neighbours(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w + 2 * x.roll(1, dims=1) @ w)


def _reversed(x: Tensor, w: Tensor) -> Tensor:
    """The order turned round; later sequences of the batch, and later entries, are larger."""
    return (x @ w).flip(1) * 4.0 ** (torch.arange(len(x))[:, None, None] + torch.arange(w.shape[1]))


def _alone(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w)


def _average(x: Tensor, w: Tensor) -> Tensor:
    return (x @ w).mean(1, keepdim=True).expand(-1, x.shape[1], -1)


LAYERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "set": _set_layer,
    "numbered": _numbered,
    "running": _running,
    "neighbours": _neighbours,
    "alone": _alone,
    "average": _average,
    "reversed": _reversed,
}


class _Sizes(TorchDispatchMode):
    """How many numbers the largest tensor holds that an operation makes; a view holds no new ones."""

    largest = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # as in seqcourse.check.calls.watch
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for made in tree_leaves(out):
            if isinstance(made, Tensor):
                held = made.untyped_storage().nbytes() // made.element_size()
                self.largest = max(self.largest, held)
        return out


def record_sizes(
    student: Callable[..., Any], given: Given, prefix: str = "", gradient: Sequence[str] = ()
) -> Found:
    """One call for a probe, and the size of the largest tensor in it; gradients by another call."""
    kept = copy(dict(given))
    with _Sizes() as sizes:
        found = record(student, given, prefix)
    found |= record(student, kept, prefix, gradient) if gradient else {}
    return found | arrays(**{f"{prefix}largest": sizes.largest})
