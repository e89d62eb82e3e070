"""The lectures' systems, each a model that ``decode`` can drive and ``train`` can train."""

from seqcourse.models.attention_seq2seq import AttentionSeq2Seq
from seqcourse.models.bert import BERT, BertOutput
from seqcourse.models.classifier import Classified, Classifier
from seqcourse.models.counting import (
    Shape,
    count_flops,
    count_parameters,
    number_of_parameters,
)
from seqcourse.models.gpt import GPT
from seqcourse.models.interface import Maps, Memory, Output, Step, embed
from seqcourse.models.language import CharLM
from seqcourse.models.llama import Llama
from seqcourse.models.seq2seq import DelayedModel, EncoderDecoder, Seq2Seq
from seqcourse.models.transformer import Transformer

__all__ = [
    "BERT",
    "GPT",
    "AttentionSeq2Seq",
    "BertOutput",
    "CharLM",
    "Classified",
    "Classifier",
    "DelayedModel",
    "EncoderDecoder",
    "Llama",
    "Maps",
    "Memory",
    "Output",
    "Seq2Seq",
    "Shape",
    "Step",
    "Transformer",
    "count_flops",
    "count_parameters",
    "embed",
    "number_of_parameters",
]
