"""Self-checks of assignment 3, attention in the decoder: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3 import linking, rates, scores, steps, weights, windows
from seqcourse.check.ps3.linking import LINKS, links, links_arguments, reference_links
from seqcourse.check.ps3.rates import (
    ALIGNMENT_ERROR_RATE,
    alignment_error_rate,
    error_arguments,
    reference_alignment_error_rate,
)
from seqcourse.check.ps3.scores import (
    ADDITIVE_SCORE,
    GENERAL_SCORE,
    MLP_SCORE,
    additive_arguments,
    additive_score,
    general_arguments,
    general_score,
    mlp_arguments,
    mlp_score,
    reference_general_score,
)
from seqcourse.check.ps3.steps import (
    ATTEND,
    DECODER_STEP,
    attend,
    attend_arguments,
    decoder_arguments,
    decoder_step,
    reference_attend,
    reference_decoder_step,
)
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps3.weights import (
    CONTEXT,
    SOFTMAX,
    context,
    context_arguments,
    judge_softmax_of_nothing,
    reference_softmax,
    softmax,
    softmax_arguments,
)
from seqcourse.check.ps3.windows import (
    LOCAL_WEIGHTS,
    local_arguments,
    local_weights,
    reference_local_weights,
)

FORBIDDEN = {}
for _part in (linking, rates, scores, steps, weights, windows):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "ADDITIVE_SCORE",
    "ALIGNMENT_ERROR_RATE",
    "ATTEND",
    "CONTEXT",
    "DECODER_STEP",
    "FORBIDDEN",
    "GENERAL_SCORE",
    "LINKS",
    "LOCAL_WEIGHTS",
    "MLP_SCORE",
    "SOFTMAX",
    "additive_arguments",
    "additive_score",
    "alignment_error_rate",
    "attend",
    "attend_arguments",
    "context",
    "context_arguments",
    "decoder_arguments",
    "decoder_step",
    "error_arguments",
    "experiment",
    "general_arguments",
    "general_score",
    "judge_softmax_of_nothing",
    "links",
    "links_arguments",
    "local_arguments",
    "local_weights",
    "mlp_arguments",
    "mlp_score",
    "polls",
    "reference_alignment_error_rate",
    "reference_attend",
    "reference_decoder_step",
    "reference_general_score",
    "reference_links",
    "reference_local_weights",
    "reference_softmax",
    "softmax",
    "softmax_arguments",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abcd"}, answers)
