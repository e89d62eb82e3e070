"""What the blocks of assignment 6 are made of: small attentions, MLPs and norms with fixed weights.

The checks hand them to students' blocks as functions, so that no block needs another answer. Whoever
makes inputs imports them by name, so that they are kept where work is graded (`check.bare`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core

Attend = Callable[[Tensor, Tensor, Tensor | None], Tensor]
Function = Callable[[Tensor], Tensor]


def attention(d: int, seed: int, dtype: torch.dtype) -> Attend:
    """attend(queries, memory, mask) -> (B, N_Q, D) with fixed projections."""
    w = core.normal({"q": (d, d), "k": (d, d), "v": (d, d)}, seed, dtype)

    def attend(queries: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = queries @ w["q"], memory @ w["k"], memory @ w["v"]
        return functional.attention(q, k, v, mask)[0]

    return attend


def two_layers(d: int, seed: int, dtype: torch.dtype) -> Function:
    """mlp(x) -> (..., D), two layers with a ReLU between them."""
    w = core.normal({"inner": (d, 2 * d), "bias": (2 * d,), "outer": (2 * d, d)}, seed, dtype)
    return lambda x: torch.relu(x @ w["inner"] + w["bias"]) @ w["outer"]


def layer(d: int, seed: int, dtype: torch.dtype) -> Function:
    """A layer normalisation with gammas and betas of its own."""
    drawn = core.normal({"gamma": (d,), "beta": (d,)}, seed, dtype)
    return lambda x: functional.layer_norm(x, drawn["gamma"], drawn["beta"])


def real(lengths: Sequence[int] | None, batch: int, size: int) -> Tensor:
    """(B, 1, N), True where a real word stands: every query may look at those."""
    ends = torch.tensor([size] * batch if lengths is None else list(lengths))
    return functional.length_mask(ends, size)[:, None]


# A sublayer joins x, a function f(n, x) of the normalised and the plain x, and a norm.
Sublayer = Callable[[Tensor, Callable[[Tensor, Tensor], Tensor], Function, str], Tensor]


def sublayer(x: Tensor, f: Callable[[Tensor, Tensor], Tensor], norm: Function, order: str) -> Tensor:
    """post: norm(x + f(x)); pre: x + f(norm(x))."""
    return norm(x + f(x, x)) if order == "post" else x + f(norm(x), x)


def without_residual(x, f, norm, order):
    return norm(f(x, x)) if order == "post" else f(norm(x), x)


def without_norm(x, f, norm, order):
    return x + f(x, x)


def normalised_residual(x, f, norm, order):
    n = norm(x)
    return n + f(n if order == "pre" else x, x)


def normalised_result(x, f, norm, order):
    return x + norm(f(x, x))


def normalised_twice(x, f, norm, order):
    return norm(x + f(norm(x), x))


def residual_twice(x, f, norm, order):
    return x + sublayer(x, f, norm, order)


def left_out(x, f, norm, order):
    return x


def turned(order: str) -> str:
    return "pre" if order == "post" else "post"
