"""Exercise 9: a captioner with three faults; only what they do is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, hinted
from seqcourse.check.inside import ps8 as inside
from seqcourse.check.ps8.captions import reference_caption_step
from seqcourse.tokens import EOS, PAD, SOS


def mended_arguments(
    batch: int,
    rows: int = 2,
    columns: int = 3,
    d: int = 4,
    longest: int = 8,
    uneven: bool = True,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `mended`: a CNN's map and a small captioner's parts.

    uneven: captions end at different words, and all before `longest`.
    """
    for attempt in range(500):
        given = _drawn(batch, rows, columns, d, longest, dtype, seed + 7919 * attempt)
        ids = _caption(**given)[0]
        ends = (ids == EOS).int().argmax(dim=1).tolist()
        ended = bool((ids == EOS).any(dim=1).all())
        if not uneven or (ended and (batch == 1 or len(set(ends)) > 1) and max(ends) > 0):
            return given
    raise ValueError("no captions of different lengths")


def _drawn(
    batch: int, rows: int, columns: int, d: int, longest: int, dtype: torch.dtype, seed: int
) -> dict[str, Any]:
    e, d_s, v = 3, 3, 7
    features = normal({"features": (batch, d, rows, columns)}, seed, dtype)
    table = normal({"table": (v, e)}, seed + 1, dtype)
    start = normal({"w": (d, 2 * d_s)}, seed + 2, dtype)
    to_score = normal({"w_s": (d_s, 4), "w_h": (d, 4), "v": (4,)}, seed + 3, dtype)
    to_gate = normal({"w": (d_s, 1), "b": (1,)}, seed + 6, dtype)
    to_cell = normal({"w_x": (e + d, 4 * d_s), "w_s": (d_s, 4 * d_s)}, seed + 4, dtype)
    to_logits = normal({"w_y": (e, v), "w_s": (d_s, v), "w_c": (d, v)}, seed + 5, dtype)
    for matrix in to_logits.values():
        matrix[:, [PAD, SOS]] = -3 * matrix[:, EOS : EOS + 1].abs()  # seldom the highest
    return {
        **features,
        "first": partial(inside.first, **start),
        "embed": partial(inside.embed, **table),
        "score": partial(inside.score, **to_score),
        "gate": partial(inside.gate, **to_gate),
        "cell": partial(inside.cell, **to_cell),
        "readout": partial(inside.readout, **to_logits),
        "longest": longest,
    }


def _caption(
    features: Tensor,
    first: Callable,
    embed: Callable,
    score: Callable,
    gate: Callable,
    cell: Callable,
    readout: Callable,
    longest: int,
) -> tuple[Tensor, Tensor]:
    """Ids (B, L) and weights (B, L, N) of greedy captions."""
    grid = features.flatten(2).mT
    state = first(grid.mean(dim=1))
    word = torch.full((len(grid),), SOS)
    ended, words, looks = torch.zeros(len(grid), dtype=torch.bool), [], []
    while len(words) < longest and not ended.all():
        logits, state, weights = reference_caption_step(
            embed(word), state, grid, score, gate, cell, readout
        )
        word = logits.argmax(dim=-1)
        words.append(word.masked_fill(ended, PAD))
        ended = ended | (word == EOS)
        looks.append(weights)
    return torch.stack(words, dim=1), torch.stack(looks, dim=1)


def _captions(answer: Callable[..., Any]) -> Callable[..., tuple[Tensor, Tensor]]:
    """What an answer writes, and where each word up to the <eos> looked."""
    return lambda *arguments, **named: inside.up_to_the_end(answer(*arguments, **named))


_HINT = (
    "Symptom 2 shows only from the second call on: does one call change the next? If not, compare the "
    "ids and weights of one picture with what the text says of them."
)


mended = Exercise(
    "mended",
    make=mended_arguments,
    reference=_captions(_caption),
    record=inside.record_mended,
    through=_captions,
    hint=_HINT,
    cases=hinted(
        _HINT,
        {
            "one picture": dict(batch=1),
            "the next picture, captioned by the same function": dict(
                batch=1, rows=3, columns=2, seed=10
            ),
            "pictures with captions of different lengths": dict(batch=4, seed=20),
            "a square map": dict(batch=3, rows=3, columns=3, d=3, seed=30),
            "captions that are cut off": dict(batch=3, longest=2, uneven=False, seed=50),
            "float32": dict(batch=2, dtype=torch.float32, seed=40),
        },
    ),
)
