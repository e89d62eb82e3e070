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
from seqcourse.nn.blocks import ACTIVATIONS, Block, FeedForward, GatedFeedForward, LayerNorm, RMSNorm
from seqcourse.nn.co_attention import CoAttention
from seqcourse.nn.convolution import ConvolutionLayer, RecurrentLayer, SelfAttentionLayer
from seqcourse.nn.dropout import Dropout
from seqcourse.nn.embedding import Positions, embedding_table
from seqcourse.nn.feature_map import FeatureMapAttention
from seqcourse.nn.first_state import FirstState, average
from seqcourse.nn.grid import GridEncoder
from seqcourse.nn.low_rank import LowRank, adapt, merge
from seqcourse.nn.multi_head import MultiHeadAttention
from seqcourse.nn.patches import PatchEmbedding
from seqcourse.nn.pyramid import PyramidLSTM
from seqcourse.nn.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

__all__ = [
    "ACTIVATIONS",
    "SCORES",
    "AdditiveScore",
    "Attention",
    "Block",
    "CoAttention",
    "ConvolutionLayer",
    "DotScore",
    "Dropout",
    "FeatureMapAttention",
    "FeedForward",
    "GatedFeedForward",
    "FirstState",
    "GRUCell",
    "GeneralScore",
    "GridEncoder",
    "LSTMCell",
    "LayerNorm",
    "LocalAttention",
    "LowRank",
    "MLPScore",
    "MultiHeadAttention",
    "MultiHeadAttentionPool",
    "PatchEmbedding",
    "Positions",
    "PyramidLSTM",
    "RMSNorm",
    "RNNCell",
    "Recurrent",
    "RecurrentLayer",
    "Score",
    "SelfAttentionLayer",
    "adapt",
    "average",
    "embedding_table",
    "merge",
]
