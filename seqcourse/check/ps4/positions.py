"""Exercises 6 and 7: sinusoidal encodings, and the matrix that moves every position."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal


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


def _omegas(width: int, dtype: torch.dtype = torch.float64, base: float = 10_000.0) -> Tensor:
    """The frequencies of all columns, (width,): columns 2i and 2i + 1 share theirs."""
    pair = torch.arange(width) // 2
    return base ** (-2.0 * pair.to(dtype) / width)


def _waves(angles: Tensor, swapped: bool = False) -> Tensor:
    """Sines in the even columns, cosines in the odd ones, or the other way round."""
    even = (torch.arange(angles.shape[-1]) % 2 == 0) != swapped
    return torch.where(even, angles.sin(), angles.cos())


def reference_positional_encoding(positions: Tensor, width: int) -> Tensor:
    """P, (N, width): column 2i a sine, column 2i + 1 the cosine of the same angle."""
    return _waves(positions[:, None] * _omegas(width, positions.dtype))


def _encoding(omegas: Callable[[int], Tensor], swapped: bool = False) -> Callable[..., Tensor]:
    """An encoding with other frequencies per column, or sines and cosines swapped."""
    return lambda positions, width: _waves(
        positions[:, None] * omegas(width).to(positions.dtype), swapped
    )


def _columns(width: int) -> Tensor:
    return torch.arange(width, dtype=torch.float64)


def _halves(positions: Tensor, width: int) -> Tensor:
    angles = positions[:, None] * _omegas(width, positions.dtype)[::2]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :width]


def _stacked(positions: Tensor, width: int) -> Tensor:
    angles = positions[:, None] * _omegas(width, positions.dtype)[::2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def _short(positions: Tensor, width: int) -> Tensor:
    return reference_positional_encoding(positions, width - width % 2)


def _plus_zeros(positions: Tensor, width: int) -> Tensor:
    p = reference_positional_encoding(positions, width)
    return torch.cat([p[:, : width - 1], 0 * p[:, :1]], dim=-1) if width % 2 else p


_POSITIONAL_ENCODING = {
    "Is there a column missing? An odd width has one sine more than cosines.": _short,
    "Is the last column of an odd width empty? It is a sine.": _plus_zeros,
    "Is it math.sin or math.cos? They take one number: torch.sin takes a tensor.": (
        lambda positions, width: math.sin(positions) if len(positions) > 1 else positions
    ),
}


positional_encoding = Exercise(
    "positional_encoding",
    make=encoding_arguments,
    reference=reference_positional_encoding,
    likely=_POSITIONAL_ENCODING,
    cases=cases_of(
        encoding_arguments,
        {
            "the first example": dict(n=5, width=8),
            "positions that do not begin at 0": dict(n=4, width=6, kind="later"),
            "real numbers as positions": dict(n=6, width=4, kind="any"),
            "one position": dict(n=1, width=2, kind="later"),
            "float32": dict(n=5, width=6, dtype=torch.float32),
            "an odd width": dict(n=4, width=7),
            "an odd width and any positions": dict(n=6, width=3, kind="any"),
        },
    ),
    forbid=("sinusoidal_encoding", "Positions", "shift_matrix", "rotate"),
    tolerance=4e-5,
    because="Frequencies in single precision are good enough, 10001 in place of 10000 is not.",
    idea="Waves of many lengths give every position a vector of its own, also between whole numbers.",
    see=("07", "Positions"),
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


def _rotations(
    angles: Callable[[float, int], Tensor] = lambda tau, width: tau * _omegas(width)[::2],
    block: Callable[[Tensor, Tensor], tuple] = lambda cos, sin: (cos, sin, -sin, cos),
) -> Callable[..., Tensor]:
    """A matrix of 2 x 2 blocks with other angles, or of another form."""

    def matrix(tau: float, width: int) -> Tensor:
        turned = angles(tau, width)
        return torch.block_diag(
            *(
                torch.stack(block(c, s)).reshape(2, 2)
                for c, s in zip(turned.cos(), turned.sin(), strict=True)
            )
        )

    return matrix


_SHIFT_MATRIX = {
    "Are sines and cosines swapped? For tau = 0 the matrix is the identity.": (
        _rotations(block=lambda cos, sin: (sin, cos, -cos, sin)),
        _rotations(block=lambda cos, sin: (sin, cos, cos, -sin)),
    ),
    "Is tau used at all? This is the identity.": (lambda tau, width: torch.eye(width).double()),
}


shift_matrix = Exercise(
    "shift_matrix",
    make=shift_arguments,
    reference=reference_shift_matrix,
    likely=_SHIFT_MATRIX,
    cases=cases_of(
        shift_arguments,
        {
            "the first example": dict(width=6, tau=3),
            "another tau and width": dict(width=8, tau=11),
            "a negative tau": dict(width=4, tau=-2),
            "a tau that is no whole number": dict(width=10, tau=2.75),
            "one pair": dict(width=2, tau=5),
            "tau = 0": dict(width=4, tau=0),
        },
    ),
    forbid=("shift_matrix", "rotate"),
    tolerance=3e-6,
    because="Frequencies in single precision are good enough, 10001 in place of 10000 is not.",
    hint="Make the matrix with dtype=torch.float64.",
    idea="Moving on by tau places turns each pair of waves by an angle: one matrix for all positions.",
    see=("07", "One matrix moves every position"),
)
