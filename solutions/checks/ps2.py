"""The hidden checks of assignment 2: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.check import ps2
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "final_states-grade",
        "final_states",
        ps2.final_arguments,
        {
            "sentences of different lengths": dict(batch=5, time=6, h=3),
            "one sentence alone": dict(batch=1, time=4, h=2),
            "sentences of one word": dict(batch=3, time=1, h=2),
            "as many sentences as words": dict(batch=4, time=4, h=2),
        },
        ps2.reference_final_states,
        likely=ps2.FINAL_STATES,
        gradient=["states"],
        see=("02", "The code, naive and then right"),
    ),
    HiddenCheck(
        "decoder_step-grade",
        "decoder_step",
        ps2.decoder_arguments,
        {
            "a batch of several sentences": dict(batch=3, v=6, e=2, s=5, c=4),
            "a batch of one": dict(batch=1, v=9, e=4, s=2, c=3),
            "state, context and embedding of one size": dict(batch=4, v=5, e=3, s=3, c=3),
        },
        ps2.reference_decoder_step,
        likely=ps2.DECODER_STEP,
        gradient=["s", "c", "embedding", "w_out"],
        see=("02", "What passes between: the context vector"),
    ),
    HiddenCheck(
        "teacher_forced_loss-grade",
        "teacher_forced_loss",
        ps2.loss_arguments,
        {
            "sentences of the same length": dict(lengths=[5, 5, 5], v=6, h=3),
            "a batch of one": dict(lengths=[2], v=7, h=4),
            "a larger vocabulary": dict(lengths=[4, 4], v=9, h=2),
        },
        ps2.reference_teacher_forced_loss,
        likely=ps2.TEACHER_FORCED_LOSS,
        gradient=["state"],
        see=("02", "The loss: cross-entropy, summed over the words"),
    ),
    HiddenCheck(
        "teacher_forced_loss-grade-2",
        "teacher_forced_loss",
        ps2.loss_arguments,
        {
            "sentences of different lengths": dict(lengths=[3, 6, 1, 4]),
            "a sentence without words": dict(lengths=[5, 0]),
            "one long sentence among short ones": dict(lengths=[2, 2, 7]),
        },
        ps2.reference_teacher_forced_loss,
        likely=ps2.TEACHER_FORCED_LOSS,
        see=("02", "The loss: cross-entropy, summed over the words"),
    ),
    HiddenCheck(
        "greedy-grade",
        "greedy",
        ps2.greedy_arguments,
        {
            "sentences that end at different times": dict(left=[5, 2, 7, 3], max_len=10),
            "a batch of one": dict(left=[4], max_len=9),
            "sentences that max_len cuts off": dict(left=[15, 2, 15], max_len=6),
            "sentences that end together": dict(left=[2, 2], max_len=8),
            "sentences that end at once": dict(left=[1, 1], max_len=4),
            "a max_len of 1": dict(left=[9], max_len=1),
        },
        ps2.reference_greedy,
        likely=ps2.GREEDY,
        see=("03", "Greedy: the likeliest next word"),
    ),
    HiddenCheck(
        "gumbel_softmax-grade",
        "gumbel_softmax",
        ps2.gumbel_arguments,
        ps2.gumbel_cases,
        ps2.reference_gumbel_softmax,
        likely=ps2.GUMBEL_SOFTMAX,
        gradient=["logits"],
        see=("04", "Drawing a word inside a network"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "scheduled_sampling-grade",
        "scheduled_sampling",
        ps2.scheduled_arguments,
        ps2.scheduled_cases,
        judge_all=ps2.judge_scheduled,
        see=("04", "Half-way: scheduled sampling"),
    ),
    HiddenCheck(
        "beam_search-grade",
        "beam_search",
        ps2.beam_arguments,
        ps2.plain_cases,
        record=ps2.record_search,
        judge_all=ps2.judge_beams,
        see=("03", "Beam search: a few paths at once"),
    ),
    HiddenCheck(
        "beam_search-grade-2",
        "beam_search",
        ps2.beam_arguments,
        ps2.normalised_cases,
        record=ps2.record_search,
        judge_all=ps2.judge_beams,
        see=("03", "Beam search: a few paths at once"),
    ),
    Poll("poll_1-grade", "poll_1", "b", ("03", "Beam search is not optimal")),
    Poll("poll_2-grade", "poll_2", "a", ("04", "The teacher")),
    Poll("poll_3-grade", "poll_3", "c", ("03", "Beam search: a few paths at once")),
    Poll("poll_4-grade", "poll_4", "b", ("02", "A state with two jobs")),
]

CHECKS = [replace(check, forbid=ps2.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
