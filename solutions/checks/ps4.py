"""The hidden checks of assignment 4: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.check import ps4
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll
from seqcourse.check.modules import record_module

SIZE = "Is a size written into your code?"

CHECKS = [
    HiddenCheck(
        "similarities-grade",
        "similarities",
        ps4.similarities_arguments,
        {
            "a few sequences": dict(batch=3, n_q=2, n_x=5, d=4),
            "a batch of one": dict(batch=1, n_q=4, n_x=3, d=7),
            "all sizes equal": dict(batch=4, n_q=4, n_x=4, d=4),
        },
        ps4.reference_similarities,
        likely=ps4.SIMILARITIES,
        gradient=["q", "x"],
        see=("06", "From any similarity to a scaled dot product"),
        hint=SIZE,
    ),
    HiddenCheck(
        "attention-grade",
        "attention",
        ps4.attention_arguments,
        {
            "a few sequences": dict(leading=[3], n_q=2, n_x=5, d=4, d_v=6),
            "a batch of one": dict(leading=[1], n_q=5, n_x=3, d=6, d_v=2),
            "all sizes equal": dict(leading=[4], n_q=4, n_x=4, d=4, d_v=4),
            "no leading axis": dict(leading=[], n_q=3, n_x=4, d=2, d_v=5),
            "two leading axes": dict(leading=[2, 5], n_q=3, n_x=4, d=6, d_v=3),
            "similarities in the thousands": dict(leading=[2], n_q=4, n_x=5, d=3, d_v=4, apart=True),
        },
        ps4.reference_attention,
        likely=ps4.ATTENTION,
        gradient=["q", "k", "v"],
        see=("06", "Queries, keys and values"),
        hint=SIZE,
        share=BY_CASE,
    ),
    HiddenCheck(
        "cross_attention-grade",
        "cross_attention",
        ps4.cross_arguments,
        {
            "different widths": dict(batch=3, n_q=2, n_x=5, d_z=4, d_x=6, d_q=3, d_v=7),
            "a batch of one": dict(batch=1, n_q=4, n_x=3, d_z=5, d_x=2, d_q=7, d_v=4),
            "all sizes equal": dict(batch=4, n_q=4, n_x=4, d_z=4, d_x=4, d_q=4, d_v=4),
            "one query, one input": dict(batch=2, n_q=1, n_x=1, d_z=3, d_x=4, d_q=5, d_v=2),
        },
        ps4.reference_cross_attention,
        likely=ps4.CROSS_ATTENTION,
        gradient=["z", "x", "w_q", "w_k", "w_v"],
        see=("06", "Queries, keys and values"),
        hint=SIZE,
    ),
    HiddenCheck(
        "SelfAttention-grade",
        "SelfAttention",
        ps4.self_arguments,
        {
            "different widths": dict(batch=3, n=5, d_x=4, d_q=6, d_v=2),
            "a batch of one": dict(batch=1, n=4, d_x=3, d_q=2, d_v=5),
            "all sizes equal": dict(batch=4, n=4, d_x=4, d_q=4, d_v=4),
        },
        ps4.ReferenceSelfAttention,
        likely=ps4.SELF_ATTENTION,
        gradient=["w_q.weight", "w_k.weight", "w_v.weight"],
        record=record_module,
        see=("07", "One query per vector"),
        hint=SIZE,
    ),
    HiddenCheck(
        "equivariance_gap-grade",
        "equivariance_gap",
        ps4.gap_arguments,
        {
            "a layer that adds positions": dict(layer="numbered", batch=3, n=7, d=4, d_v=2, shuffles=6),
            "a layer that sums up from the left": dict(
                layer="running", batch=2, n=6, d=3, d_v=4, shuffles=6
            ),
            "a layer on sets": dict(layer="set", batch=2, n=5, d=3, d_v=4),
            "a layer whose outputs are all alike": dict(layer="average", batch=2, n=5, d=4, d_v=3),
            "a layer on every vector alone": dict(layer="alone", batch=3, n=4, d=2, d_v=5),
            "a layer that turns the order round": dict(
                layer="reversed", batch=3, n=6, d=4, d_v=3, shuffles=6, pause=True
            ),
            "one permutation, a shift": dict(layer="numbered", batch=2, n=5, d=3, d_v=3, shift=1),
            "a shift the other way": dict(layer="running", batch=1, n=7, d=3, d_v=2, shift=-2),
            "permutations that leave all in place": dict(
                layer="neighbours", batch=2, n=5, d=3, d_v=4, idle=True
            ),
            "as many sequences as vectors": dict(layer="running", batch=5, n=5, d=5, d_v=5),
        },
        ps4.reference_equivariance_gap,
        likely=ps4.EQUIVARIANCE_GAP,
        tolerance=1e-6,
        see=("07", "A layer on sets"),
    ),
    HiddenCheck(
        "positional_encoding-grade",
        "positional_encoding",
        ps4.encoding_arguments,
        {
            "positions counted from 0": dict(n=6, width=10),
            "positions from further on": dict(n=4, width=8, kind="later"),
            "real numbers in any order": dict(n=7, width=6, kind="any"),
            "one position, one pair": dict(n=1, width=2, kind="any"),
            "as many positions as columns": dict(n=4, width=4, kind="any"),
        },
        ps4.reference_positional_encoding,
        likely=ps4.POSITIONAL_ENCODING,
        tolerance=ps4.TOLERANCE,
        see=("07", "Positions"),
    ),
    HiddenCheck(
        "positional_encoding-grade-2",
        "positional_encoding",
        ps4.encoding_arguments,
        {
            "an odd width": dict(n=5, width=9, kind="any"),
            "another odd width": dict(n=4, width=5, kind="later"),
            "a width of 1": dict(n=3, width=1, kind="any"),
        },
        ps4.reference_positional_encoding,
        likely=ps4.POSITIONAL_ENCODING,
        tolerance=ps4.TOLERANCE,
        see=("07", "Positions"),
    ),
    HiddenCheck(
        "shift_matrix-grade",
        "shift_matrix",
        ps4.shift_arguments,
        {
            "a whole number of places": dict(width=8, whole=True),
            "any number of places": dict(width=6),
            "places back": dict(width=10, sign=-1),
            "one pair": dict(width=2),
            "no place at all": dict(width=4, tau=0),
        },
        ps4.reference_shift_matrix,
        likely=ps4.SHIFT_MATRIX,
        tolerance=ps4.TOLERANCE,
        see=("07", "One matrix moves every position"),
        hint="Make the matrix with dtype=torch.float64.",
    ),
    HiddenCheck(
        "local_attention-grade",
        "local_attention",
        ps4.local_arguments,
        {
            "a narrow window": dict(batch=3, n=7, d=4, d_v=2, width=1),
            "a wider window": dict(batch=2, n=9, d=3, d_v=5, width=3),
            "a batch of one": dict(batch=1, n=5, d=2, d_v=3, width=2),
            "all sizes equal": dict(batch=4, n=4, d=4, d_v=4, width=1),
            "each vector sees only itself": dict(batch=2, n=4, d=3, d_v=2, width=0),
            "a window wider than the sequence": dict(batch=2, n=3, d=4, d_v=2, width=5),
            "keys outside far above the others": dict(batch=2, n=10, d=3, d_v=2, width=2, hidden=True),
        },
        ps4.reference_local_attention,
        likely=ps4.LOCAL_ATTENTION,
        gradient=["q", "k", "v"],
        see=("07", "Local windows"),
        hint=SIZE,
    ),
    Poll("poll_1-grade", "poll_1", "b", see=("06", "Queries, keys and values")),
    Poll("poll_2-grade", "poll_2", "c", see=("07", "What it costs")),
    Poll("poll_3-grade", "poll_3", "a", see=("07", "A layer on sets")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps4.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
