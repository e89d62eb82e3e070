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
from seqcourse.nn.blocks import ACTIVATIONS, Block, FeedForward, LayerNorm
from seqcourse.nn.convolution import ConvolutionLayer, RecurrentLayer, SelfAttentionLayer
from seqcourse.nn.embedding import Positions, embedding_table
from seqcourse.nn.feature_map import FeatureMapAttention
from seqcourse.nn.first_state import FirstState, average
from seqcourse.nn.llama import GatedMLP, GroupedQueryAttention, LlamaBlock, RMSNorm
from seqcourse.nn.multi_head import MultiHeadAttention
from seqcourse.nn.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

__all__ = [
    "ACTIVATIONS",
    "Block",
    "ConvolutionLayer",
    "FeatureMapAttention",
    "FeedForward",
    "GatedMLP",
    "GroupedQueryAttention",
    "LayerNorm",
    "LlamaBlock",
    "MultiHeadAttention",
    "Positions",
    "embedding_table",
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
    "RMSNorm",
    "RNNCell",
    "Recurrent",
    "RecurrentLayer",
    "Score",
    "SelfAttentionLayer",
    "average",
]
