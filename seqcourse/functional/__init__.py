"""Formulas without state: what the modules of this course compute, each written once."""

from seqcourse.functional.dot_product import attention
from seqcourse.functional.layers import gelu, gelu_sigmoid, gelu_tanh, layer_norm, rms_norm, silu
from seqcourse.functional.loss import sequence_loss
from seqcourse.functional.masks import causal_mask, length_mask, window_mask
from seqcourse.functional.position import rotate, shift_matrix, sinusoidal_encoding
from seqcourse.functional.recurrent import gru_combine, gru_step, lstm_step, rnn_step
from seqcourse.functional.sampling import gumbel_max, gumbel_noise, gumbel_softmax
from seqcourse.functional.scores import (
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

__all__ = [
    "additive_score",
    "additive_score_from_keys",
    "attention",
    "causal_mask",
    "dot_score",
    "gaussian_window",
    "gelu",
    "gelu_sigmoid",
    "gelu_tanh",
    "general_score",
    "gru_combine",
    "gru_step",
    "gumbel_max",
    "gumbel_noise",
    "gumbel_softmax",
    "layer_norm",
    "length_mask",
    "log_softmax",
    "lstm_step",
    "mlp_score",
    "rms_norm",
    "rnn_step",
    "rotate",
    "sequence_loss",
    "shift_matrix",
    "silu",
    "sinusoidal_encoding",
    "softmax",
    "weighted_sum",
    "window_mask",
]
