"""The lectures' systems, each a model that ``decode`` can drive and ``train`` can train."""

from seqcourse.models.attention_seq2seq import AttentionSeq2Seq
from seqcourse.models.interface import Maps, Memory, Output, Step, embed
from seqcourse.models.language import CharLM
from seqcourse.models.seq2seq import DelayedModel, EncoderDecoder, Seq2Seq
from seqcourse.models.transformer import Transformer

__all__ = [
    "AttentionSeq2Seq",
    "CharLM",
    "DelayedModel",
    "EncoderDecoder",
    "Maps",
    "Memory",
    "Output",
    "Seq2Seq",
    "Step",
    "Transformer",
    "embed",
]
