"""Exercise 1: a picture as a sequence, its patches and what a Transformer reads of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import stopping
from seqcourse.check.calls.inputs import normal
from seqcourse.check.exercise import Exercise, standard_cases

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


def reference_cut_patches(images: Tensor, size: int) -> Tensor:
    """(B, N, C P P), patch by patch."""
    batch, channels, height, width = images.shape
    grid = images.reshape(batch, channels, height // size, size, width // size, size)
    return grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


cut_patches = Exercise(
    "cut_patches",
    make=cut_arguments,
    reference=reference_cut_patches,
    likely={
        "Do you take the picture to be as high as it is wide? Height and width have sizes of their "
        "own.": stopping(
            r"shape '\[.*' is invalid for input|split_with_sizes|Sizes of tensors must match"
        )
    },
    cases=standard_cases(
        dict(batch=2, rows=2, columns=3, size=2),
        dict(batch=3, rows=3, columns=3, size=3, channels=1, seed=1),
    ),
    forbid=("patches", "PatchEmbedding", "ViT"),
)


# --- embed_patches ------------------------------------------------------------------------------


def embed_arguments(
    batch: int, n: int, k: int, d: int, dtype: torch.dtype = torch.float64, seed: int = 0
) -> dict[str, Tensor]:
    """Arguments of `embed_patches`: N patches of K numbers, weights, class token, N + 1 positions."""
    sizes: dict[str, Sequence[int]] = {"pieces": (batch, n, k), "w": (d, k), "b": (d,), "cls": (d,)}
    return normal({**sizes, "positions": (n + 1, d)}, seed, dtype)


def reference_embed_patches(pieces, w, b, cls, positions) -> Tensor:
    """Class token and projected patches, each with its position: (B, N + 1, D)."""
    z = pieces @ w.T + b
    return torch.cat([cls.expand(len(z), 1, -1), z], dim=1) + positions


embed_patches = Exercise(
    "embed_patches",
    make=embed_arguments,
    reference=reference_embed_patches,
    likely={
        "Did you join them along another axis? The class token is one more vector of each picture: "
        "dim=1, after cls has become (B, 1, D).": stopping(
            r"Expected size \d+ but got size|Sizes of tensors must match|Tensors must have same"
        )
    },
    cases={
        **standard_cases(dict(batch=2, n=3, k=5, d=4), dict(batch=4, n=6, k=4, d=4, seed=1)),
        "a single patch": dict(batch=3, n=1, k=2, d=5, seed=2),
    },
    forbid=("PatchEmbedding", "ViT"),
)
