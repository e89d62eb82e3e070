"""How good an output is, measured by well-kept libraries wherever there is one.

    bleu, bleu_by_length              translation, through sacrebleu
    bleu_gain                         a difference in BLEU and its interval (paired bootstrap)
    word_error_rate, character_error_rate   transcription, through jiwer
    phoneme_error_rate, pronunciation_error  letters to phonemes, several pronunciations accepted
    alignment_error_rate, links_from_weights  word alignments (Och and Ney 2003)
    cider, caption_match              captions: CIDEr-D; things, counts and relations exactly
    points_at, pointing_game          does a map of attention point at the thing a word names?
    blurred                           that map over the pixels, as papers draw it
    segment_score                     attention against known boundaries in time

Outputs come first and references second, everywhere.
"""

from seqcourse.metrics.alignment import AlignmentError, Link, alignment_error_rate, links_from_weights
from seqcourse.metrics.cider import CIDEr, cider
from seqcourse.metrics.errors import (
    ErrorRate,
    PronunciationError,
    character_error_rate,
    phoneme_error_rate,
    pronunciation_error,
    word_error_rate,
)
from seqcourse.metrics.pointing import DRAWN, Pointing, blurred, pointing_game, points_at
from seqcourse.metrics.scenes import CaptionMatch, caption_match
from seqcourse.metrics.segments import SegmentScore, segment_score
from seqcourse.metrics.translation import (
    BLEU,
    Gain,
    LengthBin,
    bleu,
    bleu_by_length,
    bleu_gain,
    bleu_interval,
)

__all__ = [
    "BLEU",
    "DRAWN",
    "AlignmentError",
    "CIDEr",
    "CaptionMatch",
    "ErrorRate",
    "Gain",
    "LengthBin",
    "Link",
    "Pointing",
    "PronunciationError",
    "SegmentScore",
    "alignment_error_rate",
    "bleu",
    "bleu_by_length",
    "bleu_gain",
    "bleu_interval",
    "blurred",
    "caption_match",
    "character_error_rate",
    "cider",
    "links_from_weights",
    "phoneme_error_rate",
    "pointing_game",
    "points_at",
    "pronunciation_error",
    "segment_score",
    "word_error_rate",
]
