"""Self-checks of assignment 4, the attention layer: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps4 import layers, positions, products, symmetry, windows
from seqcourse.check.ps4.layers import (
    CROSS_ATTENTION,
    SELF_ATTENTION,
    ReferenceSelfAttention,
    SelfAttention,
    cross_arguments,
    cross_attention,
    reference_cross_attention,
    self_arguments,
)
from seqcourse.check.ps4.positions import (
    POSITIONAL_ENCODING,
    SHIFT_MATRIX,
    TOLERANCE,
    encoding_arguments,
    positional_encoding,
    reference_positional_encoding,
    reference_shift_matrix,
    shift_arguments,
    shift_matrix,
)
from seqcourse.check.ps4.products import (
    ATTENTION,
    SIMILARITIES,
    attention,
    attention_arguments,
    reference_attention,
    reference_similarities,
    similarities,
    similarities_arguments,
)
from seqcourse.check.ps4.symmetry import (
    EQUIVARIANCE_GAP,
    equivariance_gap,
    gap_arguments,
    reference_equivariance_gap,
)
from seqcourse.check.ps4.windows import (
    LOCAL_ATTENTION,
    local_arguments,
    local_attention,
    reference_local_attention,
)

FORBIDDEN = {}
for _part in (layers, positions, products, symmetry, windows):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "ATTENTION",
    "CROSS_ATTENTION",
    "EQUIVARIANCE_GAP",
    "FORBIDDEN",
    "LOCAL_ATTENTION",
    "POSITIONAL_ENCODING",
    "ReferenceSelfAttention",
    "SELF_ATTENTION",
    "SHIFT_MATRIX",
    "SIMILARITIES",
    "SelfAttention",
    "TOLERANCE",
    "attention",
    "attention_arguments",
    "cross_arguments",
    "cross_attention",
    "encoding_arguments",
    "equivariance_gap",
    "experiment",
    "gap_arguments",
    "local_arguments",
    "local_attention",
    "polls",
    "positional_encoding",
    "reference_attention",
    "reference_cross_attention",
    "reference_equivariance_gap",
    "reference_local_attention",
    "reference_positional_encoding",
    "reference_shift_matrix",
    "reference_similarities",
    "self_arguments",
    "shift_arguments",
    "shift_matrix",
    "similarities",
    "similarities_arguments",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abcd"}, answers)
