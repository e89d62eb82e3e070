"""Self-checks of assignment 2, seq2seq and decoding: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps2 import beams, gumbel, losses, reading, scheduled, writing
from seqcourse.check.ps2.beams import (
    beam_arguments,
    beam_search,
    judge_beams,
    normalised_cases,
    plain_cases,
    record_search,
)
from seqcourse.check.ps2.gumbel import (
    GUMBEL_SOFTMAX,
    gumbel_arguments,
    gumbel_cases,
    gumbel_softmax,
    reference_gumbel_softmax,
)
from seqcourse.check.ps2.losses import (
    TEACHER_FORCED_LOSS,
    loss_arguments,
    reference_teacher_forced_loss,
    teacher_forced_loss,
)
from seqcourse.check.ps2.reading import (
    DECODER_STEP,
    FINAL_STATES,
    decoder_arguments,
    decoder_step,
    final_arguments,
    final_states,
    reference_decoder_step,
    reference_final_states,
)
from seqcourse.check.ps2.scheduled import (
    judge_scheduled,
    reference_scheduled_sampling,
    scheduled_arguments,
    scheduled_cases,
    scheduled_sampling,
)
from seqcourse.check.ps2.searches import BEAM_SEARCH, full_search, reference_beam_search
from seqcourse.check.ps2.writing import GREEDY, greedy, greedy_arguments, reference_greedy

FORBIDDEN = {}
for _part in (beams, gumbel, losses, reading, scheduled, writing):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "BEAM_SEARCH",
    "DECODER_STEP",
    "FINAL_STATES",
    "FORBIDDEN",
    "GREEDY",
    "GUMBEL_SOFTMAX",
    "TEACHER_FORCED_LOSS",
    "beam_arguments",
    "beam_search",
    "decoder_arguments",
    "decoder_step",
    "final_arguments",
    "final_states",
    "full_search",
    "greedy",
    "greedy_arguments",
    "gumbel_arguments",
    "gumbel_cases",
    "gumbel_softmax",
    "judge_beams",
    "judge_scheduled",
    "loss_arguments",
    "normalised_cases",
    "plain_cases",
    "polls",
    "record_search",
    "reference_beam_search",
    "reference_decoder_step",
    "reference_final_states",
    "reference_greedy",
    "reference_gumbel_softmax",
    "reference_scheduled_sampling",
    "reference_teacher_forced_loss",
    "scheduled_arguments",
    "scheduled_cases",
    "scheduled_sampling",
    "teacher_forced_loss",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({f"poll_{k}": "abc" for k in (1, 2, 3, 4)}, answers)
