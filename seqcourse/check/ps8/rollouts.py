"""Exercise 4: attention rollout, through all layers from the class token to the patches."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal


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


def _half(mean: Tensor) -> Tensor:
    """With the residual connection: half of what comes through the layer is the vector itself."""
    return (mean + torch.eye(mean.shape[-1], dtype=mean.dtype)) / 2


def _upwards(layers: list[Tensor]) -> Tensor:
    result = layers[0]
    for layer in layers[1:]:
        result = layer @ result
    return result


def _made(
    *,
    heads: Callable[[Tensor], Tensor] = lambda layer: layer.mean(dim=1),
    mixed: Callable[[Tensor], Tensor] = _half,
    chain: Callable[[list[Tensor]], Tensor] = _upwards,
    read: Callable[[Tensor], Tensor] = lambda whole: whole[:, 0, 1:],
) -> Callable[[Tensor], Tensor]:
    """The rollout with one part put in another's place."""
    return lambda weights: read(chain([mixed(heads(layer)) for layer in weights.unbind(dim=1)]))


reference_rollout = _made()


def _scaled(whole: Tensor) -> Tensor:
    return whole[:, 0, 1:] / whole[:, 0, 1:].sum(dim=-1, keepdim=True)


def _first_as_it_is(layers: list[Tensor]) -> Tensor:
    """The residual connection of the first layer taken off again."""
    first = 2 * layers[0] - torch.eye(layers[0].shape[-1], dtype=layers[0].dtype)
    return _upwards([first, *layers[1:]])


def _other_dtype(weights: Tensor) -> Tensor:
    raise AnyError(r"same dtype|expected scalar type")


_RESIDUAL = "Half of what comes through a layer is the vector itself, half what it attends to."

_LIKELY = {
    f"Did you add the identity and not halve? {_RESIDUAL} So every row sums to 1 again.": _made(
        mixed=lambda mean: 2 * _half(mean)
    ),
    f"Is every number made larger by one half? {_RESIDUAL} The identity has its 1s on the diagonal "
    "only.": _made(mixed=lambda mean: (mean + 1) / 2),
    f"Is the identity added once, in the end? {_RESIDUAL} That is so in every layer.": (
        lambda weights: _half(_upwards(list(weights.mean(dim=2).unbind(dim=1))))[:, 0, 1:]
    ),
    "Is that the first layer alone? All layers are multiplied.": _made(chain=lambda layers: layers[0]),
    "Did you leave out the last patch? The class token's own place is the first.": _made(
        read=lambda whole: whole[:, 0, :-1]
    ),
    "Is that the row of the last patch? The class token is the first.": _made(
        read=lambda whole: whole[:, -1, 1:]
    ),
    "Is that the mean over all rows? Only the row of the class token is asked for.": _made(
        read=lambda whole: whole.mean(dim=1)[:, 1:]
    ),
    "Did you make columns sum to 1? Every row sums to 1 already.": (
        _made(mixed=lambda mean: _half(mean) / _half(mean).sum(dim=-2, keepdim=True)),
        _made(heads=lambda layer: layer.mean(dim=1) / layer.mean(dim=1).sum(dim=-2, keepdim=True)),
    ),
    "Is that the first head alone? Take the mean over the heads.": _made(
        heads=lambda layer: layer[:, 0]
    ),
    f"Is the first layer taken as it is? It has a residual connection, too. {_RESIDUAL}": _made(
        chain=_first_as_it_is
    ),
    "Is your identity of another dtype than the weights? torch.eye(n) is float32: "
    "torch.eye(n, dtype=weights.dtype).": _other_dtype,
}


rollout = Exercise(
    "rollout",
    make=rollout_arguments,
    reference=reference_rollout,
    likely=_LIKELY,
    cases=[
        *standard_cases(rollout_arguments, dict(batch=2), dict(batch=4, layers=4, heads=3, n=7, seed=1)),
        Case("all sizes equal", lambda: rollout_arguments(4, layers=4, heads=4, n=4, seed=2)),
        Case("a single layer and a single patch", lambda: rollout_arguments(2, layers=1, n=2, seed=3)),
    ],
    forbid=("rollout", "attention_rollout"),
    idea="Multiplied through all layers, attention shows which patches the class token read from.",
    see=("14", "Where did it look?"),
)
