"""Exercises 5 and 6: one look at the source, and one step of a decoder that looks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.inside import ps3 as inside


def _mask(batch: int, time: int, lengths: Sequence[int] | None) -> Tensor:
    ends = torch.tensor([time] * batch if lengths is None else list(lengths))
    return torch.arange(time) < ends[:, None]


def _score_weights(d_s: int, d_h: int, seed: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Weights of an additive score; they ask for no gradient."""
    return normal({"w_s": (4, d_s), "w_h": (4, d_h), "v": (4,)}, seed, dtype)


def attend_arguments(
    batch: int,
    time: int,
    d_s: int,
    d_h: int,
    lengths: Sequence[int] | None = None,
    peak: float | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `attend`: a score with fixed weights, states, a mask of real positions.

    peak: what the largest score of a real position is scaled to, such as 900.
    """
    drawn = normal({"s": (batch, d_s), "h": (batch, time, d_h)}, seed, dtype)
    weights, mask = _score_weights(d_s, d_h, seed + 1, dtype), _mask(batch, time, lengths)
    if peak is not None:
        scores = functional.additive_score(**drawn, **weights)[mask]
        weights["v"] = weights["v"] * (peak / scores[scores.abs().argmax()])
    return {"score": partial(functional.additive_score, **weights), **drawn, "mask": mask}


def reference_attend(score, s: Tensor, h: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Context (B, D_H) and weights (B, T)."""
    return inside.look(s, h, mask, score)


attend = Exercise(
    "attend",
    make=attend_arguments,
    reference=reference_attend,
    cases={
        **standard_cases(dict(batch=2, time=4, d_s=3, d_h=5), dict(batch=3, time=3, d_s=3, d_h=3)),
        "padding": dict(batch=3, time=5, d_s=3, d_h=4, lengths=[5, 2, 3]),
        "padding and a batch of 1": dict(batch=1, time=4, d_s=2, d_h=3, lengths=[2]),
        "large scores": dict(batch=2, time=4, d_s=3, d_h=5, lengths=[4, 3], peak=900.0),
        "a word whose score is far below 0": dict(batch=1, time=3, d_s=2, d_h=3, lengths=[1], peak=-1e6),
    },
    forbid=("Attention", "scaled_dot_product_attention", "MultiheadAttention"),
)


def decoder_arguments(
    batch: int,
    time: int,
    e: int,
    d_s: int,
    d_h: int,
    v: int,
    lengths: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `decoder_step`: states, a mask, and three functions with fixed weights."""
    drawn = normal({"y": (batch, e), "s": (batch, d_s), "h": (batch, time, d_h)}, seed, dtype)
    score = partial(functional.additive_score, **_score_weights(d_s, d_h, seed + 1, dtype))
    wide = e + d_h
    gates = normal(
        {
            "w_ih": (3 * d_s, wide),
            "w_hh": (3 * d_s, d_s),
            "b_ih": (3 * d_s,),
            "b_hh": (3 * d_s,),
            "out": (v, d_s + wide),
        },
        seed + 2,
        dtype,
    )
    out = gates.pop("out")
    return {
        **drawn,
        "mask": _mask(batch, time, lengths),
        "attend": partial(inside.look, score=score),
        "cell": partial(functional.gru_step, **gates),
        "readout": partial(inside.readout, out=out),
    }


def reference_decoder_step(y, s, h, mask, attend, cell, readout) -> tuple[Tensor, Tensor, Tensor]:
    """Logits (B, V), the new state (B, D_S) and the weights (B, T)."""
    c, weights = attend(s, h, mask)
    s = cell(torch.cat([y, c], dim=-1), s)
    return readout(torch.cat([s, c, y], dim=-1)), s, weights


decoder_step = Exercise(
    "decoder_step",
    make=decoder_arguments,
    reference=reference_decoder_step,
    cases={
        **standard_cases(
            dict(batch=2, time=4, e=3, d_s=5, d_h=6, v=7), dict(batch=3, time=3, e=3, d_s=3, d_h=3, v=3)
        ),
        "padding": dict(batch=3, time=5, e=2, d_s=3, d_h=4, v=6, lengths=[5, 2, 3]),
    },
    forbid=("AttentionSeq2Seq", "MultiheadAttention"),
)
