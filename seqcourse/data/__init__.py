"""Data of the course: texts, tokens, vocabularies, batches, data sets and their splits.

Nothing here needs a network: the course's cuts lie under ``seqcourse/data/files``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqcourse.data.alignments import AlignedPair, agreement, load_alignments
from seqcourse.data.books import BOOKS, CHILDREN, load_book, load_books, paragraphs
from seqcourse.data.pairs import LANGUAGES, Pair, load_pairs
from seqcourse.data.passages import Passage, load_passages, sentences
from seqcourse.data.pronunciations import Pronunciation, load_pronunciations, without_stress
from seqcourse.data.splits import SPLITS, split_of
from seqcourse.data.subwords import SubwordVocabulary
from seqcourse.data.tasks import copy_task
from seqcourse.data.text import clean, count_words, detokenize, tokenize
from seqcourse.data.vocabulary import EOS, PAD, SOS, SPECIALS, UNK, Vocabulary, load_vocabulary

if TYPE_CHECKING:
    from seqcourse.data.batching import Batch, Batches, pad
    from seqcourse.data.labelled import LabelledBatch, LabelledBatches
    from seqcourse.data.masking import NOT_ASKED, MaskedBatch, MaskedBatches, mask_words
    from seqcourse.data.windows import TextBatch, TextBatches

__all__ = [
    "BOOKS",
    "CHILDREN",
    "EOS",
    "LANGUAGES",
    "NOT_ASKED",
    "PAD",
    "SOS",
    "SPECIALS",
    "SPLITS",
    "TextBatch",
    "TextBatches",
    "UNK",
    "AlignedPair",
    "Batch",
    "Batches",
    "LabelledBatch",
    "LabelledBatches",
    "MaskedBatch",
    "MaskedBatches",
    "Pair",
    "Passage",
    "Pronunciation",
    "SubwordVocabulary",
    "Vocabulary",
    "agreement",
    "clean",
    "copy_task",
    "count_words",
    "detokenize",
    "load_alignments",
    "load_book",
    "load_books",
    "load_pairs",
    "load_passages",
    "load_pronunciations",
    "load_vocabulary",
    "mask_words",
    "pad",
    "paragraphs",
    "sentences",
    "split_of",
    "tokenize",
    "without_stress",
]

# Loaded at first use, because they import torch.
_LATER = {
    "Batch": "batching",
    "Batches": "batching",
    "pad": "batching",
    "LabelledBatch": "labelled",
    "LabelledBatches": "labelled",
    "MaskedBatch": "masking",
    "MaskedBatches": "masking",
    "NOT_ASKED": "masking",
    "mask_words": "masking",
    "TextBatch": "windows",
    "TextBatches": "windows",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"seqcourse.data.{_LATER[name]}"), name)
    globals()[name] = value
    return value
