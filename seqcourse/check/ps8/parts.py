"""What exercise 6 hands on beside its vectors: score, gate, cell and readout, with fixed weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seqcourse.check import core

State = tuple[Tensor, Tensor]


def score_of(d_s: int, d: int, seed: int, dtype: torch.dtype, scale: float = 1.0) -> Callable:
    """score(s, grid) -> (B, N), additive, with fixed weights; scale makes it larger, or turns it."""
    w = core.normal({"s": (d_s, 4), "h": (d, 4), "v": (4,)}, seed, dtype)
    return lambda s, grid: scale * torch.tanh((s @ w["s"])[:, None] + grid @ w["h"]) @ w["v"]


def gate_of(d_s: int, seed: int, dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """gate(s) -> (B, 1), any number."""
    w = core.normal({"w": (d_s, 1), "b": (1,)}, seed, dtype)
    return lambda s: s @ w["w"] + w["b"]


def cell_of(width: int, d_s: int, seed: int, dtype: torch.dtype) -> Callable[[Tensor, State], State]:
    """cell(x, (s, m)) -> (s, m), an LSTM with fixed weights."""
    w = core.normal({"x": (width, 4 * d_s), "s": (d_s, 4 * d_s)}, seed, dtype)

    def cell(x: Tensor, state: State) -> State:
        s, m = state
        i, f, g, o = (x @ w["x"] + s @ w["s"]).chunk(4, dim=-1)
        m = torch.sigmoid(f) * m + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(m), m

    return cell


def readout_of(e: int, d_s: int, d: int, v: int, seed: int, dtype: torch.dtype) -> Callable:
    """readout(y, s, c) -> (B, V), linear in all three."""
    w = core.normal({"y": (e, v), "s": (d_s, v), "c": (d, v)}, seed, dtype)
    return lambda y, s, c: y @ w["y"] + s @ w["s"] + c @ w["c"]
