"""Exercise 7: weights inside a window around a predicted position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import masked
from seqcourse.check.exercise import Exercise, cases_of, standard_cases
from seqcourse.check.inputs import normal


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
    return _local(scores, centre, width, mask)


def _local(
    scores: Tensor,
    centre: Tensor,
    width: int,
    mask: Tensor,
    *,
    first: int = 0,
    window: Callable[[Tensor, int], Tensor] = lambda distance, width: distance.abs() <= width,
    bell: Callable[[Tensor, int], Tensor] = lambda d, width: torch.exp(-(d**2) / (2 * (width / 2) ** 2)),
    soften: Callable[[Tensor, Tensor], Tensor] = lambda scores, mask: functional.softmax(
        scores, mask=mask
    ),
) -> Tensor:
    """Local attention; the options make mistakes."""
    positions = torch.arange(first, first + scores.shape[1], dtype=scores.dtype)
    distance = positions - centre[:, None]  # (B, T)
    return soften(scores, mask & window(distance, width)) * bell(distance, width)


def _locally(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _local(*arguments, **mistake)


def _local_window_late(scores, centre, width, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    bell = torch.exp(-(distance**2) / (2 * (width / 2) ** 2))
    return functional.softmax(scores, mask=mask) * (distance.abs() <= width) * bell


def _below_all(scores: Tensor, mask: Tensor) -> Tensor:
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def _local_rescaled(*arguments):
    weights = _local(*arguments)
    total = weights.sum(dim=-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)


_LIKELY = {
    "Is the bell too wide? Its sigma is half the width, D / 2.": _locally(
        bell=lambda d, width: torch.exp(-(d**2) / (2 * width**2))
    ),
    "Is sigma rounded down? D / 2 need not be a whole number: write /, not //.": _locally(
        bell=lambda d, width: torch.exp(-(d**2) / (2 * (width // 2) ** 2))
    ),
    "Is a centre outside of the sentence moved to its end? It may lie anywhere.": (
        lambda scores, centre, width, mask: _local(
            scores, centre.clamp(0, scores.shape[1] - 1), width, mask
        )
    ),
    "Is sigma not squared? The exponent is -(i - p)^2 / (2 sigma^2).": _locally(
        bell=lambda d, width: torch.exp(-(d**2) / (2 * (width / 2)))
    ),
    "Is the factor 2 missing under the fraction? The exponent is -(i - p)^2 / (2 sigma^2).": _locally(
        bell=lambda d, width: torch.exp(-(d**2) / (width / 2) ** 2)
    ),
    "Is the distance not squared? The exponent is -(i - p)^2 / (2 sigma^2).": _locally(
        bell=lambda d, width: torch.exp(-d.abs() / (2 * (width / 2) ** 2))
    ),
    "Is the minus in the exponent missing? The bell is highest in the middle.": _locally(
        bell=lambda d, width: torch.exp(d**2 / (2 * (width / 2) ** 2))
    ),
    "Is the bell missing? The weights are multiplied with it after the softmax.": _locally(
        bell=lambda d, width: torch.ones_like(d)
    ),
    "Did you rescale the weights to sum to 1 after the bell? They are left as they are.": (
        _local_rescaled
    ),
    "Are there weights outside the window? They should be 0 where |i - p| > D.": _locally(
        window=lambda d, width: torch.ones_like(d, dtype=torch.bool)
    ),
    "Is the window applied after the softmax? Only places inside take part in the softmax.": (
        _local_window_late
    ),
    "Are the edges of the window left out? |i - p| = D still belongs to it: <=.": _locally(
        window=lambda d, width: d.abs() < width
    ),
    "Is the window half as wide? It reaches D places to either side.": _locally(
        window=lambda d, width: d.abs() <= width / 2
    ),
    "Do you count positions from 1? They are 0, 1, ..., T - 1.": _locally(first=1),
    "Did you round the centre? It is a real number, and the bell depends on it smoothly.": (
        lambda scores, centre, width, mask: _local(scores, centre.round(), width, mask)
    ),
    "Did you cut the centre down to a whole number? It is a real number.": (
        lambda scores, centre, width, mask: _local(scores, centre.floor(), width, mask)
    ),
    "Does padding inside the window get a weight? Both masks must be True: mask & window.": (
        lambda scores, centre, width, mask: _local(scores, centre, width, torch.ones_like(mask))
    ),
    "A window that holds nothing but padding gives NaN. Its weights should be 0: the softmax of "
    "exercise 2 does that, and so does functional.softmax.": _locally(
        soften=lambda e, mask: torch.softmax(e.masked_fill(~mask, float("-inf")), dim=-1)
    ),
    "Did you set scores outside the window to 0? exp(0) is 1. Use -inf.": _locally(
        soften=lambda e, mask: torch.softmax(e.masked_fill(~mask, 0.0), dim=-1)
    ),
    "Is the maximum taken over the whole row? A score outside the window, far above the others, then "
    "leaves nothing of them: put in -inf first.": (
        _locally(soften=_below_all),
        _locally(soften=lambda e, mask: _below_all(e, mask).nan_to_num(0.0)),
    ),
    masked.QUESTION: tuple(_locally(soften=mistake) for mistake in masked.MISTAKES),
    "The centre needs an axis for the positions: centre[:, None].": (
        lambda scores, centre, width, mask: torch.arange(scores.shape[1]) - centre
    ),
}


local_weights = Exercise(
    "local_weights",
    make=local_arguments,
    reference=reference_local_weights,
    likely=_LIKELY,
    cases=[
        *standard_cases(local_arguments, dict(batch=2, time=9), dict(batch=3, time=4, width=1)),
        *cases_of(
            local_arguments,
            {
                "another width, and places outside far above the others": dict(
                    batch=2, time=12, width=4, hidden=True
                ),
                "a centre on a whole position and one outside": dict(
                    batch=2, time=9, width=3, centres=[4.0, -1.0]
                ),
                "padding inside the window": dict(
                    batch=3, time=7, centres=[1.6, 3.2, 5.0], lengths=[2, 3, 5]
                ),
                "scores far below 0": dict(batch=2, time=8, low=True),
                "a window with nothing but padding": dict(
                    batch=2, time=9, centres=[7.0, 1.0], lengths=[4, 4]
                ),
            },
        ),
    ],
    forbid=("window_mask", "gaussian_window", "LocalAttention"),
    idea="Only places near a predicted centre get a weight, and the nearer ones more.",
    see=("05", "Local attention"),
)
