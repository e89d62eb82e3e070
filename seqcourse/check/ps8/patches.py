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


def _every_so_many(images: Tensor, size: int) -> Tensor:
    """The axes of the reshape the wrong way round: pixels that lie far apart."""
    batch, channels, height, width = images.shape
    split = images.reshape(batch, channels, size, height // size, size, width // size)
    return split.permute(0, 3, 5, 1, 2, 4).flatten(3).flatten(1, 2)


def _at_once(images: Tensor, size: int) -> Tensor:
    return images.reshape(len(images), -1, images.shape[1] * size * size)


def _overlapping(images: Tensor, size: int) -> Tensor:
    return torch.nn.functional.unfold(images, size).mT


def _unfolded(images: Tensor, size: int) -> Tensor:
    columns = torch.nn.functional.unfold(images, size, stride=size)  # (B, C P P, N)
    return columns.reshape(len(images), columns.shape[2], columns.shape[1])


def _unfolded_twice(images: Tensor, size: int) -> Tensor:
    return _ordered(0, 1, 2, 4, 3, 5)(images, size).reshape(len(images), -1, images.shape[1] * size**2)


def _not_whole(images: Tensor, size: int) -> Tensor:
    raise AnyError(r"shape '\[.*' is invalid for input|split_with_sizes|Sizes of tensors must match")


_CUT = {
    "Did you reshape at once? Numbers that follow each other in memory are a row of the picture, "
    "not a square: split both sides first, then bring the axes into order, then flatten.": _at_once,
    "Did you reshape what F.unfold gives? It is (B, C P P, N), a column for each patch: transpose.": (
        _unfolded
    ),
    "Do the channels still stand in front of the grid? images.unfold(...).unfold(...) is "
    "(B, C, H / P, W / P, P, P): bring the channels behind the grid before you reshape.": (
        _unfolded_twice
    ),
    "Are the channels last inside a patch? A patch is laid out channel, row, column.": _ordered(
        0, 2, 4, 3, 5, 1
    ),
    "Are the patches counted column by column? They are counted row by row, as one reads.": _ordered(
        0, 4, 2, 1, 3, 5
    ),
    "Are rows and columns exchanged inside a patch? It is laid out channel, row, column.": _ordered(
        0, 2, 4, 1, 5, 3
    ),
    "Are rows and columns exchanged, of the grid and inside a patch? Neither is transposed.": _ordered(
        0, 4, 2, 1, 5, 3
    ),
    "Do the pixels of your patch lie far apart? A side of H pixels splits into (H / P, P): first "
    "which patch, then where in it.": _every_so_many,
    "Do the pixels of your patch lie far apart? The axes that say which patch come in front of "
    "those that say where in it.": _ordered(0, 3, 5, 1, 2, 4),
    "Is a channel a patch of its own? All channels of a square belong to one patch.": (
        lambda images, size: _grid(images, size).permute(0, 2, 4, 1, 3, 5).flatten(4).flatten(1, 3)
    ),
    "Are the patches of the last row missing? They go to the picture's lower end.": (
        lambda images, size: reference_cut_patches(images[:, :, :-size], size)
    ),
    "Are the patches still a grid? They are one sequence: (B, N, C P P).": (
        lambda images, size: _grid(images, size).permute(0, 2, 4, 1, 3, 5).flatten(3)
    ),
    "Are the last two axes exchanged? There is one row per patch: (B, N, C P P).": (
        lambda images, size: reference_cut_patches(images, size).mT
    ),
    "Do your patches overlap? Each begins where the last one ended.": _overlapping,
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


def _places_of_patches(pieces, w, b, cls, positions):
    z = pieces @ w.T + b + positions[1:]
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1)


def _places_from_the_first(pieces, w, b, cls, positions):
    z = pieces @ w.T + b + positions[:-1]
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1)


def _bias_everywhere(pieces, w, b, cls, positions):
    z = pieces @ w.T
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + b + positions


def _one_size(*arguments):
    raise AnyError(r"Expected size \d+ but got size|Sizes of tensors must match|Tensors must have same")


_EMBED = {
    "Does the class token stand at the end? It stands first, before the patches.": _with(
        join=lambda c, z: torch.cat([z, c], dim=1)
    ),
    "Is the class token missing? The result has N + 1 vectors.": (
        (lambda pieces, w, b, cls, positions: pieces @ w.T + b + positions[1:]),
        (lambda pieces, w, b, cls, positions: pieces @ w.T + b + positions[:-1]),
    ),
    "Does the class token get no position? positions[0] is its own.": _places_of_patches,
    "Do the patches get the positions from number 0 on? That one is the class token's; patch n gets "
    "positions[n], counted from 1.": _places_from_the_first,
    "Are the positions missing? Without them the patches are a set.": _with(
        place=lambda z, positions: z
    ),
    "Is the first vector the position alone? The class token is added to it.": _with(
        join=lambda c, z: torch.cat([torch.zeros_like(c), z], dim=1)
    ),
    "Are the positions in reverse order? The class token gets positions[0].": _with(
        place=lambda z, positions: z + positions.flip(0)
    ),
    "Does every vector get the same position? positions has one row for each.": _with(
        place=lambda z, positions: z + positions[0]
    ),
    "Are the positions side by side with the vectors? They are added.": _with(
        place=lambda z, positions: torch.cat([z, positions.expand(len(z), -1, -1)], dim=-1)
    ),
    "Are the positions multiplied? They are added.": _with(place=lambda z, positions: z * positions),
    "Are the patches multiplied by the root of D? Here they are taken as they are.": _with(
        project=lambda x, w, b: x @ w.T * w.shape[0] ** 0.5 + b
    ),
    "Is the class token added to every patch? It is a vector of its own.": (
        lambda pieces, w, b, cls, positions: _embedded(
            pieces, w, b, cls, positions, join=lambda c, z: torch.cat([c, z + cls], dim=1)
        )
    ),
    "Is the bias missing? b is added to each patch.": _with(project=lambda x, w, b: x @ w.T),
    "Does the class token get the bias too? b belongs to the linear map, and the class token does "
    "not go through it.": _bias_everywhere,
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
