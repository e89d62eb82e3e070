"""Formulas without state: what the modules of this course compute, each written once."""

from seqcourse.functional.attention import (
    additive_score,
    additive_score_from_keys,
    dot_score,
    gaussian_window,
    general_score,
    log_softmax,
    mlp_score,
    softmax,
    weighted_sum,
)
from seqcourse.functional.loss import sequence_loss
from seqcourse.functional.masks import length_mask, window_mask
from seqcourse.functional.recurrent import gru_combine, gru_step, lstm_step, rnn_step
from seqcourse.functional.sampling import gumbel_max, gumbel_noise, gumbel_softmax

__all__ = [
    "additive_score",
    "additive_score_from_keys",
    "dot_score",
    "gaussian_window",
    "general_score",
    "gru_combine",
    "gru_step",
    "gumbel_max",
    "gumbel_noise",
    "gumbel_softmax",
    "length_mask",
    "log_softmax",
    "lstm_step",
    "mlp_score",
    "rnn_step",
    "sequence_loss",
    "softmax",
    "weighted_sum",
    "window_mask",
]
