"""Exercise 7: weights inside a window around a predicted position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


def local_arguments(
    batch: int,
    time: int,
    width: int = 2,
    centres: Sequence[float] | None = None,
    lengths: Sequence[int] | None = None,
    low: bool = False,
    hidden: bool = False,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `local_weights`; centres are drawn between 0 and T - 1 unless given.

    low: every score is far below 0. hidden: those outside the window are far above the others.
    """
    drawn = normal({"scores": (batch, time), "centre": (batch,)}, seed)
    centre = torch.sigmoid(drawn["centre"]) * (time - 1)
    if centres is not None:
        centre = torch.tensor(list(centres), dtype=torch.float64)
    ends = torch.tensor([time] * batch if lengths is None else list(lengths))
    outside = (torch.arange(time) - centre[:, None]).abs() > width
    return {
        "scores": (drawn["scores"] - masked.FAR_BELOW * low + 900.0 * hidden * outside).to(dtype),
        "centre": centre.to(dtype),
        "width": width,
        "mask": torch.arange(time) < ends[:, None],
    }


def reference_local_weights(scores: Tensor, centre: Tensor, width: int, mask: Tensor) -> Tensor:
    """Weights of local attention, (B, T)."""
    distance = torch.arange(scores.shape[1], dtype=scores.dtype) - centre[:, None]  # (B, T)
    weights = functional.softmax(scores, mask=mask & (distance.abs() <= width))
    return weights * torch.exp(-(distance**2) / (2 * (width / 2) ** 2))


local_weights = Exercise(
    "local_weights",
    make=local_arguments,
    reference=reference_local_weights,
    cases={
        **standard_cases(dict(batch=2, time=9), dict(batch=3, time=4, width=1)),
        "another width, and places outside far above the others": dict(
            batch=2, time=12, width=4, hidden=True
        ),
        "a centre on a whole position and one outside": dict(
            batch=2, time=9, width=3, centres=[4.0, -1.0]
        ),
        "padding inside the window": dict(batch=3, time=7, centres=[1.6, 3.2, 5.0], lengths=[2, 3, 5]),
        "scores far below 0": dict(batch=2, time=8, low=True),
        "a window with nothing but padding": dict(batch=2, time=9, centres=[7.0, 1.0], lengths=[4, 4]),
    },
    forbid=("window_mask", "gaussian_window", "LocalAttention"),
)
