"""Exercise 5: how far is a layer from permutation equivariance?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.exercise import Exercise, cases_of
from seqcourse.check.inputs import normal
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


def _measured(
    difference: Callable[[Layer, Tensor, Tensor], Tensor],
    of_one: Callable[[Tensor], Tensor] = lambda gap: gap.abs().max(),
    of_all: Callable[[Tensor], Tensor] = torch.amax,
) -> Callable[..., Any]:
    """A gap from another difference, or with another way of making one number of many."""
    return lambda layer, x, permutations: of_all(
        torch.stack([of_one(difference(layer, x, p)) for p in permutations])
    )


def _right(layer: Layer, x: Tensor, p: Tensor) -> Tensor:
    return layer(x[:, p]) - layer(x)[:, p]


_EQUIVARIANCE_GAP = {
    "Is the output compared with layer(x) as it is? That measures whether the order makes no "
    "difference at all: compare with layer(x)[:, p].": _measured(
        lambda layer, x, p: layer(x[:, p]) - layer(x)
    ),
    "Do inputs and outputs move opposite ways? Compare layer(x[:, p]) with layer(x)[:, p], or undo "
    "the permutation of the first with p.argsort().": _measured(
        lambda layer, x, p: layer(x[:, p]) - layer(x)[:, p.argsort()]
    ),
    "Is it the inverse permutation on both sides? s(x)_i is x_{p_i}: x[:, p].": _measured(
        lambda layer, x, p: _right(layer, x, p.argsort())
    ),
    "Does the layer never see the other order? f(s(X)) is layer(x[:, p]).": _measured(
        lambda layer, x, p: layer(x)[:, p] - layer(x)
    ),
    "Did you permute the first axis? That is the batch: x[:, p].": _measured(
        lambda layer, x, p: layer(x[p]) - layer(x)[p]
    ),
    "Did you permute the entries of the vectors? The vectors change places: x[:, p].": _measured(
        lambda layer, x, p: layer(x[..., p]) - layer(x)[..., p]
    ),
    "Is the absolute value missing? A difference of -2 is as large as one of 2.": _measured(
        _right, of_one=torch.amax
    ),
    "Is it the mean of the differences? The largest is asked for.": _measured(
        _right, of_one=lambda gap: gap.abs().mean()
    ),
    "Is it the mean of all differences? The largest is asked for.": _measured(
        _right, of_one=lambda gap: gap.abs().mean(), of_all=torch.mean
    ),
    "Is it the mean over the permutations? The largest is asked for.": _measured(
        _right, of_all=torch.mean
    ),
    "Does only the first permutation count? Is a return inside the loop?": (
        lambda layer, x, permutations: _measured(_right)(layer, x, permutations[:1])
    ),
    "Does only the last permutation count? Keep the largest of all.": (
        lambda layer, x, permutations: _measured(_right)(layer, x, permutations[-1:])
    ),
    "Is it the smallest over the permutations? The largest is asked for.": _measured(
        _right, of_all=torch.amin
    ),
    "Are the differences added up? The largest is asked for.": (
        _measured(_right, of_one=lambda gap: gap.abs().sum(), of_all=torch.sum),
        _measured(_right, of_one=lambda gap: gap.abs().sum()),
    ),
    "Are the gaps of the permutations added up? The largest is asked for.": _measured(
        _right, of_all=torch.sum
    ),
    "Is it the length of the difference? The largest entry is asked for.": _measured(
        _right, of_one=torch.linalg.vector_norm
    ),
    "Is the gap divided by the size of the outputs? The difference itself is asked for.": (
        lambda layer, x, permutations: (
            reference_equivariance_gap(layer, x, permutations) / layer(x).abs().max()
        )
    ),
    "Is it the square of the difference? The absolute value is asked for.": _measured(
        _right, of_one=lambda gap: (gap**2).max()
    ),
    "Is the layer called with one sequence at a time? It may mix the sequences of a batch: call it "
    "with all of x.": _measured(
        lambda layer, x, p: torch.cat([_right(layer, one[None], p) for one in x])
    ),
    "Does only the first sequence of the batch count?": _measured(
        lambda layer, x, p: _right(layer, x[:1], p)
    ),
    "Is there a gap for every permutation? One number is asked for: the largest.": (
        lambda layer, x, permutations: torch.stack(
            [_right(layer, x, p).abs().max() for p in permutations]
        )
    ),
    "permutations holds one permutation per row: go through the rows in a loop.": (
        lambda layer, x, permutations: _measured(_right)(layer, x, [permutations])
    ),
    "Is the layer used at all? f(s(x)) is layer(x[:, p]).": _measured(lambda layer, x, p: x[:, p] - x),
    "How far, not whether: a number is asked for, the largest difference.": (
        (lambda layer, x, permutations: reference_equivariance_gap(layer, x, permutations) < 1e-6),
        (lambda layer, x, permutations: reference_equivariance_gap(layer, x, permutations) >= 1e-6),
    ),
}


_SIZES = dict(batch=2, n=4, d=3, d_v=5)
equivariance_gap = Exercise(
    "equivariance_gap",
    make=gap_arguments,
    reference=reference_equivariance_gap,
    likely=_EQUIVARIANCE_GAP,
    cases=cases_of(
        gap_arguments,
        {
            # With this seed no two likely mistakes give the same number for the first example.
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
    ),
    idea="A layer on sets ignores the order: shuffled inputs give the same outputs, shuffled alike.",
    see=("07", "A layer on sets"),
)
