"""Exercise 11: attention that knows distances, without a table of vectors for every pair."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.kinds import GRADIENTS
from seqcourse.check.calls.recording import judge, record
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise, standard_cases
from seqcourse.check.inside.ps4 import record_sizes

NAME = "relative_attention"


def relative_arguments(
    batch: int,
    n: int,
    d: int,
    d_v: int,
    width: int,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `relative_attention`; the table has a row for each of 2 width + 1 distances.

    scale: of the similarities.
    """
    sizes = {"q": (batch, n, d), "k": (batch, n, d), "v": (batch, n, d_v), "table": (2 * width + 1, d)}
    drawn = normal(sizes, seed=seed, dtype=dtype)
    return drawn | {"q": scale * drawn["q"]}


def reference_relative_attention(
    q: Tensor, k: Tensor, v: Tensor, table: Tensor
) -> tuple[Tensor, Tensor]:
    """The layer as the text says it, with a vector for every pair: (B, N, D_V) and (B, N, N)."""
    places, width = torch.arange(q.shape[1]), len(table) // 2
    rows = table[(places - places[:, None]).clamp(-width, width) + width]  # (N, N, D)
    weights = ((q[:, :, None] * (k[:, None] + rows)).sum(-1) / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v, weights


def largest_allowed(q: Tensor, k: Tensor, v: Tensor, table: Tensor) -> int:
    """4 B N (N + D + D_V + W): some matrices of the pairs, and no vector for every pair."""
    return 4 * q.shape[0] * q.shape[1] * (q.shape[1] + q.shape[2] + v.shape[2] + len(table))


def _judge(found: Found, given: Given, prefix: str) -> None:
    gradient = tuple(given) if f"{prefix}gradient.q" in found else ()  # of the self-check's first call
    judge(relative_attention, found, given, prefix, gradient)


def _judge_sizes(found: Found, given: Given, prefix: str) -> None:
    _judge(found, given, prefix)
    if int(result(found, f"{prefix}largest")) > largest_allowed(**given):
        raise Mistake(
            f"{NAME}: the numbers are right, but a tensor on the way is larger than the text allows.",
            "Is there a vector for every pair of places? How many different products does one query "
            "have with the table?",
        )


def _judge_both(found: Found, given: Given, prefix: str) -> None:
    long = given["q"].shape[1] > 20  # in short sequences everything is small
    (_judge_sizes if long else _judge)(found, given, prefix)


relative_attention = Exercise(
    NAME,
    make=relative_arguments,
    reference=reference_relative_attention,
    cases={
        **standard_cases(
            dict(batch=2, n=6, d=4, d_v=3, width=2), dict(batch=3, n=4, d=2, d_v=2, width=1)
        ),
        "a table that is wider than the sequence": dict(batch=2, n=3, d=3, d_v=2, width=5),
        "similarities in the thousands": dict(batch=2, n=4, d=3, d_v=2, width=2, scale=2000.0),
        "a table of one row": dict(batch=2, n=4, d=3, d_v=2, width=0),
        "a long sequence": dict(batch=2, n=60, d=48, d_v=2, width=4),
    },
    record=record_sizes,
    judge=_judge_both,
    variants={
        "numbers": {"judge": None, "record": record},
        "sizes": {"judge": _judge_sizes, "excused": {GRADIENTS: "the other cell compares them"}},
    },
)
