"""The hidden checks of assignment 3: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse import functional
from seqcourse.check import ps3
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "context-grade",
        "context",
        ps3.context_arguments,
        {
            "a few sentences": dict(batch=3, time=5, d=4),
            "a batch of one": dict(batch=1, time=2, d=6),
            "all sizes equal": dict(batch=4, time=4, d=4),
        },
        functional.weighted_sum,
        likely=ps3.CONTEXT,
        gradient=["weights", "h"],
        see=("05", "A different average for every word"),
    ),
    HiddenCheck(
        "softmax-grade",
        "softmax",
        ps3.softmax_arguments,
        {
            "no mask": dict(batch=3, time=5),
            "no mask and a batch of one": dict(batch=1, time=4),
            "no mask, as many rows as columns": dict(batch=4, time=4),
            "scores in the hundreds": dict(batch=2, time=6, scale=300.0),
            "rows whose scores lie far apart": dict(batch=4, time=3, kind="apart"),
            "a mask": dict(batch=5, time=4, kind="mask"),
            "a mask and a batch of one": dict(batch=1, time=5, kind="mask", scale=3.0),
            "masked scores far above the others": dict(batch=3, time=6, kind="hidden"),
        },
        ps3.reference_softmax,
        likely=ps3.SOFTMAX,
        gradient=["scores"],
        see=("05", "Two steps: scores, then softmax"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "softmax-grade-2",
        "softmax",
        ps3.softmax_arguments,
        {
            "rows with nothing to attend to": dict(batch=5, time=4, kind="nothing"),
            "a batch of one with nothing to attend to": dict(batch=1, time=3, kind="nothing"),
            "nothing to attend to, as many rows as columns": dict(batch=7, time=7, kind="nothing"),
        },
        judge=ps3.judge_softmax_of_nothing,
        gradient=["scores"],
        see=("05", "Padding must not get a weight"),
    ),
    HiddenCheck(
        "general_score-grade",
        "general_score",
        ps3.general_arguments,
        {
            "no matrix": dict(batch=3, time=5, d_s=4),
            "no matrix and a batch of one": dict(batch=1, time=3, d_s=2),
            "no matrix, all sizes equal": dict(batch=4, time=4, d_s=4),
        },
        ps3.reference_general_score,
        likely=ps3.GENERAL_SCORE,
        gradient=["s", "h"],
        see=("05", "Four ways to compare two states"),
    ),
    HiddenCheck(
        "general_score-grade-2",
        "general_score",
        ps3.general_arguments,
        {
            "a matrix between states of one size": dict(batch=3, time=5, d_s=4, matrix=True),
            "a matrix between two sizes": dict(batch=2, time=4, d_s=3, d_h=5, matrix=True),
            "a matrix and a batch of one": dict(batch=1, time=3, d_s=5, d_h=2, matrix=True),
        },
        ps3.reference_general_score,
        likely=ps3.GENERAL_SCORE,
        gradient=["s", "h", "w"],
        see=("05", "Four ways to compare two states"),
    ),
    HiddenCheck(
        "additive_score-grade",
        "additive_score",
        ps3.additive_arguments,
        {
            "states of two sizes": dict(batch=3, time=5, d_s=4, d_h=2, d_a=6),
            "a batch of one": dict(batch=1, time=3, d_s=2, d_h=5, d_a=4),
            "all sizes equal": dict(batch=4, time=4, d_s=4, d_h=4, d_a=4),
        },
        functional.additive_score,
        likely=ps3.ADDITIVE_SCORE,
        gradient=["s", "h", "w_s", "w_h", "v"],
        see=("05", "Four ways to compare two states"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "mlp_score-grade",
        "mlp_score",
        ps3.mlp_arguments,
        {
            "states of two sizes": dict(batch=3, time=5, d_s=4, d_h=2, d_a=6),
            "a batch of one": dict(batch=1, time=3, d_s=2, d_h=5, d_a=4),
            "as many sentences as positions": dict(batch=3, time=3, d_s=3, d_h=3, d_a=6),
        },
        functional.mlp_score,
        likely=ps3.MLP_SCORE,
        gradient=["s", "h", "w1", "b1", "w2", "b2"],
        see=("05", "Four ways to compare two states"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "attend-grade",
        "attend",
        ps3.attend_arguments,
        {
            "no padding": dict(batch=3, time=5, d_s=4, d_h=2),
            "no padding, as many sentences as positions": dict(batch=5, time=5, d_s=2, d_h=3),
            "padding": dict(batch=4, time=4, d_s=2, d_h=4, lengths=[4, 1, 2, 3]),
            "padding and a batch of one": dict(batch=1, time=6, d_s=3, d_h=5, lengths=[4]),
            "scores in the hundreds": dict(batch=2, time=5, d_s=3, d_h=3, lengths=[3, 5], peak=900.0),
        },
        ps3.reference_attend,
        likely=ps3.ATTEND,
        gradient=["s", "h"],
        see=("05", "Padding must not get a weight"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "decoder_step-grade",
        "decoder_step",
        ps3.decoder_arguments,
        {
            "no padding": dict(batch=3, time=5, e=4, d_s=2, d_h=3, v=6),
            "no padding and a batch of one": dict(batch=1, time=3, e=2, d_s=4, d_h=3, v=5),
            "no padding, all sizes equal": dict(batch=4, time=4, e=4, d_s=4, d_h=4, v=4),
            "padding": dict(batch=3, time=6, e=2, d_s=3, d_h=4, v=5, lengths=[5, 2, 6]),
            "padding in every sentence": dict(batch=2, time=5, e=3, d_s=4, d_h=2, v=6, lengths=[4, 2]),
            "padding and a batch of one": dict(batch=1, time=4, e=3, d_s=5, d_h=2, v=4, lengths=[3]),
            "padding, all sizes equal": dict(
                batch=4, time=4, e=4, d_s=4, d_h=4, v=4, lengths=[4, 2, 1, 3]
            ),
        },
        ps3.reference_decoder_step,
        likely=ps3.DECODER_STEP,
        gradient=["y", "s", "h"],
        see=("05", "The decoder of Bahdanau et al."),
        share=BY_CASE,
    ),
    HiddenCheck(
        "local_weights-grade",
        "local_weights",
        ps3.local_arguments,
        {
            "centres between two positions": dict(batch=3, time=10, width=3),
            "a wide window": dict(batch=2, time=12, width=5, centres=[5.7, 9.2]),
            "centres on a position": dict(batch=3, time=9, width=3, centres=[3.0, 0.0, 8.0]),
            "padding inside the window": dict(
                batch=2, time=9, width=3, centres=[2.3, 4.6], lengths=[3, 5]
            ),
            "a narrow window and a batch of one": dict(batch=1, time=6, width=1),
            "a window with nothing but padding": dict(
                batch=2, time=10, width=3, centres=[6.8, 0.4], lengths=[3, 2]
            ),
        },
        ps3.reference_local_weights,
        likely=ps3.LOCAL_WEIGHTS,
        gradient=["scores", "centre"],
        see=("05", "Local attention"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "links-grade",
        "links",
        ps3.links_arguments,
        {
            "as many target words as source words": dict(time=7, words=5, length=5),
            "more target words than source words": dict(time=5, words=9, length=4),
            "many columns that are no words": dict(time=12, words=6, length=5),
            "one source word": dict(time=3, words=4, length=1),
            "no column to leave out": dict(time=4, words=6, length=4),
        },
        ps3.reference_links,
        likely=ps3.LINKS,
        see=("05", "Are the maps right?"),
    ),
    HiddenCheck(
        "alignment_error_rate-grade",
        "alignment_error_rate",
        ps3.error_arguments,
        {
            "many sentences": dict(sentences=30),
            "a few sentences": dict(sentences=4),
            "one sentence": dict(sentences=1),
        },
        ps3.reference_alignment_error_rate,
        likely=ps3.ALIGNMENT_ERROR_RATE,
        see=("05", "Are the maps right?"),
    ),
    Poll("poll_1-grade", "poll_1", "c", see=("05", "A different average for every word")),
    Poll("poll_2-grade", "poll_2", "a", see=("05", "The decoder of Bahdanau et al.")),
    Poll("poll_3-grade", "poll_3", "b", see=("05", "Padding must not get a weight")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps3.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
