"""Where a vector stands: encodings of the position."""

from __future__ import annotations

import math
from operator import index

import torch
from torch import Tensor


def sinusoidal_encoding(positions: Tensor | int, width: int, base: float = 10_000.0) -> Tensor:
    r"""Sines and cosines of the position, each pair slower than the one before (Vaswani et al. 2017).

    .. math:: P_{t,2i} = \sin(\omega_i t), \qquad P_{t,2i+1} = \cos(\omega_i t), \qquad
        \omega_i = 10000^{-2i/d}

    Args:
        positions: t of each vector, any shape (...), or how many positions to count from 0.
        width: d, even.
        base: the slowest pair turns once in about ``base`` times :math:`2\pi` positions.

    Returns:
        (..., d), in double precision if the positions are.

    Raises:
        ValueError: if the width is odd.
    """
    if not isinstance(positions, Tensor):
        # A size that is being traced is a symbol, which index would make a number.
        whole = positions if isinstance(positions, torch.SymInt) else index(positions)
        positions = torch.arange(whole)
    angles = positions[..., None] * _frequencies(width, base, positions)  # (..., d / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def grid_encoding(rows: int, columns: int, width: int, base: float = 100.0) -> Tensor:
    r"""Sines and cosines of the row, beside those of the column, for the places of a grid.

    .. math:: P_{(r, c)} = [P_r; P_c]

    each half as in :func:`sinusoidal_encoding`. The base is smaller than for sentences: a grid has few
    rows, over which a slow pair would not change at all.

    Args:
        rows, columns: of the grid, read row by row.
        width: d, a multiple of 4.
        base: as for :func:`sinusoidal_encoding`.

    Returns:
        (rows * columns, d).

    Raises:
        ValueError: if the width is no multiple of 4.
    """
    if width % 4:
        raise ValueError(f"width should be a multiple of 4, two even halves, but it is {width}.")
    row = sinusoidal_encoding(rows, width // 2, base)[:, None].expand(-1, columns, -1)
    column = sinusoidal_encoding(columns, width // 2, base)[None].expand(rows, -1, -1)
    return torch.cat([row, column], dim=-1).flatten(0, 1)


def shift_matrix(tau: float, width: int, base: float = 10_000.0) -> Tensor:
    r"""The matrix that moves a sinusoidal encoding by tau positions, whatever the position.

    .. math:: P_{t+\tau} = M_\tau P_t, \qquad
        M_\tau = \mathrm{blockdiag}_i \begin{pmatrix} \cos\omega_i\tau & \sin\omega_i\tau \\
        -\sin\omega_i\tau & \cos\omega_i\tau \end{pmatrix}

    So a linear layer can find "three positions back" without knowing where it is.

    Args:
        tau: how far, also negative.
        width: d, even.
        base: as for :func:`sinusoidal_encoding`.

    Returns:
        M, (d, d), a rotation; double precision.
    """
    angles = tau * _frequencies(width, base, torch.zeros((), dtype=torch.float64))
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], dim=-2)
    return torch.block_diag(*blocks)


def rotate(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    r"""Rotary position (Su et al. 2021): turn pairs of coordinates by angles that grow with t.

    A query at m and a key at n then have a product that depends on m - n only. The pairs are
    coordinate i and coordinate i + d/2, as in the models that use it.

    Args:
        x: queries or keys, (..., N, d) with d even.
        positions: t of each of the N vectors, (N,) or (..., N).
        base: as for :func:`sinusoidal_encoding`.

    Returns:
        As ``x``.
    """
    angles = positions[..., None] * _frequencies(x.shape[-1], base, positions)  # (..., N, d / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _frequencies(width: int, base: float, like: Tensor) -> Tensor:
    """The omegas, (d / 2,)."""
    if width % 2:
        raise ValueError(f"Sines and cosines come in pairs: the width should be even, but is {width}.")
    dtype = torch.float64 if like.dtype == torch.float64 else torch.float32
    i = torch.arange(width // 2, dtype=dtype, device=like.device)
    return torch.exp(-math.log(base) * 2 * i / width)
