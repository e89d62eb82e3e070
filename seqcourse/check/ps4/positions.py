"""Exercises 6 and 7: sinusoidal encodings, and the matrix that moves every position."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise


def encoding_arguments(
    n: int, width: int, kind: str = "counted", dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `positional_encoding`.

    kind: "counted" (0, 1, 2, ...), "later" (the same, from further on), "any" (real numbers in any
    order, also below 0).
    """
    positions = torch.arange(n, dtype=torch.float64)
    if kind == "later":
        positions = positions + 200 + seed % 100
    if kind == "any":
        positions = 9.0 * normal({"positions": (n,)}, seed)["positions"]
    return {"positions": positions.to(dtype), "width": width}


def reference_positional_encoding(positions: Tensor, width: int) -> Tensor:
    """P, (N, width): column 2i a sine, column 2i + 1 the cosine of the same angle."""
    even = torch.arange(width) // 2 * 2
    angles = positions[:, None] * 10_000.0 ** (-even.to(positions.dtype) / width)
    return torch.where(torch.arange(width) == even, angles.sin(), angles.cos())


positional_encoding = Exercise(
    "positional_encoding",
    make=encoding_arguments,
    reference=reference_positional_encoding,
    cases={
        "the first example": dict(n=5, width=8),
        "positions that do not begin at 0": dict(n=4, width=6, kind="later"),
        "real numbers as positions": dict(n=6, width=4, kind="any"),
        "one position": dict(n=1, width=2, kind="later"),
        "float32": dict(n=5, width=6, dtype=torch.float32),
        "an odd width": dict(n=4, width=7),
        "an odd width and any positions": dict(n=6, width=3, kind="any"),
    },
    forbid=("sinusoidal_encoding", "Positions", "shift_matrix", "rotate"),
    tolerance=4e-5,
    because="Frequencies in single precision are good enough, 10001 in place of 10000 is not.",
)


def shift_arguments(
    width: int, tau: float | None = None, sign: int = 1, whole: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `shift_matrix`; tau is drawn between 1 and 20 if it is not given."""
    if tau is None:
        tau = 1 + 19 * torch.rand((), generator=torch.Generator().manual_seed(seed)).item()
    return {"tau": sign * (round(tau) if whole else tau), "width": width}


def reference_shift_matrix(tau: float, width: int) -> Tensor:
    """M_tau, (width, width), double precision."""
    return functional.shift_matrix(tau, width)


shift_matrix = Exercise(
    "shift_matrix",
    make=shift_arguments,
    reference=reference_shift_matrix,
    cases={
        "the first example": dict(width=6, tau=3),
        "another tau and width": dict(width=8, tau=11),
        "a negative tau": dict(width=4, tau=-2),
        "a tau that is no whole number": dict(width=10, tau=2.75),
        "one pair": dict(width=2, tau=5),
        "tau = 0": dict(width=4, tau=0),
    },
    forbid=("shift_matrix", "rotate"),
    tolerance=3e-6,
    because="Frequencies in single precision are good enough, 10001 in place of 10000 is not.",
    hint="Make the matrix with dtype=torch.float64.",
)
