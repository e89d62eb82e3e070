"""What a sandbox sees of assignment 4: layers with weights w, on sets and on ordered vectors."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seqcourse import functional


def _set_layer(x: Tensor, w: Tensor) -> Tensor:
    return functional.attention(x, x, x @ w)[0]


def _numbered(x: Tensor, w: Tensor) -> Tensor:
    return x @ w + torch.arange(x.shape[1], dtype=x.dtype)[:, None] ** 2


def _running(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w).cumsum(1)


def _neighbours(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w + 2 * x.roll(1, dims=1) @ w)


def _reversed(x: Tensor, w: Tensor) -> Tensor:
    """The order turned round; the later a sequence in the batch, the larger its outputs."""
    return (x @ w).flip(1) * 4.0 ** torch.arange(len(x))[:, None, None]


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
