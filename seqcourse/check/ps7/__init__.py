"""Self-checks of assignment 7, pre-training: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps7 import batches, counts, losses, masking, pairs, prompts, tuning
from seqcourse.check.ps7.batches import (
    LANGUAGE_BATCH,
    batch_arguments,
    language_batch,
    reference_language_batch,
)
from seqcourse.check.ps7.counts import (
    BERT_BASE,
    BERT_PARAMETERS,
    GPT2_SMALL,
    GPT_PARAMETERS,
    bert_arguments,
    bert_parameters,
    gpt_arguments,
    gpt_parameters,
    reference_bert_parameters,
    reference_gpt_parameters,
)
from seqcourse.check.ps7.losses import (
    MASKED_WORD_LOSS,
    judge_nothing,
    masked_arguments,
    masked_word_loss,
    reference_masked_word_loss,
)
from seqcourse.check.ps7.masking import (
    MASK_WORDS,
    mask_words,
    masking_arguments,
    reference_mask_words,
)
from seqcourse.check.ps7.pairs import (
    PACK_PAIR,
    SENTENCE_PAIRS,
    pack_arguments,
    pack_pair,
    pairs_arguments,
    reference_pack_pair,
    reference_sentence_pairs,
    sentence_pairs,
)
from seqcourse.check.ps7.prompts import (
    FEW_SHOT_PROMPT,
    few_shot_prompt,
    prompt_arguments,
    reference_few_shot_prompt,
)
from seqcourse.check.ps7.tuning import (
    FINE_TUNING_LOSS,
    fine_tuning_loss,
    reference_fine_tuning_loss,
    tuning_arguments,
)

FORBIDDEN = {}
for _part in (batches, counts, losses, masking, pairs, prompts, tuning):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "BERT_BASE",
    "BERT_PARAMETERS",
    "FEW_SHOT_PROMPT",
    "FINE_TUNING_LOSS",
    "FORBIDDEN",
    "GPT2_SMALL",
    "GPT_PARAMETERS",
    "LANGUAGE_BATCH",
    "MASKED_WORD_LOSS",
    "MASK_WORDS",
    "PACK_PAIR",
    "SENTENCE_PAIRS",
    "batch_arguments",
    "bert_arguments",
    "bert_parameters",
    "experiment",
    "few_shot_prompt",
    "fine_tuning_loss",
    "gpt_arguments",
    "gpt_parameters",
    "judge_nothing",
    "language_batch",
    "mask_words",
    "masked_arguments",
    "masked_word_loss",
    "masking_arguments",
    "pack_arguments",
    "pack_pair",
    "pairs_arguments",
    "polls",
    "prompt_arguments",
    "reference_bert_parameters",
    "reference_few_shot_prompt",
    "reference_fine_tuning_loss",
    "reference_gpt_parameters",
    "reference_language_batch",
    "reference_mask_words",
    "reference_masked_word_loss",
    "reference_pack_pair",
    "reference_sentence_pairs",
    "sentence_pairs",
    "tuning_arguments",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({f"poll_{k}": "abc" for k in (1, 2, 3, 4)}, answers)
