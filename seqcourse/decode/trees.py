"""Rows of nested states: pick them, count them, find their device."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from numbers import Number
from typing import Any, TypeVar

import torch
from torch import Tensor

Tree = TypeVar("Tree")


def select(tree: Tree, index: Tensor) -> Tree:
    """The rows `index` of every tensor in `tree`, in that order, repeats allowed.

    tree: a tensor (B, ...), None, or any nesting of tuples (named ones too), lists, dicts and
        dataclasses of these. Numbers and strings belong to no row and stay as they are.
    index: (N,) int64, values in 0..B-1. The result has N rows.

    `select(state, tensor([2, 2, 0]))` is how a beam search makes the third path's state the state
    of two new paths, drops the second and moves the first to the end.

    Raises ValueError for a tensor without a batch dimension and TypeError for anything else.
    """
    if isinstance(tree, Tensor):
        if tree.dim() == 0:
            raise ValueError(
                "select expects tensors whose first dimension is the batch, but one of them is a "
                "single number. Give it the shape (B,), or keep it as a Python number."
            )
        return tree.index_select(0, index.to(tree.device))
    if tree is None or isinstance(tree, (Number, str)) or getattr(tree, "shape", None) == ():
        return tree
    if isinstance(tree, tuple):
        parts = [select(part, index) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if isinstance(tree, list):
        return [select(part, index) for part in tree]
    if isinstance(tree, dict):
        return {name: select(part, index) for name, part in tree.items()}
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = [field.name for field in dataclasses.fields(tree) if field.init]
        return dataclasses.replace(tree, **{name: select(getattr(tree, name), index) for name in names})
    raise TypeError(
        f"select expects tensors inside tuples, lists, dicts or dataclasses, but it met a "
        f"{type(tree).__name__}. Keep what is not a tensor out of the state."
    )


def tensors(tree: Any) -> Iterator[Tensor]:
    """Every tensor in the tree, in the order in which it is written down."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for part in tree:
            yield from tensors(part)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from tensors(part)
    elif dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        for field in dataclasses.fields(tree):
            yield from tensors(getattr(tree, field.name))


def row_count(tree: Any) -> int | None:
    """The batch size of the tree's tensors, None where it holds no tensor.

    Raises ValueError where two of them disagree: one of them is not batch first.
    """
    sizes = {tensor.shape[0] for tensor in tensors(tree) if tensor.dim() > 0}
    if len(sizes) > 1:
        raise ValueError(
            f"every tensor of a memory or state should have the batch as its first dimension, "
            f"but these have first dimensions {sorted(sizes)}. Make all of them batch first."
        )
    return next(iter(sizes), None)


def device_of(*trees: Any) -> torch.device:
    """The device of the first tensor in the trees, the CPU where there is none."""
    for tree in trees:
        for tensor in tensors(tree):
            return tensor.device
    return torch.device("cpu")
