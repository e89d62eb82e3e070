"""Exercise 4: a block of the encoder, post-norm and pre-norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.ps6 import sublayers
from seqcourse.check.ps6.sublayers import attention, layer, real, two_layers


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


def reference_encoder_block(x, mask, attend, mlp, norms, order) -> Tensor:
    """Self-attention and MLP, each with its residual connection and its norm: (B, N, D)."""
    x = sublayers.sublayer(x, lambda n: attend(n, n, mask), norms[0], order)
    return sublayers.sublayer(x, mlp, norms[1], order)


encoder_block = Exercise(
    "encoder_block",
    make=encoder_arguments,
    reference=reference_encoder_block,
    cases={
        **standard_cases(dict(batch=2, n=3, d=4), dict(batch=5, n=5, d=5, seed=20)),
        "padding": dict(batch=3, n=5, d=4, lengths=[5, 2, 3], seed=40),
        "the order pre": dict(batch=2, n=3, d=4, order="pre", seed=60),
        "the order pre with padding": dict(batch=3, n=5, d=4, order="pre", lengths=[4, 5, 1], seed=80),
        "padding in front": dict(batch=3, n=4, d=3, lengths=[2, 4, 3], front=True, seed=90),
    },
    forbid=("Block", "TransformerEncoderLayer", "TransformerEncoder"),
)
