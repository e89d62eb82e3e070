"""Exercise 4: attention rollout, through all layers from the class token to the patches."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases


def rollout_arguments(
    batch: int,
    layers: int = 3,
    heads: int = 2,
    n: int = 5,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Arguments of `rollout`: attention weights (B, L, H, N, N), each row a softmax."""
    scores = normal({"weights": (batch, layers, heads, n, n)}, seed, dtype)["weights"]
    return {"weights": (2 * scores).softmax(dim=-1)}


def reference_rollout(weights: Tensor) -> Tensor:
    """What the class token read from a patch, (B, N - 1); half of every layer is the vector itself."""
    whole = eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    for layer in weights.mean(dim=2).unbind(dim=1):
        whole = (layer + eye) / 2 @ whole
    return whole[:, 0, 1:]


rollout = Exercise(
    "rollout",
    make=rollout_arguments,
    reference=reference_rollout,
    likely={
        "Is your identity of another dtype than the weights? torch.eye(n) is float32: "
        "torch.eye(n, dtype=weights.dtype).": stopping("same dtype|expected scalar type")
    },
    cases={
        **standard_cases(dict(batch=2), dict(batch=4, layers=4, heads=3, n=7, seed=1)),
        "all sizes equal": dict(batch=4, layers=4, heads=4, n=4, seed=2),
        "a single layer and a single patch": dict(batch=2, layers=1, n=2, seed=3),
    },
    forbid=("rollout", "attention_rollout"),
)
