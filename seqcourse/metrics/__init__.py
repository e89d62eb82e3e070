"""How good an output is, measured by well-kept libraries wherever there is one.

    bleu, bleu_by_length              translation, through sacrebleu
    word_error_rate, character_error_rate   transcription, through jiwer
    phoneme_error_rate, pronunciation_error  letters to phonemes, several pronunciations accepted
    alignment_error_rate, links_from_weights  word alignments (Och and Ney 2003)

Outputs come first and references second, everywhere.
"""

from seqcourse.metrics.alignment import (
    AlignmentError,
    Link,
    alignment_error_rate,
    links_from_weights,
)
from seqcourse.metrics.errors import (
    ErrorRate,
    PronunciationError,
    character_error_rate,
    phoneme_error_rate,
    pronunciation_error,
    word_error_rate,
)
from seqcourse.metrics.translation import BLEU, LengthBin, bleu, bleu_by_length

__all__ = [
    "BLEU",
    "AlignmentError",
    "ErrorRate",
    "LengthBin",
    "Link",
    "PronunciationError",
    "alignment_error_rate",
    "bleu",
    "bleu_by_length",
    "character_error_rate",
    "links_from_weights",
    "phoneme_error_rate",
    "pronunciation_error",
    "word_error_rate",
]
