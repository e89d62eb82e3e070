"""Exercise 1: a picture as a sequence, its patches and what a Transformer reads of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.compare import AnyError
from seqcourse.check.exercise import Case, Exercise, standard_cases
from seqcourse.check.inputs import normal

# --- cut_patches --------------------------------------------------------------------------------


def cut_arguments(
    batch: int,
    rows: int,
    columns: int,
    size: int,
    channels: int = 3,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments of `cut_patches`: pictures of rows x columns patches, a patch's side in pixels."""
    shape = (batch, channels, rows * size, columns * size)
    return {**normal({"images": shape}, seed, dtype), "size": size}


def _grid(images: Tensor, size: int) -> Tensor:
    """(B, C, rows, P, columns, P)."""
    batch, channels, height, width = images.shape
    return images.reshape(batch, channels, height // size, size, width // size, size)


def _ordered(*order: int) -> Callable[[Tensor, int], Tensor]:
    """Cutting with the six axes in another order; the first three say which patch, the others where."""
    return lambda images, size: _grid(images, size).permute(order).flatten(3).flatten(1, 2)


reference_cut_patches = _ordered(0, 2, 4, 1, 3, 5)


def _overlapping(images: Tensor, size: int) -> Tensor:
    return torch.nn.functional.unfold(images, size).mT


def _not_whole(images: Tensor, size: int) -> Tensor:
    raise AnyError(r"shape '\[.*' is invalid for input|split_with_sizes|Sizes of tensors must match")


_CUT = {
    "Do the pixels of your patch lie far apart? The axes that say which patch come in front of "
    "those that say where in it.": _ordered(0, 3, 5, 1, 2, 4),
    "Did you flatten the whole batch? Each picture keeps its own sequence: (B, N, C P P).": (
        lambda images, size: reference_cut_patches(images, size).flatten(0, 1)
    ),
    "Do you take the picture to be as high as it is wide? Height and width have sizes of their own.": (
        _not_whole
    ),
}


cut_patches = Exercise(
    "cut_patches",
    make=cut_arguments,
    reference=reference_cut_patches,
    likely=_CUT,
    cases=standard_cases(
        cut_arguments,
        dict(batch=2, rows=2, columns=3, size=2),
        dict(batch=3, rows=3, columns=3, size=3, channels=1, seed=1),
    ),
    forbid=("patches", "PatchEmbedding", "ViT"),
    idea="A picture becomes a sequence of patches, counted row by row.",
    see=("14", "A picture as a sentence"),
)


# --- embed_patches ------------------------------------------------------------------------------


def embed_arguments(
    batch: int, n: int, k: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `embed_patches`: N patches of K numbers, weights, class token, N + 1 positions."""
    sizes: dict[str, Sequence[int]] = {"pieces": (batch, n, k), "w": (d, k), "b": (d,), "cls": (d,)}
    return normal({**sizes, "positions": (n + 1, d)}, seed, dtype)


def _embedded(
    pieces: Tensor,
    w: Tensor,
    b: Tensor,
    cls: Tensor,
    positions: Tensor,
    *,
    project: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda x, w, b: x @ w.T + b,
    join: Callable[[Tensor, Tensor], Tensor] = lambda c, z: torch.cat([c, z], dim=1),
    place: Callable[[Tensor, Tensor], Tensor] = lambda z, positions: z + positions,
) -> Tensor:
    """Class token and patches as (B, N + 1, D), with one part put in another's place."""
    z = project(pieces, w, b)
    return place(join(cls.expand(len(z), 1, -1), z), positions)


def reference_embed_patches(pieces, w, b, cls, positions) -> Tensor:
    """Class token and projected patches, each with its position: (B, N + 1, D)."""
    return _embedded(pieces, w, b, cls, positions)


def _with(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _embedded(*arguments, **mistake)


def _one_size(*arguments):
    raise AnyError(r"Expected size \d+ but got size|Sizes of tensors must match|Tensors must have same")


_EMBED = {
    "Is the class token missing? The result has N + 1 vectors.": (
        (lambda pieces, w, b, cls, positions: pieces @ w.T + b + positions[1:]),
        (lambda pieces, w, b, cls, positions: pieces @ w.T + b + positions[:-1]),
    ),
    "Are the positions in reverse order? The class token gets positions[0].": _with(
        place=lambda z, positions: z + positions.flip(0)
    ),
    "Are the positions multiplied? They are added.": _with(place=lambda z, positions: z * positions),
    "Is w the wrong way round? It is (D, K): use w.T.": _with(project=lambda x, w, b: x @ w + b),
    "Did you join them along another axis? The class token is one more vector of each picture: "
    "dim=1, after cls has become (B, 1, D).": _one_size,
}


embed_patches = Exercise(
    "embed_patches",
    make=embed_arguments,
    reference=reference_embed_patches,
    likely=_EMBED,
    cases=[
        *standard_cases(
            embed_arguments, dict(batch=2, n=3, k=5, d=4), dict(batch=4, n=6, k=4, d=4, seed=1)
        ),
        Case("a single patch", lambda: embed_arguments(3, 1, 2, 5, seed=2)),
    ],
    forbid=("PatchEmbedding", "ViT"),
    idea="A Transformer reads a class token and projected patches, each with its position added.",
    see=("14", "A picture as a sentence"),
)
