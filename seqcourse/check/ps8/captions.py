"""Exercise 6: one step of a captioner that looks, its gate and its deep output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal
from seqcourse.check.inside import ps8 as inside
from seqcourse.check.inside.ps8 import State


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


def _look(score: Callable, s: Tensor, grid: Tensor) -> tuple[Tensor, Tensor]:
    """Context (B, D) and weights (B, N)."""
    weights = score(s, grid).softmax(dim=-1)
    return _mixed(weights, grid), weights


def _mixed(weights: Tensor, grid: Tensor) -> Tensor:
    return (weights[..., None] * grid).sum(dim=1)


def _step(
    y: Tensor,
    state: State,
    grid: Tensor,
    score: Callable,
    gate: Callable,
    cell: Callable,
    readout: Callable,
    *,
    look: Callable[..., tuple[Tensor, Tensor]] = _look,
    asks: Callable[[State], Tensor] = lambda state: state[0],
    opened: Callable[[Callable, State], Any] = lambda gate, state: torch.sigmoid(gate(state[0])),
    x: Callable[[Tensor, Tensor], Tensor] = lambda y, c: torch.cat([y, c], dim=-1),
    into: Callable[[State], State] = lambda state: state,
    speak: Callable[..., Tensor] = lambda readout, y, new, old, c, full: readout(y, new[0], c),
    give: Callable[..., Any] = lambda logits, new, old, weights, beta: (logits, new, weights),
) -> Any:
    """One step; the options make the likely mistakes."""
    full, weights = look(score, asks(state), grid)
    beta = opened(gate, state)
    c = beta * full
    new = cell(x(y, c), into(state))
    return give(speak(readout, y, new, state, c, full), new, state, weights, beta)


def reference_caption_step(y, state, grid, score, gate, cell, readout):
    """Look, remember, speak: logits (B, V), the new state, weights (B, N)."""
    return _step(y, state, grid, score, gate, cell, readout)


def _with(**mistake: Any) -> Callable[..., Any]:
    return lambda *arguments: _step(*arguments, **mistake)


def _opened(squash: Callable[[Tensor], Tensor] = torch.sigmoid, part: int = 0) -> Callable[..., Any]:
    """Another gate: squash(gate(...)) of the state (part 0) or of its memory (part 1)."""
    return _with(opened=lambda gate, state: squash(gate(state[part])))


def _given(give: Callable[..., Any]) -> Callable[..., Any]:
    """Something else returned: give(logits, the new state, weights)."""
    return _with(give=lambda logits, new, old, weights, beta: give(logits, new, weights))


def _after(y, state, grid, score, gate, cell, readout):
    """Look with the state behind the step, as others do: the cell gets the mean of the grid."""
    new = cell(torch.cat([y, grid.mean(dim=1)], dim=-1), state)
    full, weights = _look(score, new[0], grid)
    c = torch.sigmoid(gate(new[0])) * full
    return readout(y, new[0], c), new, weights


def _after_gated(y, state, grid, score, gate, cell, readout):
    """The same with the gate of the old state, for the mean of the grid and for the context."""
    beta = torch.sigmoid(gate(state[0]))
    new = cell(torch.cat([y, beta * grid.mean(dim=1)], dim=-1), state)
    full, weights = _look(score, new[0], grid)
    return readout(y, new[0], beta * full), new, weights


def _gate_of_the_new(y, state, grid, score, gate, cell, readout):
    c, weights = _look(score, state[0], grid)
    new = cell(torch.cat([y, c], dim=-1), state)
    c = torch.sigmoid(gate(new[0])) * c
    return readout(y, new[0], c), new, weights


def _softened(soften: Callable[[Tensor], Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    def look(score: Callable, s: Tensor, grid: Tensor) -> tuple[Tensor, Tensor]:
        weights = soften(score(s, grid))
        return _mixed(weights, grid), weights

    return look


def _highest(score: Callable, s: Tensor, grid: Tensor) -> tuple[Tensor, Tensor]:
    weights = score(s, grid).softmax(dim=-1)
    return grid[torch.arange(len(grid)), weights.argmax(dim=-1)], weights


def _average(score: Callable, s: Tensor, grid: Tensor) -> tuple[Tensor, Tensor]:
    return grid.mean(dim=1), score(s, grid).softmax(dim=-1)


def _no_axis(*arguments: Any) -> Any:
    raise AnyError(r"must match the size of tensor")


_LIKELY = {
    "Is the gate closed where it should be open? It is sigmoid(gate(s)), not 1 minus it.": _opened(
        lambda raw: 1 - torch.sigmoid(raw)
    ),
    "Does the gate read the new state? The gate comes before the step: it reads the old s.": (
        _gate_of_the_new
    ),
    "Does the new state look? The old one does, before the step.": (_after, _after_gated),
    "Are s and m exchanged on the way into the cell? state is the pair (s, m), hand it on as it is.": (
        _with(into=lambda state: state[::-1])
    ),
    "Is the softmax missing? The raw scores are no weights: they do not sum to 1.": _with(
        look=_softened(lambda e: e)
    ),
    "Is the context the plain mean of the grid? Each place counts by its weight.": _with(look=_average),
    "Do the weights not fit the grid? They are (B, N), the grid is (B, N, D): weights[..., None].": (
        _no_axis
    ),
    "Are s and m exchanged in what you return? The state is the pair (s, m).": _given(
        lambda logits, new, weights: (logits, new[::-1], weights)
    ),
    "Are the weights missing? Return logits, state and weights.": _given(
        lambda logits, new, weights: (logits, new)
    ),
    "Did you return probabilities? Logits are asked for, as the readout gives them.": _given(
        lambda logits, new, weights: (logits.softmax(dim=-1), new, weights)
    ),
}


caption_step = Exercise(
    "caption_step",
    make=caption_arguments,
    reference=reference_caption_step,
    likely=_LIKELY,
    cases=[
        *standard_cases(
            caption_arguments,
            dict(batch=2, places=4),
            dict(batch=5, places=9, e=4, d_s=2, d=3, v=7, seed=10),
        ),
        Case("all sizes equal", lambda: caption_arguments(4, 4, e=4, d_s=4, d=4, v=4, seed=20)),
        Case(
            "a single place, and all widths 1",
            lambda: caption_arguments(2, 1, e=1, d_s=1, d=1, v=1, seed=40),
            "Does a squeeze() drop an axis of size 1?",
        ),
        Case(
            "scores and gates so large that exp overflows",
            lambda: caption_arguments(3, 5, peak=900.0, gates=900.0, seed=30),
        ),
    ],
    forbid=("SoftCaptioner", "FixedCaptioner", "HardCaptioner"),
    idea="The captioner looks with its old state, gates what it saw, takes its step and then speaks.",
    see=("13", "From pixels to places"),
)
