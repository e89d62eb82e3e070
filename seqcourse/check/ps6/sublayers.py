"""What the blocks of assignment 6 are made of: small attentions, MLPs and norms with fixed weights.

The checks hand them to students' blocks as functions, so that no block needs another answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.inside import ps6 as inside

Attend = Callable[[Tensor, Tensor, Tensor | None], Tensor]
Function = Callable[[Tensor], Tensor]


def attention(d: int, seed: int, dtype: torch.dtype) -> Attend:
    """attend(queries, memory, mask) -> (B, N_Q, D) with fixed projections."""
    return partial(inside.attend, *normal({"q": (d, d), "k": (d, d), "v": (d, d)}, seed, dtype).values())


def two_layers(d: int, seed: int, dtype: torch.dtype) -> Function:
    """mlp(x) -> (..., D), two layers with a ReLU between them."""
    sizes = {"inner": (d, 2 * d), "bias": (2 * d,), "outer": (2 * d, d)}
    return partial(inside.mlp, *normal(sizes, seed, dtype).values())


def layer(d: int, seed: int, dtype: torch.dtype) -> Function:
    """A layer normalisation with gammas and betas of its own."""
    return partial(functional.layer_norm, **normal({"gamma": (d,), "beta": (d,)}, seed, dtype))


def real(lengths: Sequence[int] | None, batch: int, size: int, front: bool = False) -> Tensor:
    """(B, 1, N), True where a real word stands: every query may look at those. Padding stands behind
    the words, or in front of them.
    """
    ends = torch.tensor([size] * batch if lengths is None else list(lengths))
    mask = functional.length_mask(ends, size)[:, None]
    return mask.flip(-1) if front else mask


def sublayer(x: Tensor, f: Function, norm: Function, order: str) -> Tensor:
    """post: norm(x + f(x)); pre: x + f(norm(x))."""
    return norm(x + f(x)) if order == "post" else x + f(norm(x))
