"""Whether vectors have the width that a formula's parameters are made for."""

from __future__ import annotations

from torch import Tensor


def check_width(name: str, x: Tensor, width: int) -> None:
    """Refuse vectors of another width.

    Args:
        name: what takes the vectors, for the sentence.
        x: vectors, (..., D).
        width: D.

    Raises:
        ValueError: if x does not end in D.
    """
    if x.dim() == 0 or x.shape[-1] != width:
        raise ValueError(f"{name} takes vectors of width {width}, but they are {tuple(x.shape)}.")
