"""Exercise 5: how far is a layer from permutation equivariance?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside.ps4 import LAYERS

Layer = Callable[[Tensor], Tensor]


def gap_arguments(
    layer: str,
    batch: int,
    n: int,
    d: int,
    d_v: int,
    shuffles: int = 3,
    idle: bool = False,
    shift: int = 0,
    pause: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `equivariance_gap`: one of LAYERS with drawn weights, inputs, permutations.

    idle: the first and the last permutation leave everything in its place.
    pause: the second permutation leaves everything in its place.
    shift: in place of random permutations one that moves every vector by so many places.
    """
    drawn = normal({"x": (batch, n, d), "w": (d, d_v), "order": (shuffles, n)}, seed)
    permutations, same = drawn["order"].argsort(-1), torch.arange(n)[None]
    if shift:
        permutations = same.roll(shift, dims=1)
    if pause:
        permutations[1] = same[0]
    if idle:
        permutations = torch.cat([same, permutations, same])
    function = partial(LAYERS[layer], w=drawn["w"])
    return {"layer": function, "x": drawn["x"], "permutations": permutations}


def reference_equivariance_gap(layer: Layer, x: Tensor, permutations: Tensor) -> float:
    """The largest |f(s(x)) - s(f(x))| over permutations, sequences, positions and entries."""
    y = layer(x)
    return max((layer(x[:, p]) - y[:, p]).abs().max().item() for p in permutations)


_SIZES = dict(batch=2, n=4, d=3, d_v=5)
equivariance_gap = Exercise(
    "equivariance_gap",
    make=gap_arguments,
    reference=reference_equivariance_gap,
    cases={  # With this seed no two likely mistakes give the same number for the first example.
        "the first example": dict(layer="running", shuffles=6, seed=10, **_SIZES),
        "a layer that keeps to the rule": dict(layer="set", **_SIZES),
        "one permutation, a shift": dict(layer="numbered", shift=1, **_SIZES),
        "a shift the other way": dict(layer="running", shift=-1, **_SIZES),
        "permutations that leave everything in place": dict(layer="neighbours", idle=True, **_SIZES),
        "a batch of 1": dict(layer="reversed", batch=1, n=5, d=2, d_v=2),
        "a layer to which the place of a sequence in the batch matters": dict(
            layer="reversed", batch=3, n=5, d=2, d_v=3
        ),
        "as many vectors as entries": dict(layer="running", batch=4, n=4, d=4, d_v=4),
    },
)
