"""Modules: parameters around the formulas of :mod:`seqcourse.functional`."""

from seqcourse.nn.attention import (
    SCORES,
    AdditiveScore,
    Attention,
    DotScore,
    GeneralScore,
    LocalAttention,
    MLPScore,
    MultiHeadAttentionPool,
    Score,
)
from seqcourse.nn.first_state import FirstState, average
from seqcourse.nn.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

__all__ = [
    "SCORES",
    "AdditiveScore",
    "Attention",
    "DotScore",
    "FirstState",
    "GRUCell",
    "GeneralScore",
    "LSTMCell",
    "LocalAttention",
    "MLPScore",
    "MultiHeadAttentionPool",
    "RNNCell",
    "Recurrent",
    "Score",
    "average",
]
