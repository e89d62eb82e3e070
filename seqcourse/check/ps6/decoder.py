"""Exercise 6: a block of the decoder, post-norm and pre-norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.ps6 import sublayers
from seqcourse.check.ps6.sublayers import attention, layer, real, two_layers

LONG = 20  # where a mask of fewer words than these stops, a size may be written into it


def decoder_arguments(
    batch: int,
    n: int,
    m: int,
    d: int,
    order: str = "post",
    lengths: Sequence[int] | None = None,
    front: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `decoder_block`: vectors, a memory with its mask, functions with fixed weights.

    front: whether the source's padding stands in front of its words.
    """
    return {
        **normal({"y": (batch, n, d), "memory": (batch, m, d)}, seed, dtype),
        "memory_mask": real(lengths, batch, m, front),
        "self_attend": attention(d, seed + 1, dtype),
        "cross_attend": attention(d, seed + 2, dtype),
        "mlp": two_layers(d, seed + 3, dtype),
        "norms": tuple(layer(d, seed + k, dtype) for k in (4, 5, 6)),
        "order": order,
    }


def reference_decoder_block(
    y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order
) -> Tensor:
    """Masked self-attention, cross-attention, MLP, each with residual connection and norm."""
    causal = functional.causal_mask(y.shape[1])
    y = sublayers.sublayer(y, lambda n: self_attend(n, n, causal), norms[0], order)
    y = sublayers.sublayer(y, lambda n: cross_attend(n, memory, memory_mask), norms[1], order)
    return sublayers.sublayer(y, mlp, norms[2], order)


decoder_block = Exercise(
    "decoder_block",
    make=decoder_arguments,
    reference=reference_decoder_block,
    likely={
        "Is a size written into the causal mask? Make it for y.shape[1] words.": stopping(
            "A mask should fit|must match the size|out of bounds|out of range",
            lambda y, *given: y.shape[1] > LONG,
        )
    },
    cases={
        **standard_cases(dict(batch=2, n=3, m=5, d=4), dict(batch=4, n=4, m=4, d=4, seed=20)),
        "padding in the source": dict(batch=3, n=4, m=5, d=4, lengths=[5, 2, 3], seed=40),
        "the order pre": dict(batch=2, n=3, m=5, d=4, order="pre", seed=60),
        "the order pre with padding": dict(
            batch=3, n=5, m=3, d=4, order="pre", lengths=[2, 3, 1], seed=80
        ),
        "padding in front of the source": dict(
            batch=3, n=3, m=4, d=3, lengths=[2, 4, 3], front=True, seed=90
        ),
        "a long text": dict(batch=1, n=140, m=3, d=3, seed=100),
    },
    forbid=("Block", "TransformerDecoderLayer", "TransformerDecoder"),
)
