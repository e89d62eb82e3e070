"""The hidden checks of assignment 8: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.check import ps8
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "cut_patches-grade",
        "cut_patches",
        ps8.cut_arguments,
        {
            "square pictures": dict(batch=3, rows=3, columns=3, size=2),
            "a picture that is wider than high": dict(batch=1, rows=2, columns=5, size=3),
            "pictures that are higher than wide": dict(batch=2, rows=4, columns=1, size=4, channels=2),
            "grey pictures": dict(batch=4, rows=2, columns=3, size=5, channels=1),
            "all sizes equal": dict(batch=3, rows=3, columns=3, size=3, channels=3),
            "patches of one pixel": dict(batch=2, rows=3, columns=2, size=1),
        },
        ps8.reference_cut_patches,
        likely=ps8.CUT_PATCHES,
        gradient=["images"],
        see=("14", "A picture as a sentence"),
    ),
    HiddenCheck(
        "embed_patches-grade",
        "embed_patches",
        ps8.embed_arguments,
        {
            "a few pictures": dict(batch=3, n=4, k=6, d=5),
            "one picture": dict(batch=1, n=7, k=3, d=4),
            "all sizes equal": dict(batch=5, n=5, k=5, d=5),
            "a single patch": dict(batch=2, n=1, k=4, d=3),
        },
        ps8.reference_embed_patches,
        likely=ps8.EMBED_PATCHES,
        gradient=["pieces", "w", "b", "cls", "positions"],
        see=("14", "A picture as a sentence"),
    ),
    HiddenCheck(
        "points_at-grade",
        "points_at",
        ps8.pointing_arguments,
        {
            "boxes around the peak, beside it and up to its centre": dict(count=60, rows=4, columns=4),
            "grids that are wider than high": dict(count=60, rows=3, columns=7, cell=3),
            "grids that are higher than wide": dict(count=60, rows=7, columns=5, cell=3),
            "a single map": dict(count=1, rows=5, columns=6, kind="hit"),
            "many maps of a fine grid": dict(count=97, rows=14, columns=14, cell=1),
            "cells that are no whole number of pixels wide": dict(
                count=60, rows=6, columns=7, size=100, kind="tight"
            ),
        },
        ps8.reference_points_at,
        likely=ps8.POINTS_AT,
        see=("13", "Does it point at what it names?"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "doubly_stochastic-grade",
        "doubly_stochastic",
        ps8.stochastic_arguments,
        {
            "sentences of one length": dict(lengths=[4, 4, 4], places=6),
            "one sentence": dict(lengths=[7], places=4),
            "all sizes equal": dict(lengths=[5] * 5, places=5),
            "sentences of different lengths": dict(lengths=[2, 6, 3], places=4),
            "sentences of different lengths, more places than steps": dict(
                lengths=[1, 4, 5, 2], places=16
            ),
            "a batch in which no sentence fills its row but one": dict(lengths=[9, 1, 2, 1], places=3),
        },
        ps8.reference_doubly_stochastic,
        likely=ps8.DOUBLY_STOCHASTIC,
        gradient=["weights"],
        see=("13", "Look at everything once"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "rollout-grade",
        "rollout",
        ps8.rollout_arguments,
        {
            "three layers": dict(batch=3, layers=3, heads=2, n=6),
            "one picture, five layers": dict(batch=1, layers=5, heads=3, n=4),
            "all sizes equal": dict(batch=4, layers=4, heads=4, n=4),
            "a single head": dict(batch=2, layers=2, heads=1, n=7),
        },
        ps8.reference_rollout,
        likely=ps8.ROLLOUT,
        see=("14", "Where did it look?"),
    ),
    HiddenCheck(
        "pyramid_layer-grade",
        "pyramid_layer",
        ps8.pyramid_arguments,
        {
            "sequences of one even length": dict(lengths=[6, 6, 6], d=2, h=3),
            "one sequence": dict(lengths=[10], d=4, h=2),
            "all sizes equal": dict(lengths=[4, 4, 4, 4], d=4, h=4),
            "padding, of even lengths": dict(lengths=[2, 8, 4], d=3, h=2),
        },
        ps8.reference_pyramid_layer,
        likely=ps8.PYRAMID_LAYER,
        gradient=["x"],
        see=("15", "Listen: a pyramid"),
    ),
    HiddenCheck(
        "pyramid_layer-grade-2",
        "pyramid_layer",
        ps8.pyramid_arguments,
        {
            "sequences of one odd length": dict(lengths=[7, 7], d=2, h=2),
            "padding, of odd lengths": dict(lengths=[8, 3, 5, 1], d=3, h=2),
            "padding and an odd number of columns": dict(lengths=[3, 9, 4], d=2, h=3),
            "padding beyond the longest sequence": dict(lengths=[5, 3], d=3, h=2, extra=3),
        },
        ps8.reference_pyramid_layer,
        likely=ps8.PYRAMID_LAYER,
        gradient=["x"],
        see=("15", "Listen: a pyramid"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "caption_step-grade",
        "caption_step",
        ps8.caption_arguments,
        {
            "a few pictures": dict(batch=3, places=6),
            "one picture": dict(batch=1, places=9, e=3, d_s=4, d=2, v=5),
            "all sizes equal": dict(batch=4, places=4, e=4, d_s=4, d=4, v=4),
            "a single place": dict(batch=2, places=1, e=3, d_s=2, d=3, v=8),
            "scores in the hundreds": dict(batch=3, places=5, peak=900.0),
        },
        ps8.reference_caption_step,
        likely=ps8.CAPTION_STEP,
        gradient=["y", "grid"],
        see=("13", "Soft and hard attention"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "co_attention-grade",
        "co_attention",
        ps8.streams_arguments,
        {
            "no padding": dict(batch=3, n=4, m=5),
            "one picture and one question": dict(batch=1, n=6, m=3, d_x=5, d_y=2, width=3),
            "all sizes equal": dict(batch=4, n=4, m=4, d_x=4, d_y=4, width=4),
            "padding in the question": dict(batch=3, n=5, m=6, m_lengths=[6, 2, 4]),
            "padding in both": dict(
                batch=4, n=3, m=5, d_x=3, d_y=3, width=5, n_lengths=[1, 3, 2, 3], m_lengths=[5, 3, 1, 4]
            ),
        },
        ps8.reference_co_attention,
        likely=ps8.CO_ATTENTION,
        gradient=["x", "y"],
        see=("14", "Two streams"),
        share=BY_CASE,
    ),
    Poll("poll_1-grade", "poll_1", "b", see=("13", "Soft and hard attention")),
    Poll("poll_2-grade", "poll_2", "a", see=("14", "A picture as a sentence")),
    Poll("poll_3-grade", "poll_3", "c", see=("15", "Listen: a pyramid")),
    Poll("poll_4-grade", "poll_4", "b", see=("14", "Two streams")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps8.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
