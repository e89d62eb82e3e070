"""Data of the course: texts, tokens, vocabularies, batches, data sets and their splits.

All data is in ``seqcourse/data/files``; nothing is downloaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqcourse.data.alignments import AlignedPair, agreement, load_alignments
from seqcourse.data.arrange import arrange
from seqcourse.data.books import BOOKS, CHILDREN, load_book, load_books, paragraphs
from seqcourse.data.captioned_photographs import (
    CaptionedPhotograph,
    load_captioned,
    load_coco,
    load_flickr8k,
)
from seqcourse.data.digits import DIGITS, DigitString, Recording, digit_strings, join_digits, load_digits
from seqcourse.data.familiar import Familiar, load_familiar, load_familiar_features
from seqcourse.data.fashion import CLOTHES, Clothes, load_fashion
from seqcourse.data.pairs import LANGUAGES, Pair, find_phrase, load_pairs
from seqcourse.data.passages import Passage, load_passages, sentences
from seqcourse.data.photographs import Photograph, load_photographs, read_photograph
from seqcourse.data.pictures import Kind, Picture, load_pictures
from seqcourse.data.prompts import Prompt, load_prompts, prompt_digits
from seqcourse.data.pronunciations import Pronunciation, load_pronunciations, without_stress
from seqcourse.data.questions import Question, questions
from seqcourse.data.scenes import Scene, Thing, compose, load_scenes, word_boxes
from seqcourse.data.splits import SPLITS, split_of
from seqcourse.data.subwords import SubwordVocabulary, load_vocabulary
from seqcourse.data.tasks import copy_task
from seqcourse.data.text import clean, count_words, detokenize, tokenize
from seqcourse.data.vocabulary import Vocabulary
from seqcourse.tokens import EOS, NOT_ASKED, PAD, SOS, SPECIALS, UNK

if TYPE_CHECKING:
    from seqcourse.data.batching import Batch, Batches, Loader, pad
    from seqcourse.data.images import (
        CaptionBatch,
        CaptionBatches,
        EncodedQuestion,
        ImageBatch,
        ImageBatches,
        QuestionBatch,
        QuestionBatches,
        image_tensor,
        to_tensor,
    )
    from seqcourse.data.labelled import LabelledBatch, LabelledBatches
    from seqcourse.data.masking import MaskedBatch, MaskedBatches, mask_words
    from seqcourse.data.spoken import SpokenBatch, SpokenBatches, change_speed, pad_frames, spoken_batch
    from seqcourse.data.windows import DrawnTexts, TextBatch, TextBatches

__all__ = [
    "BOOKS",
    "CHILDREN",
    "CLOTHES",
    "DIGITS",
    "EOS",
    "LANGUAGES",
    "NOT_ASKED",
    "PAD",
    "SOS",
    "SPECIALS",
    "SPLITS",
    "UNK",
    "AlignedPair",
    "Batch",
    "Batches",
    "CaptionBatch",
    "CaptionBatches",
    "CaptionedPhotograph",
    "Clothes",
    "DigitString",
    "DrawnTexts",
    "ImageBatch",
    "ImageBatches",
    "EncodedQuestion",
    "Familiar",
    "Kind",
    "LabelledBatch",
    "LabelledBatches",
    "Loader",
    "MaskedBatch",
    "MaskedBatches",
    "Pair",
    "Passage",
    "Photograph",
    "Picture",
    "Prompt",
    "Pronunciation",
    "Question",
    "QuestionBatch",
    "QuestionBatches",
    "Recording",
    "Scene",
    "SpokenBatch",
    "SpokenBatches",
    "SubwordVocabulary",
    "TextBatch",
    "TextBatches",
    "Thing",
    "Vocabulary",
    "agreement",
    "arrange",
    "change_speed",
    "clean",
    "compose",
    "copy_task",
    "count_words",
    "detokenize",
    "digit_strings",
    "find_phrase",
    "image_tensor",
    "join_digits",
    "load_alignments",
    "load_book",
    "load_books",
    "load_captioned",
    "load_coco",
    "load_digits",
    "load_familiar",
    "load_familiar_features",
    "load_fashion",
    "load_flickr8k",
    "load_pairs",
    "load_passages",
    "load_photographs",
    "load_pictures",
    "load_prompts",
    "load_pronunciations",
    "load_scenes",
    "load_vocabulary",
    "mask_words",
    "pad",
    "pad_frames",
    "paragraphs",
    "prompt_digits",
    "questions",
    "read_photograph",
    "sentences",
    "split_of",
    "spoken_batch",
    "to_tensor",
    "tokenize",
    "without_stress",
    "word_boxes",
]

# These modules import torch, so each is imported lazily, when one of its names is first used.
_LATER = {
    "batching": "Batch Batches Loader pad",
    "images": "CaptionBatch CaptionBatches EncodedQuestion ImageBatch ImageBatches QuestionBatch"
    " QuestionBatches image_tensor to_tensor",
    "labelled": "LabelledBatch LabelledBatches",
    "masking": "MaskedBatch MaskedBatches mask_words",
    "spoken": "SpokenBatch SpokenBatches change_speed pad_frames spoken_batch",
    "windows": "DrawnTexts TextBatch TextBatches",
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"seqcourse.data.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
