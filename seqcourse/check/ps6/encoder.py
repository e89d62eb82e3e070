"""Exercise 4: a block of the encoder, post-norm and pre-norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.ps6 import parts
from seqcourse.check.ps6.parts import attention, layer, real, two_layers


def encoder_arguments(
    batch: int,
    n: int,
    d: int,
    order: str = "post",
    lengths: Sequence[int] | None = None,
    front: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `encoder_block`: vectors, a mask of real words, functions with fixed weights.

    front: whether padding stands in front of the words.
    """
    return {
        **normal({"x": (batch, n, d)}, seed, dtype),
        "mask": real(lengths, batch, n, front),
        "attend": attention(d, seed + 1, dtype),
        "mlp": two_layers(d, seed + 2, dtype),
        "norms": (layer(d, seed + 3, dtype), layer(d, seed + 4, dtype)),
        "order": order,
    }


def _block(
    x: Tensor,
    mask: Tensor,
    attend: parts.Attend,
    mlp: parts.Function,
    norms: Sequence[parts.Function],
    order: str,
    *,
    joins: tuple[parts.Sublayer, parts.Sublayer] = (parts.sublayer, parts.sublayer),
    look: Callable[..., Tensor] = lambda attend, n, x, mask: attend(n, n, mask),
    use: tuple[int, int] = (0, 1),
    mlp_first: bool = False,
) -> Tensor:
    """An encoder's block; the options make the mistakes of _ENCODER_BLOCK."""
    steps = [
        (joins[0], lambda n, x: look(attend, n, x, mask), norms[use[0]]),
        (joins[1], lambda n, x: mlp(n), norms[use[1]]),
    ]
    for join, f, norm in reversed(steps) if mlp_first else steps:
        x = join(x, f, norm, order)
    return x


def reference_encoder_block(x, mask, attend, mlp, norms, order) -> Tensor:
    """Self-attention and MLP, each with its residual connection and its norm: (B, N, D)."""
    return _block(x, mask, attend, mlp, norms, order)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _block(*arguments, **mistake)


def _join(join: parts.Sublayer, *places: int) -> Callable[..., Tensor]:
    """A block with another way of joining at these places, at both without."""
    chosen = places or (0, 1)
    return _with(joins=tuple(join if k in chosen else parts.sublayer for k in (0, 1)))


def _from_the_input(x, mask, attend, mlp, norms, order):
    if order == "post":
        u = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(u))
    n = norms[0](x)
    return x + mlp(norms[1](x + attend(n, n, mask)))


def _side_by_side(x, mask, attend, mlp, norms, order):
    if order == "post":
        return norms[1](norms[0](x + attend(x, x, mask)) + mlp(x))
    n = norms[0](x)
    return x + attend(n, n, mask) + mlp(norms[1](x))


_ENCODER_BLOCK = {
    "Is the first norm missing? It belongs to the attention.": _join(parts.without_norm, 0),
    "Is norms[1] used twice? norms[0] belongs to the attention: it has parameters of its own.": _with(
        use=(1, 1)
    ),
    "Is the normalised x on the residual path? What is added to f is x as it came in.": (
        _join(parts.normalised_residual),
        _join(parts.normalised_residual, 0),
        _join(parts.normalised_residual, 1),
    ),
    "Is every norm used before and after its sublayer? It stands in one of the two places.": _join(
        parts.normalised_twice
    ),
    "Is x added twice?": (_join(parts.residual_twice), _join(parts.residual_twice, 1)),
    "Is the attention missing?": _join(parts.left_out, 0),
    "Is there a norm too many at the end? With pre-norm a block ends in a sum.": (
        lambda x, mask, attend, mlp, norms, order: norms[1](_block(x, mask, attend, mlp, norms, order))
    ),
}


encoder_block = Exercise(
    "encoder_block",
    make=encoder_arguments,
    reference=reference_encoder_block,
    likely=_ENCODER_BLOCK,
    cases=[
        *standard_cases(encoder_arguments, dict(batch=2, n=3, d=4), dict(batch=5, n=5, d=5, seed=20)),
        *cases_of(
            encoder_arguments,
            {
                "padding": dict(batch=3, n=5, d=4, lengths=[5, 2, 3], seed=40),
                "the order pre": dict(batch=2, n=3, d=4, order="pre", seed=60),
                "the order pre with padding": dict(
                    batch=3, n=5, d=4, order="pre", lengths=[4, 5, 1], seed=80
                ),
                "padding in front": dict(batch=3, n=4, d=3, lengths=[2, 4, 3], front=True, seed=90),
            },
        ),
    ],
    forbid=("Block", "TransformerEncoderLayer", "TransformerEncoder"),
    idea="Attention collects, the MLP computes; each is added to its input, with a norm around it.",
    see=("10", "The block"),
)
