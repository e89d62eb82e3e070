"""Formulas without state: what the modules of this course compute, each written once."""

from seqcourse.functional.captions import doubly_stochastic
from seqcourse.functional.dot_product import attention
from seqcourse.functional.dropout import check_share, dropout
from seqcourse.functional.layers import gelu, gelu_sigmoid, gelu_tanh, layer_norm, rms_norm, silu
from seqcourse.functional.loss import contrastive_loss, sequence_loss
from seqcourse.functional.masks import (
    boolean_mask,
    causal_mask,
    check_hidden,
    check_lengths,
    length_mask,
    looks_at_values,
    window_mask,
)
from seqcourse.functional.patches import patches
from seqcourse.functional.position import grid_encoding, rotate, shift_matrix, sinusoidal_encoding
from seqcourse.functional.precision import widened
from seqcourse.functional.preference import dpo_loss, group_advantage, policy_loss
from seqcourse.functional.pyramid import pair_neighbours
from seqcourse.functional.recurrent import gru_combine, gru_step, lstm_step, rnn_step
from seqcourse.functional.rollout import attention_rollout
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
from seqcourse.functional.sound import (
    cut_frames,
    dct_matrix,
    decibels,
    hertz_to_mel,
    levels_from_mfcc,
    log_mel,
    mel_filters,
    mel_to_hertz,
    mfcc,
    power_from_levels,
    power_spectrum,
    sound_of_mfcc,
    spectral_window,
    vocode,
)
from seqcourse.functional.widths import check_width

__all__ = [
    "additive_score",
    "additive_score_from_keys",
    "attention",
    "attention_rollout",
    "boolean_mask",
    "causal_mask",
    "check_hidden",
    "check_lengths",
    "check_share",
    "check_width",
    "contrastive_loss",
    "cut_frames",
    "dct_matrix",
    "decibels",
    "dot_score",
    "doubly_stochastic",
    "dpo_loss",
    "dropout",
    "gaussian_window",
    "gelu",
    "gelu_sigmoid",
    "gelu_tanh",
    "general_score",
    "grid_encoding",
    "group_advantage",
    "gru_combine",
    "gru_step",
    "gumbel_max",
    "gumbel_noise",
    "gumbel_softmax",
    "hertz_to_mel",
    "layer_norm",
    "length_mask",
    "looks_at_values",
    "levels_from_mfcc",
    "log_mel",
    "log_softmax",
    "lstm_step",
    "mel_filters",
    "mel_to_hertz",
    "mfcc",
    "mlp_score",
    "pair_neighbours",
    "patches",
    "policy_loss",
    "power_from_levels",
    "power_spectrum",
    "rms_norm",
    "rnn_step",
    "rotate",
    "sequence_loss",
    "shift_matrix",
    "silu",
    "sinusoidal_encoding",
    "softmax",
    "sound_of_mfcc",
    "spectral_window",
    "vocode",
    "weighted_sum",
    "widened",
    "window_mask",
]
