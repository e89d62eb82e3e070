"""Exercises 4 and 7: a pass over a whole sequence, and the gradient on its way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, hinted, standard_cases

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


def reference_forward(
    step: Step, x: Tensor, h: Tensor, lengths: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """All states (B, T, H), zero after the end, and the last state of each sequence (B, H)."""
    outputs = torch.stack(_states(step, x, h), dim=1)  # (B, T, H)
    if lengths is None:
        return outputs, outputs[:, -1]
    real = torch.arange(x.shape[1]) < lengths[:, None]  # (B, T)
    kept = torch.cat([h[:, None], outputs], dim=1)  # (B, T + 1, H)
    return outputs * real[..., None], kept[torch.arange(len(x)), lengths]


forward = Exercise(
    "forward",
    make=forward_arguments,
    reference=reference_forward,
    cases={
        **standard_cases(dict(batch=2, time=5, d=3, h=4), dict(batch=3, time=1, d=2, h=6)),
        **hinted(
            "Behind a sequence's end its output is zero and its state stays as it was.",
            {
                f"lengths {ends}": dict(batch=len(ends), time=5, d=2, h=3, lengths=ends)
                for ends in ([3, 5, 1], [4, 2, 2], [2])
            },
        ),
    },
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


def reference_gradient_norms(step: Step, x: Tensor, h: Tensor) -> Tensor:
    """Norm of the gradient of the last state's sum for every state, (B, T)."""
    states = _states(step, x, h.detach().clone().requires_grad_())
    return torch.stack(torch.autograd.grad(states[-1].sum(), states), dim=1).norm(dim=-1)


gradient_norms = Exercise(
    "gradient_norms",
    make=norms_arguments,
    reference=reference_gradient_norms,
    cases={
        **standard_cases(dict(batch=2, time=5, d=3, h=4), dict(batch=3, time=1, d=2, h=6)),
        "a long way on which the gradient grows": dict(batch=1, time=60, d=1, h=2, growth=1.1),
    },
)
