"""Exercise 6: one step of a captioner that looks, its gate and its deep output."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, Kind, standard_cases
from seqcourse.check.inside import ps8 as inside


def caption_arguments(
    batch: int,
    places: int,
    e: int = 2,
    d_s: int = 3,
    d: int = 5,
    v: int = 6,
    peak: float | None = None,
    gates: float | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `caption_step`: a word, an LSTM's state, a grid of vectors, four functions.

    peak: what the largest score is scaled to, such as 900.
    gates: what the largest number of the gate is scaled to, such as 900; the smallest becomes -20.
    """
    drawn = normal(
        {"y": (batch, e), "s": (batch, d_s), "m": (batch, d_s), "grid": (batch, places, d)}, seed, dtype
    )
    to_score = normal({"w_s": (d_s, 4), "w_h": (d, 4), "v": (4,)}, seed + 1, dtype)
    to_gate = normal({"w": (d_s, 1), "b": (1,)}, seed + 2, dtype)
    to_cell = normal({"w_x": (e + d, 4 * d_s), "w_s": (d_s, 4 * d_s)}, seed + 3, dtype)
    to_logits = normal({"w_y": (e, v), "w_s": (d_s, v), "w_c": (d, v)}, seed + 4, dtype)
    scale = 1.0
    if peak is not None:
        scores = inside.score(drawn["s"], drawn["grid"], **to_score).flatten()
        scale = peak / scores[scores.abs().argmax()].item()
    return {
        "y": drawn["y"],
        "state": (drawn["s"], drawn["m"]),
        "grid": drawn["grid"],
        "score": partial(inside.score, **to_score, scale=scale),
        "gate": partial(inside.gate, **(_wide(to_gate, drawn["s"], gates) if gates else to_gate)),
        "cell": partial(inside.cell, **to_cell),
        "readout": partial(inside.readout, **to_logits),
    }


def _wide(to_gate: dict[str, Tensor], s: Tensor, most: float, least: float = -20) -> dict[str, Tensor]:
    """The gate scaled and shifted, so that its numbers reach from least to most.

    Far below zero a sigmoid written as 1 / (1 + exp(-g)) is right, but has no gradient.
    """
    low, high = (s @ to_gate["w"]).aminmax()
    scale = (most - least) / (high - low)
    return {"w": scale * to_gate["w"], "b": (least - scale * low)[None]}


def reference_caption_step(y, state, grid, score, gate, cell, readout):
    """Look, remember, speak: logits (B, V), the new state, weights (B, N)."""
    weights = score(state[0], grid).softmax(dim=-1)
    c = torch.sigmoid(gate(state[0])) * (weights[..., None] * grid).sum(dim=1)
    new = cell(torch.cat([y, c], dim=-1), state)
    return readout(y, new[0], c), new, weights


caption_step = Exercise(
    "caption_step",
    make=caption_arguments,
    reference=reference_caption_step,
    likely={
        "Do the weights not fit the grid? They are (B, N), the grid is (B, N, D): weights[..., None].": (
            stopping("must match the size of tensor")
        )
    },
    cases={
        **standard_cases(
            dict(batch=2, places=4), dict(batch=5, places=9, e=4, d_s=2, d=3, v=7, seed=10)
        ),
        "all sizes equal": dict(batch=4, places=4, e=4, d_s=4, d=4, v=4, seed=20),
        "a single place, and all widths 1": Kind(
            dict(batch=2, places=1, e=1, d_s=1, d=1, v=1, seed=40),
            "Does a squeeze() drop an axis of size 1?",
        ),
        "scores and gates so large that exp overflows": dict(
            batch=3, places=5, peak=900.0, gates=900.0, seed=30
        ),
    },
    forbid=("SoftCaptioner", "FixedCaptioner", "HardCaptioner"),
)
