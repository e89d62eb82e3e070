"""Exercise 5: how far is a layer from permutation equivariance?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.core import Case, Likely
from seqcourse.check.values import plainly

FORBIDDEN: dict[str, tuple[str, ...]] = {"equivariance_gap": ()}
# With it no two likely mistakes give the same number for the first example.
SEED = 10
Layer = Callable[[Tensor], Tensor]


def _set_layer(x: Tensor, w: Tensor) -> Tensor:
    return functional.attention(x, x, x @ w)[0]


def _numbered(x: Tensor, w: Tensor) -> Tensor:
    return x @ w + torch.arange(x.shape[1], dtype=x.dtype)[:, None] ** 2


def _running(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w).cumsum(1)


def _neighbours(x: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(x @ w + 2 * x.roll(1, dims=1) @ w)


def _reversed(x: Tensor, w: Tensor) -> Tensor:
    """The order turned round; the later a sequence in the batch, the larger its outputs."""
    return (x @ w).flip(1) * 4.0 ** torch.arange(len(x))[:, None, None]


LAYERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "set": _set_layer,
    "numbered": _numbered,
    "running": _running,
    "neighbours": _neighbours,
    "alone": lambda x, w: torch.tanh(x @ w),
    "average": lambda x, w: (x @ w).mean(1, keepdim=True).expand(-1, x.shape[1], -1),
    "reversed": _reversed,
}


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
    """Arguments of `equivariance_gap`: one of LAYERS, inputs, permutations.

    idle: the first and the last permutation leave everything in its place.
    pause: the second permutation leaves everything in its place.
    shift: in place of random permutations one that moves every vector by so many places.
    """
    drawn = core.normal({"x": (batch, n, d), "w": (d, d_v), "order": (shuffles, n)}, seed)
    permutations, same = drawn["order"].argsort(-1), torch.arange(n)[None]
    if shift:
        permutations = same.roll(shift, dims=1)
    if pause:
        permutations[1] = same[0]
    if idle:
        permutations = torch.cat([same, permutations, same])
    function, w = LAYERS[layer], drawn["w"]
    return {"layer": lambda x: function(x, w), "x": drawn["x"], "permutations": permutations}


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


EQUIVARIANCE_GAP = [
    Likely(
        "Is the output compared with layer(x) as it is? That measures whether the order makes no "
        "difference at all: compare with layer(x)[:, p].",
        _measured(lambda layer, x, p: layer(x[:, p]) - layer(x)),
    ),
    Likely(
        "Do inputs and outputs move opposite ways? Compare layer(x[:, p]) with layer(x)[:, p], or undo "
        "the permutation of the first with p.argsort().",
        _measured(lambda layer, x, p: layer(x[:, p]) - layer(x)[:, p.argsort()]),
    ),
    Likely(
        "Is it the inverse permutation on both sides? s(x)_i is x_{p_i}: x[:, p].",
        _measured(lambda layer, x, p: _right(layer, x, p.argsort())),
    ),
    Likely(
        "Did you permute the first axis? That is the batch: x[:, p].",
        _measured(lambda layer, x, p: layer(x[p]) - layer(x)[p]),
    ),
    Likely(
        "Did you permute the entries of the vectors? The vectors change places: x[:, p].",
        _measured(lambda layer, x, p: layer(x[..., p]) - layer(x)[..., p]),
    ),
    Likely(
        "Is the absolute value missing? A difference of -2 is as large as one of 2.",
        _measured(_right, of_one=torch.amax),
    ),
    Likely(
        "Is it the mean of the differences? The largest is asked for.",
        _measured(_right, of_one=lambda gap: gap.abs().mean()),
    ),
    Likely(
        "Is it the mean of all differences? The largest is asked for.",
        _measured(_right, of_one=lambda gap: gap.abs().mean(), of_all=torch.mean),
    ),
    Likely(
        "Is it the mean over the permutations? The largest is asked for.",
        _measured(_right, of_all=torch.mean),
    ),
    Likely(
        "Does only the first permutation count? Is a return inside the loop?",
        lambda layer, x, permutations: _measured(_right)(layer, x, permutations[:1]),
    ),
    Likely(
        "Does only the last permutation count? Keep the largest of all.",
        lambda layer, x, permutations: _measured(_right)(layer, x, permutations[-1:]),
    ),
    Likely(
        "Is it the smallest over the permutations? The largest is asked for.",
        _measured(_right, of_all=torch.amin),
    ),
    Likely(
        "Are the differences added up? The largest is asked for.",
        _measured(_right, of_one=lambda gap: gap.abs().sum(), of_all=torch.sum),
    ),
    Likely(
        "Are the differences added up? The largest is asked for.",
        _measured(_right, of_one=lambda gap: gap.abs().sum()),
    ),
    Likely(
        "Are the gaps of the permutations added up? The largest is asked for.",
        _measured(_right, of_all=torch.sum),
    ),
    Likely(
        "Is it the length of the difference? The largest entry is asked for.",
        _measured(_right, of_one=torch.linalg.vector_norm),
    ),
    Likely(
        "Is it the square of the difference? The absolute value is asked for.",
        _measured(_right, of_one=lambda gap: (gap**2).max()),
    ),
    Likely(
        "Does only the first sequence of the batch count?",
        _measured(lambda layer, x, p: _right(layer, x[:1], p)),
    ),
    Likely(
        "Is there a gap for every permutation? One number is asked for: the largest.",
        lambda layer, x, permutations: torch.stack(
            [_right(layer, x, p).abs().max() for p in permutations]
        ),
    ),
    Likely(
        "permutations holds one permutation per row: go through the rows in a loop.",
        lambda layer, x, permutations: _measured(_right)(layer, x, [permutations]),
    ),
    Likely(
        "Is the layer used at all? f(s(x)) is layer(x[:, p]).",
        _measured(lambda layer, x, p: x[:, p] - x),
    ),
    Likely(
        "How far, not whether: a number is asked for, the largest difference.",
        lambda layer, x, permutations: reference_equivariance_gap(layer, x, permutations) < 1e-6,
    ),
    Likely(
        "How far, not whether: a number is asked for, the largest difference.",
        lambda layer, x, permutations: reference_equivariance_gap(layer, x, permutations) >= 1e-6,
    ),
]


def equivariance_gap(student: Callable[..., Any]) -> None:
    """Check exercise 5: the distance from equivariance."""
    sizes = dict(batch=2, n=4, d=3, d_v=5)
    kinds = {
        "the first example": dict(layer="running", shuffles=6, seed=SEED, **sizes),
        "a layer that keeps to the rule": dict(layer="set", **sizes),
        "one permutation, a shift": dict(layer="numbered", shift=1, **sizes),
        "a shift the other way": dict(layer="running", shift=-1, **sizes),
        "permutations that leave everything in place": dict(layer="neighbours", idle=True, **sizes),
        "a batch of 1": dict(layer="reversed", batch=1, n=5, d=2, d_v=2),
        "as many vectors as entries": dict(layer="running", batch=4, n=4, d=4, d_v=4),
    }
    cases = [
        Case(label, lambda options=options: gap_arguments(**options)) for label, options in kinds.items()
    ]
    if callable(student):
        core.forbid("equivariance_gap", core.calls(student), FORBIDDEN["equivariance_gap"])
    core.check_function(
        "equivariance_gap",
        plainly(student) if callable(student) else student,
        plainly(reference_equivariance_gap),
        cases,
        [Likely(mistake.question, plainly(mistake.answer)) for mistake in EQUIVARIANCE_GAP],
        tolerance=1e-5,
    )
