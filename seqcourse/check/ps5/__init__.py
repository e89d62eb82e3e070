"""Self-checks of assignment 5, masks and heads: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps5 import attending, caching, heads, masking, projecting, writing
from seqcourse.check.ps5.attending import (
    ATTENTION,
    attention,
    attention_arguments,
    judge_nothing,
    reference_attention,
)
from seqcourse.check.ps5.caching import (
    CACHED_STEP,
    cached_arguments,
    cached_step,
    reference_cached_step,
)
from seqcourse.check.ps5.heads import (
    MERGE_HEADS,
    SPLIT_HEADS,
    merge_arguments,
    merge_heads,
    reference_merge_heads,
    reference_split_heads,
    split_arguments,
    split_heads,
)
from seqcourse.check.ps5.masking import (
    CAUSAL_MASK,
    COMBINE,
    PADDING_MASK,
    causal_arguments,
    causal_mask,
    combine,
    combine_arguments,
    padding_arguments,
    padding_mask,
    reference_causal_mask,
    reference_combine,
    reference_padding_mask,
)
from seqcourse.check.ps5.projecting import (
    MULTI_HEAD,
    multi_head,
    multi_head_arguments,
    reference_multi_head,
)
from seqcourse.check.ps5.writing import (
    GENERATE,
    generate,
    generate_arguments,
    generate_cases,
    judge_generate_calls,
    record_generate,
    reference_generate,
)

FORBIDDEN = {}
for _part in (attending, caching, heads, masking, projecting, writing):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "ATTENTION",
    "CACHED_STEP",
    "CAUSAL_MASK",
    "COMBINE",
    "FORBIDDEN",
    "GENERATE",
    "MERGE_HEADS",
    "MULTI_HEAD",
    "PADDING_MASK",
    "SPLIT_HEADS",
    "attention",
    "attention_arguments",
    "cached_arguments",
    "cached_step",
    "causal_arguments",
    "causal_mask",
    "combine",
    "combine_arguments",
    "experiment",
    "generate",
    "generate_arguments",
    "generate_cases",
    "judge_generate_calls",
    "judge_nothing",
    "merge_arguments",
    "merge_heads",
    "multi_head",
    "multi_head_arguments",
    "padding_arguments",
    "padding_mask",
    "polls",
    "record_generate",
    "reference_attention",
    "reference_cached_step",
    "reference_causal_mask",
    "reference_combine",
    "reference_generate",
    "reference_merge_heads",
    "reference_multi_head",
    "reference_padding_mask",
    "reference_split_heads",
    "split_arguments",
    "split_heads",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abcd", "poll_3": "abc", "poll_4": "abc"}, answers)
