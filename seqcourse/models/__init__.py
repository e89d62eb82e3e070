"""The lectures' systems, each a model that ``decode`` can drive and ``train`` can train."""

from seqcourse.models.attention_seq2seq import AttentionSeq2Seq
from seqcourse.models.bert import BERT, BertOutput
from seqcourse.models.captioner import Captioned, FixedCaptioner, HardCaptioner, SoftCaptioner
from seqcourse.models.classifier import Classified, Classifier
from seqcourse.models.contrastive import ContrastivePair, ScenePair
from seqcourse.models.counted import CountedRuns
from seqcourse.models.counting import Shape, count_flops, count_parameters, number_of_parameters
from seqcourse.models.efficientnet import EfficientNetLite0
from seqcourse.models.feature_captioner import FeatureCaptioner
from seqcourse.models.gpt import GPT, TODAY
from seqcourse.models.interface import Maps, Memory, Output, Step, embed
from seqcourse.models.language import CharLM
from seqcourse.models.seq2seq import DelayedModel, EncoderDecoder, Seq2Seq
from seqcourse.models.speller import CTCSpeller, Speller, TransformerSpeller
from seqcourse.models.transformer import Transformer
from seqcourse.models.transformer_captioner import TransformerCaptioner
from seqcourse.models.two_stream import Answered, GridNamer, TwoStream
from seqcourse.models.vit import ConvNet, ViT
from seqcourse.models.writer import Writer

__all__ = [
    "BERT",
    "CTCSpeller",
    "CountedRuns",
    "GPT",
    "TODAY",
    "Answered",
    "AttentionSeq2Seq",
    "BertOutput",
    "Captioned",
    "CharLM",
    "Classified",
    "Classifier",
    "ContrastivePair",
    "ConvNet",
    "DelayedModel",
    "EfficientNetLite0",
    "EncoderDecoder",
    "FeatureCaptioner",
    "FixedCaptioner",
    "GridNamer",
    "HardCaptioner",
    "Maps",
    "Memory",
    "Output",
    "ScenePair",
    "Seq2Seq",
    "Shape",
    "SoftCaptioner",
    "Speller",
    "Step",
    "Transformer",
    "TransformerCaptioner",
    "TransformerSpeller",
    "TwoStream",
    "ViT",
    "Writer",
    "count_flops",
    "count_parameters",
    "embed",
    "number_of_parameters",
]
