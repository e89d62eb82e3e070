"""Exercise 11: a low-rank change of a frozen matrix, and the loss of preferences."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, hinted, standard_cases


def adapted_arguments(
    batch: int,
    time: int,
    d_in: int,
    d_out: int,
    rank: int,
    alpha: float = 8.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, object]:
    """Arguments of `adapted_linear`: vectors, a frozen matrix, two thin ones, the size of the change."""
    sizes = {"x": (batch, time, d_in), "w": (d_out, d_in), "a": (rank, d_in), "b": (d_out, rank)}
    return {**normal(sizes, seed=seed, dtype=dtype), "alpha": alpha}


def reference_adapted_linear(x: Tensor, w: Tensor, a: Tensor, b: Tensor, alpha: float) -> Tensor:
    """x (W + alpha / r B A)^T, (B, T, d_out)."""
    return x @ w.T + alpha / len(a) * (x @ a.T) @ b.T


adapted_linear = Exercise(
    "adapted_linear",
    make=adapted_arguments,
    reference=reference_adapted_linear,
    cases={
        **standard_cases(
            dict(batch=2, time=3, d_in=5, d_out=4, rank=2),
            dict(batch=3, time=3, d_in=3, d_out=3, rank=3),
        ),
        "rank 1": dict(batch=2, time=3, d_in=4, d_out=6, rank=1, alpha=0.5),
    },
    forbid=("LowRank",),
)


def preference_arguments(
    pairs: int, beta: float = 0.3, scale: float = 1.0, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, object]:
    """Arguments of `dpo_loss`: log-probabilities of pairs of answers, now and before, and beta."""
    names = "chosen", "rejected", "chosen_before", "rejected_before"
    drawn = normal(dict.fromkeys(names, (pairs,)), seed=seed, dtype=dtype)
    return {name: scale * drawn[name] - 6.0 * scale for name in names} | {"beta": beta}


def reference_dpo_loss(
    chosen: Tensor, rejected: Tensor, chosen_before: Tensor, rejected_before: Tensor, beta: float
) -> Tensor:
    """Minus the mean log-probability that the better answer of each pair wins, ()."""
    return -logsigmoid(beta * ((chosen - chosen_before) - (rejected - rejected_before))).mean()


dpo_loss = Exercise(
    "dpo_loss",
    make=preference_arguments,
    reference=reference_dpo_loss,
    cases={
        "the first example": dict(pairs=4),
        "one pair": dict(pairs=1, beta=2.0, seed=1),
        "float32": dict(pairs=5, dtype=torch.float32, seed=2),
        **hinted(
            "The logarithm of a sigmoid that is 0 is minus infinity: which function of PyTorch computes "
            "both at once?",
            {"answers that have moved very far": dict(pairs=6, scale=900.0, beta=1.0, seed=3)},
        ),
    },
    forbid=("dpo_loss",),
)
