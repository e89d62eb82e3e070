"""The hidden checks of assignment 7: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.check import ps7
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "language_batch-grade",
        "language_batch",
        ps7.batch_arguments,
        {
            "documents that fill their rows": dict(sizes=[5, 2, 6], length=5),
            "one document that fills its rows": dict(sizes=[8], length=4, end=3),
            "one full row of several documents": dict(sizes=[2, 1, 3], length=8),
            "rows of a single token": dict(sizes=[3, 1, 4], length=1),
        },
        ps7.reference_language_batch,
        likely=ps7.LANGUAGE_BATCH,
        see=("12", "The next word, on everything"),
    ),
    HiddenCheck(
        "language_batch-grade-2",
        "language_batch",
        ps7.batch_arguments,
        {
            "a last row that is half full": dict(sizes=[7, 3, 4], length=6),
            "a last row with one token": dict(sizes=[6, 5], length=4, end=3),
            "a last row that lacks one token": dict(sizes=[4, 4, 1], length=6),
            "a document shorter than a row": dict(sizes=[3], length=7),
        },
        ps7.reference_language_batch,
        likely=ps7.LANGUAGE_BATCH,
        see=("12", "The next word, on everything"),
    ),
    HiddenCheck(
        "few_shot_prompt-grade",
        "few_shot_prompt",
        ps7.prompt_arguments,
        {
            "two solved examples": dict(shots=2),
            "four solved examples": dict(shots=4),
            "one solved example": dict(shots=1),
            "no solved example": dict(shots=0),
            "texts with line ends and tabs inside": dict(shots=2, white=True),
            "a query with line ends, and no example": dict(shots=0, white=True),
        },
        ps7.reference_few_shot_prompt,
        likely=ps7.FEW_SHOT_PROMPT,
        see=("12", "Prompting"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "gpt_parameters-grade",
        "gpt_parameters",
        ps7.gpt_arguments,
        {
            "an MLP four times as wide": dict(),
            "an MLP of any width": dict(factor=None),
            "an MLP as wide as the model": dict(factor=1),
            "a single layer": dict(factor=2, layers=1),
            "no layers at all": dict(factor=None, layers=0),
        },
        ps7.reference_gpt_parameters,
        likely=ps7.GPT_PARAMETERS,
        see=("12", "Scale"),
    ),
    HiddenCheck(
        "bert_parameters-grade",
        "bert_parameters",
        ps7.bert_arguments,
        {
            "an MLP four times as wide": dict(),
            "an MLP of any width": dict(factor=None, segments=2),
            "four segments": dict(factor=3, segments=4),
            "a single layer and one segment": dict(factor=None, layers=1, segments=1),
            "no layers at all": dict(factor=None, layers=0),
        },
        ps7.reference_bert_parameters,
        likely=ps7.BERT_PARAMETERS,
        see=("12", "Scale"),
    ),
    HiddenCheck(
        "fine_tuning_loss-grade",
        "fine_tuning_loss",
        ps7.tuning_arguments,
        {
            "texts of one length": dict(lengths=[4, 4, 4], d=4, classes=3, v=8),
            "one text": dict(lengths=[5], d=2, classes=2, v=11, weight=0.3),
            "a weight of 0": dict(lengths=[6, 6], d=3, classes=4, v=9, weight=0.0),
            "all sizes equal": dict(lengths=[7] * 7, d=7, classes=7, v=7, weight=1.5),
            "padding": dict(lengths=[2, 6, 3, 5], d=3, classes=3, v=12, weight=0.5),
            "padding in most texts and a large weight": dict(
                lengths=[3, 8, 2], d=5, classes=2, v=7, weight=4.0
            ),
            "padding and states in the hundreds": dict(
                lengths=[5, 2, 4], d=3, classes=2, v=9, scale=300.0
            ),
        },
        ps7.reference_fine_tuning_loss,
        likely=ps7.FINE_TUNING_LOSS,
        gradient=["states", "w_classes", "w_words"],
        see=("12", "Fine-tuning with an auxiliary loss"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "mask_words-grade",
        "mask_words",
        ps7.masking_arguments,
        {
            "rows of words only": dict(lengths=[40, 40, 40], v=30, specials=False),
            "a single row of words": dict(lengths=[90], v=200, specials=False),
            "specials and padding": dict(lengths=[40, 17, 28, 5], v=50),
            "specials and padding, few words chosen": dict(lengths=[99, 60, 90], v=3000, often=False),
            "draws exactly on the borders": dict(lengths=[60, 60], v=40, specials=False, borders=True),
            "rows of which no word is chosen": dict(lengths=[7, 7], v=30, specials=False, none=True),
        },
        ps7.reference_mask_words,
        likely=ps7.MASK_WORDS,
        see=("12", "Masked words"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "masked_word_loss-grade",
        "masked_word_loss",
        ps7.masked_arguments,
        {
            "some places chosen": dict(batch=4, time=6, v=9),
            "a batch of one": dict(batch=1, time=5, v=7),
            "all sizes equal": dict(batch=8, time=8, v=8),
            "logits in the hundreds": dict(batch=3, time=4, v=10, scale=300.0),
            "a single place chosen": dict(batch=2, time=4, v=7, single=True),
        },
        ps7.reference_masked_word_loss,
        likely=ps7.MASKED_WORD_LOSS,
        gradient=["logits"],
        see=("12", "Masked words"),
    ),
    HiddenCheck(
        "masked_word_loss-grade-2",
        "masked_word_loss",
        ps7.masked_arguments,
        {
            "no place chosen": dict(batch=3, time=5, v=9, share=0.0),
            "no place chosen in a batch of one": dict(batch=1, time=4, v=6, share=0.0),
        },
        judge=ps7.judge_nothing,
        gradient=["logits"],
        see=("12", "Masked words"),
    ),
    HiddenCheck(
        "pack_pair-grade",
        "pack_pair",
        ps7.pack_arguments,
        {
            "a pair with room to spare": dict(a=4, b=6, longest=30),
            "a pair that just fits": dict(a=5, b=3, longest=11),
            "one token too many": dict(a=4, b=5, longest=11),
            "a first sentence that is far too long": dict(a=15, b=3, longest=11),
            "a second sentence that is far too long": dict(a=2, b=14, longest=12),
            "two sentences that are both too long": dict(a=12, b=9, longest=14),
            "two equally long sentences": dict(a=7, b=7, longest=10),
            "room for one word of each": dict(a=3, b=6, longest=5),
        },
        ps7.reference_pack_pair,
        likely=ps7.PACK_PAIR,
        see=("12", "Does this sentence follow?"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "sentence_pairs-grade",
        "sentence_pairs",
        ps7.pairs_arguments,
        {
            "several documents": dict(sizes=[5, 3, 6, 4]),
            "two documents": dict(sizes=[4, 7]),
            "documents of one sentence among them": dict(sizes=[1, 6, 1, 5]),
            "many sentences": dict(sizes=[12, 15, 9]),
            "sentences that every document holds": dict(sizes=[17, 16, 19], repeated=True),
        },
        ps7.reference_sentence_pairs,
        likely=ps7.SENTENCE_PAIRS,
        see=("12", "Does this sentence follow?"),
        share=BY_CASE,
    ),
    Poll("poll_1-grade", "poll_1", "a", see=("12", "Which model for what")),
    Poll("poll_2-grade", "poll_2", "c", see=("12", "Fine-tuning with an auxiliary loss")),
    Poll("poll_3-grade", "poll_3", "b", see=("12", "Masked words")),
    Poll("poll_4-grade", "poll_4", "c", see=("12", "Scale")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps7.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
