"""Self-checks of assignment 1, recurrent networks: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps1.draws import draw, draw_arguments, draw_cases, judge_draw
from seqcourse.check.ps1.sequences import (
    FORWARD,
    GRADIENT_NORMS,
    forward,
    forward_arguments,
    gradient_norms,
    norms_arguments,
    reference_forward,
    reference_gradient_norms,
)
from seqcourse.check.ps1.steps import (
    FORBIDDEN,
    LSTM_STEP,
    RNN_STEP,
    lstm_arguments,
    lstm_step,
    rnn_arguments,
    rnn_step,
)
from seqcourse.check.ps1.text import (
    CONTINUE_TEXT,
    TRAINING_PAIRS,
    continue_text,
    pairs_arguments,
    reference_continue_text,
    reference_training_pairs,
    training_pairs,
    writer_arguments,
)

__all__ = [
    "CONTINUE_TEXT",
    "FORBIDDEN",
    "FORWARD",
    "GRADIENT_NORMS",
    "LSTM_STEP",
    "RNN_STEP",
    "TRAINING_PAIRS",
    "continue_text",
    "draw",
    "draw_arguments",
    "draw_cases",
    "forward",
    "forward_arguments",
    "gradient_norms",
    "judge_draw",
    "lstm_arguments",
    "lstm_step",
    "norms_arguments",
    "pairs_arguments",
    "polls",
    "reference_continue_text",
    "reference_forward",
    "reference_gradient_norms",
    "reference_training_pairs",
    "rnn_arguments",
    "rnn_step",
    "training_pairs",
    "writer_arguments",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({"poll_1": "abc", "poll_2": "abc", "poll_3": "abc"}, answers)
