"""Exercises 4 and 7: a pass over a whole sequence, and the gradient on its way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.exercise import Case, Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal

Step = Callable[[Tensor, Tensor], Tensor]


def forward_arguments(
    batch: int,
    time: int,
    d: int,
    h: int,
    lengths: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `forward`: a step with fixed weights, inputs, a first state, lengths."""
    sizes = {"w_ih": (h, d), "w_hh": (h, h), "b_ih": (h,), "b_hh": (h,)}
    step = partial(functional.rnn_step, **normal(sizes, seed=seed + 1, dtype=dtype))
    drawn = normal({"x": (batch, time, d), "h": (batch, h)}, seed=seed, dtype=dtype)
    ends = None if lengths is None else torch.tensor(list(lengths))
    return {"step": step, **drawn, "lengths": ends}


def _states(step: Step, x: Tensor, h: Tensor) -> list[Tensor]:
    """h_1 ... h_T, padding read like anything else."""
    states = []
    for t in range(x.shape[1]):
        h = step(x[:, t], h)
        states.append(h)
    return states


def _masked(step, x, h, lengths, shift=0) -> tuple[Tensor, Tensor]:
    """Outputs and last states; `shift` moves the end of every sequence."""
    outputs = torch.stack(_states(step, x, h), dim=1)  # (B, T, H)
    if lengths is None:
        return outputs, outputs[:, -1]
    ends = (lengths + shift).clamp(0, x.shape[1])
    real = torch.arange(x.shape[1]) < ends[:, None]  # (B, T)
    kept = torch.cat([h[:, None], outputs], dim=1)  # (B, T + 1, H)
    return outputs * real[..., None], kept[torch.arange(len(x)), ends]


def reference_forward(
    step: Step, x: Tensor, h: Tensor, lengths: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """All states (B, T, H), zero after the end, and the last state of each sequence (B, H)."""
    return _masked(step, x, h, lengths)


def _forgetful(step, x, h, lengths):
    outputs = torch.stack([step(x[:, t], h) for t in range(x.shape[1])], dim=1)
    return outputs, outputs[:, -1]


def _late(step, x, h, lengths):
    states = [h, *_states(step, x, h)]
    return torch.stack(states[:-1], dim=1), states[-1]


def _unmasked(step, x, h, lengths):
    outputs = torch.stack(_states(step, x, h), dim=1)
    return outputs, outputs[:, -1]


def _once_more(step, x, h, lengths):
    """Behind the end of a sequence every output is one step from its last state."""
    outputs, last = _masked(step, x, h, lengths)
    behind = torch.stack([step(x_t, last) for x_t in x.unbind(dim=1)], dim=1)
    return torch.where((torch.arange(x.shape[1]) < lengths[:, None])[..., None], outputs, behind), last


_FORWARD_LIKELY = {
    "Does every step start from the first state h? It goes on from the state before it.": _forgetful,
    "Do the outputs begin with the state before the first step? Output t is the state after step t.": (
        _late
    ),
    "Did you return the states only? The last state is asked for as well.": (
        lambda step, x, h, lengths: _masked(step, x, h, lengths)[0]
    ),
    "Did you return the last state first? The order is all states, then the last one.": (
        lambda step, x, h, lengths: _masked(step, x, h, lengths)[::-1]
    ),
    "Are the outputs after the end the repeated last state? They should be zero.": (
        lambda step, x, h, lengths: (
            torch.stack(
                [
                    _masked(step, x[:, : t + 1], h, lengths.clamp(max=t + 1))[1]
                    for t in range(x.shape[1])
                ],
                dim=1,
            ),
            _masked(step, x, h, lengths)[1],
        )
    ),
    "Are the last states right, but the outputs after the end not zero?": (
        lambda step, x, h, lengths: (_unmasked(step, x, h, lengths)[0], _masked(step, x, h, lengths)[1]),
        _once_more,
    ),
    "Is a sequence one step too short? Input t (from 0) is real when t < lengths.": (
        lambda step, x, h, lengths: _masked(step, x, h, lengths, -1)
    ),
    "Are there only as many steps as the longest sequence has? The outputs have T, as x has.": (
        lambda step, x, h, lengths: _masked(step, x[:, : int(lengths.max())], h, lengths)
    ),
    "Did you walk along the batch? The steps are x[:, 0], x[:, 1], ...": (
        lambda step, x, h, lengths: _unmasked(step, x.transpose(0, 1), h, None)
    ),
}


forward = Exercise(
    "forward",
    make=forward_arguments,
    reference=reference_forward,
    likely=_FORWARD_LIKELY,
    cases=[
        *standard_cases(
            forward_arguments, dict(batch=2, time=5, d=3, h=4), dict(batch=3, time=1, d=2, h=6)
        ),
        *cases_of(
            forward_arguments,
            {
                f"lengths {ends}": dict(batch=len(ends), time=5, d=2, h=3, lengths=ends)
                for ends in ([3, 5, 1], [4, 2, 2], [2])
            },
            "Behind a sequence's end its output is zero and its state stays as it was.",
        ),
    ],
    idea="One step is repeated along the sequence, and padding leaves the state as it was.",
    see=("01", "A whole sequence"),
)


def norms_arguments(
    batch: int,
    time: int,
    d: int,
    h: int,
    growth: float | None = None,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `gradient_norms`: a step with fixed weights, inputs and a first state.

    growth: what a gradient is multiplied by at every step, where all else is too small to matter.
    """
    given = forward_arguments(batch, time, d, h, dtype=dtype, seed=seed)
    if growth:
        weights = given["step"].keywords
        for small in (given["h"], weights["w_ih"], weights["b_ih"], weights["b_hh"]):
            small *= 1e-5
        weights["w_hh"] = growth * torch.eye(h, dtype=dtype)
    return {name: given[name] for name in ("step", "x", "h")}


def _gradients(step, x, h, *, of="state", whole=False) -> Tensor:
    """Gradients (B, T, size) of a sum of states; the options make mistakes."""
    h = h.detach().clone().requires_grad_()
    inputs = [x[:, t].detach().clone().requires_grad_() for t in range(x.shape[1])]
    states = [h]
    for x_t in inputs:
        states.append(step(x_t, states[-1]))
    total = sum(s.sum() for s in states[1:]) if whole else states[-1].sum()
    wanted = {"state": states[1:], "input": inputs, "before": states[:-1]}[of]
    return torch.stack(torch.autograd.grad(total, wanted), dim=1)


def reference_gradient_norms(step: Step, x: Tensor, h: Tensor) -> Tensor:
    """Norm of the gradient of the last state's sum for every state, (B, T)."""
    return _gradients(step, x, h).norm(dim=-1)


_NORMS_LIKELY = {
    "Did you stack along the first axis? The batch comes first: torch.stack(..., dim=1).": (
        lambda *a: reference_gradient_norms(*a).T
    ),
    "Did you return the gradients themselves? Take their norm over the last axis.": _gradients,
}


gradient_norms = Exercise(
    "gradient_norms",
    make=norms_arguments,
    reference=reference_gradient_norms,
    likely=_NORMS_LIKELY,
    cases=[
        *standard_cases(
            norms_arguments, dict(batch=2, time=5, d=3, h=4), dict(batch=3, time=1, d=2, h=6)
        ),
        Case("a long way on which the gradient grows", lambda: norms_arguments(1, 60, 1, 2, growth=1.1)),
    ],
    idea="The further back a state is, the smaller (or larger) its gradient: a product of many steps.",
    see=("01", "Gradients that fade, gradients that blow up"),
)
