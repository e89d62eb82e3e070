"""The hidden checks of assignment 1: one for every grade cell."""

from __future__ import annotations

from seqcourse import functional
from seqcourse.check import ps1
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "rnn_step-grade",
        "rnn_step",
        ps1.rnn_arguments,
        {
            "a batch of several inputs": dict(batch=3, d=5, h=4),
            "a batch of one": dict(batch=1, d=2, h=6),
            "as many inputs as entries of the state": dict(batch=4, d=3, h=3),
        },
        functional.rnn_step,
        likely=ps1.RNN_STEP,
        gradient=["x", "h", "w_hh"],
        forbid=ps1.FORBIDDEN["rnn_step"],
        see=("01", "One step, on paper"),
    ),
    HiddenCheck(
        "training_pairs-grade",
        "training_pairs",
        ps1.pairs_arguments,
        {
            "characters left over at the end": dict(size=23, length=4),
            "rows that use up the whole text": dict(size=25, length=4),
            "a text that lacks only the last target of a row": dict(size=24, length=4),
            "a text of one row": dict(size=7, length=6),
            "rows of one character": dict(size=5, length=1),
        },
        ps1.reference_training_pairs,
        likely=ps1.TRAINING_PAIRS,
        see=("01", "A network that writes"),
    ),
    HiddenCheck(
        "lstm_step-grade",
        "lstm_step",
        ps1.lstm_arguments,
        {
            "a batch of several inputs": dict(batch=3, d=5, h=2),
            "a batch of one": dict(batch=1, d=2, h=6),
            "as many inputs as entries of the state": dict(batch=4, d=3, h=3),
        },
        functional.lstm_step,
        likely=ps1.LSTM_STEP,
        gradient=["x", "w_ih", "w_hh"],
        forbid=ps1.FORBIDDEN["lstm_step"],
        see=("01", "When it fades: a memory that is added to"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "forward-grade",
        "forward",
        ps1.forward_arguments,
        {
            "sequences of the same length": dict(batch=3, time=6, d=2, h=4),
            "a batch of one": dict(batch=1, time=4, d=3, h=2),
            "sequences of one step": dict(batch=4, time=1, d=2, h=2),
        },
        ps1.reference_forward,
        likely=ps1.FORWARD,
        gradient=["x", "h"],
        see=("01", "A whole sequence"),
    ),
    HiddenCheck(
        "forward-grade-2",
        "forward",
        ps1.forward_arguments,
        {
            "sequences of different lengths": dict(batch=4, time=5, d=2, h=3, lengths=[5, 3, 1, 4]),
            "padding after every sequence": dict(batch=3, time=5, d=2, h=3, lengths=[2, 4, 4]),
            "a batch of one, with padding": dict(batch=1, time=5, d=2, h=3, lengths=[3]),
        },
        ps1.reference_forward,
        likely=ps1.FORWARD,
        see=("01", "A whole sequence"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "draw-grade",
        "draw",
        ps1.draw_arguments,
        ps1.draw_cases,
        judge_all=ps1.judge_draw,
        see=("01", "A network that writes"),
    ),
    HiddenCheck(
        "continue_text-grade",
        "continue_text",
        ps1.writer_arguments,
        {
            "several prompts": dict(batch=3, prompt=5, length=7),
            "a batch of one": dict(batch=1, prompt=4, length=6),
            "prompts of one character": dict(batch=2, prompt=1, length=8),
            "one character to write": dict(batch=2, prompt=3, length=1),
        },
        ps1.reference_continue_text,
        likely=ps1.CONTINUE_TEXT,
        see=("01", "A network that writes"),
    ),
    HiddenCheck(
        "gradient_norms-grade",
        "gradient_norms",
        ps1.norms_arguments,
        {
            "several sequences": dict(batch=3, time=6, d=2, h=4),
            "a batch of one": dict(batch=1, time=9, d=3, h=2),
            "sequences of one step": dict(batch=2, time=1, d=2, h=3),
        },
        ps1.reference_gradient_norms,
        likely=ps1.GRADIENT_NORMS,
        see=("01", "Gradients that fade, gradients that blow up"),
    ),
    Poll("poll_1-grade", "poll_1", "c", ("01", "Gradients that fade, gradients that blow up")),
    Poll("poll_2-grade", "poll_2", "a", ("01", "When it fades: a memory that is added to")),
    Poll("poll_3-grade", "poll_3", "b", ("02", "What if $T = 1000$?")),
]
