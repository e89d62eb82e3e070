"""The lectures' systems, each a model that ``decode`` can drive and ``train`` can train."""

from seqcourse.models.attention_seq2seq import AttentionSeq2Seq
from seqcourse.models.interface import Memory, Output, Step, embed
from seqcourse.models.language import CharLM
from seqcourse.models.seq2seq import DelayedModel, EncoderDecoder, Seq2Seq

__all__ = [
    "AttentionSeq2Seq",
    "CharLM",
    "DelayedModel",
    "EncoderDecoder",
    "Memory",
    "Output",
    "Seq2Seq",
    "Step",
    "embed",
]
